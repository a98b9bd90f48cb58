"""Time and memory of every consensus method against n, L, K and k, and a cost model."""
