"""The co-association heat map: its numbers, and its picture. Neither knows of reports."""

from __future__ import annotations

import base64
import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.ensemble import Ensemble

__all__ = ["Blocks", "consensus_order", "draw_png", "mean_blocks", "png_data_uri"]

MOST_BLOCKS = 600  # more than the pixels that the page gives the picture


class Blocks(NamedTuple):
    """Mean co-association between runs of neighbouring objects."""

    edges: NDArray[np.int64]
    """(m + 1,): run b holds the objects from edges[b] to edges[b + 1] - 1 of the order."""
    shares: NDArray[np.float64]
    """(m, m): of the votes on the pairs of two runs, the share for together."""


def consensus_order(consensus: Any) -> NDArray[np.int64]:
    """Return the objects cluster by cluster, within a cluster as in the tree of the method.

    A method without a tree: the most confident first.
    """
    labels = consensus.labels_
    tree = getattr(consensus, "linkage_", None)
    if tree is not None and len(tree) == len(labels) - 1 and len(tree):
        from scipy.cluster.hierarchy import leaves_list

        first = np.asarray(leaves_list(np.asarray(tree, dtype=np.float64)), dtype=np.int64)
    else:
        first = np.argsort(-consensus.confidence_, kind="stable")
    return first[np.argsort(labels[first], kind="stable")]


def mean_blocks(ensemble: Ensemble, order: NDArray[np.int64], most: int = MOST_BLOCKS) -> Blocks:
    """Return the co-association matrix in this order, at most `most` rows and columns.

    With at most `most` objects this is the matrix itself. Otherwise neighbours share a row, and
    a value is the share of votes for together among the votes on the pairs between two rows:
    the mean of the matrix where no label is missing. Needs time and memory linear in the
    number of objects.
    """
    n = len(order)
    m = min(n, most)
    edges = np.linspace(0, n, m + 1).round().astype(np.int64)
    block = np.repeat(np.arange(m), np.diff(edges))
    together = np.zeros((m, m))
    both = np.zeros((m, m))
    for e, k in enumerate(ensemble.n_clusters):
        codes = ensemble.labels[order, e].astype(np.int64)
        seen = codes >= 0
        cells = np.bincount(block[seen] * k + codes[seen], minlength=m * k)
        table = cells.reshape(m, k).astype(np.float64)
        together += table @ table.T
        present = table.sum(axis=1)
        both += np.outer(present, present)
    shares = np.divide(together, both, out=np.zeros_like(together), where=both > 0)
    return Blocks(edges, shares)


def draw_png(shares: NDArray[np.float64]) -> bytes:
    """Return a picture of values in [0, 1], one pixel each, from white to dark blue."""
    from matplotlib import colormaps
    from matplotlib.image import imsave

    levels = np.round(np.clip(shares, 0.0, 1.0) * 100).astype(np.int64)
    palette = colormaps["Blues"](np.linspace(0.0, 1.0, 101), bytes=True)[:, :3]
    palette[0] = 255
    file = io.BytesIO()
    imsave(file, palette[levels], format="png")
    return file.getvalue()


def png_data_uri(png: bytes) -> str:
    """Return a picture as an address that needs no file."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
