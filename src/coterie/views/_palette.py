"""Colours and marks that all pictures share."""

from __future__ import annotations

__all__ = ["ACCENT", "GREY", "MARKERS", "PALETTE", "cluster_colour", "cluster_marker"]

# After Okabe and Ito (2008) and Tol (2021): distinct in the common kinds of colour blindness.
# Neighbours in the list differ in lightness, so that they are distinct in grey, too.
PALETTE = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#117733",  # dark green
    "#CC79A7",  # pink
    "#882255",  # wine
    "#56B4E9",  # sky
    "#8A4B08",  # brown
    "#44AA99",  # teal
    "#332288",  # indigo
    "#999933",  # olive
)
"""One colour per cluster, repeated after the last."""
ACCENT = PALETTE[0]
"""Colour of the main thing: the chosen number, the cut."""
GREY = "#8A929C"
"""Colour of everything else."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


def cluster_colour(cluster: int) -> str:
    """Return the colour of a cluster."""
    return PALETTE[cluster % len(PALETTE)]


def cluster_marker(cluster: int) -> str:
    """Return the mark of a cluster; clusters of the same colour have different marks."""
    return MARKERS[(cluster + cluster // len(PALETTE)) % len(MARKERS)]
