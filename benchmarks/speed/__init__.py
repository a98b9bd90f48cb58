"""Time and peak memory of coterie and of the alternatives, side by side in the same run."""
