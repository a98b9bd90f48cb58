"""Computations that plots, the report and the notebook share: what is shown, not how."""
