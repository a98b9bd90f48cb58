"""Measures of doubt from label rows and a consensus: high is safe. No label is missing."""

import numpy as np
import pandas as pd

from coterie.consensus._votes import ClusterVotes
from coterie.metrics import within_confidence


def supports(model):
    """(n, k): share of votes that put an object with a cluster, itself left out of its own."""
    labels = model.labels_
    shares = ClusterVotes.tally(model.ensemble_, labels, model.n_clusters_).shares(
        model.ensemble_.labels
    )
    sizes = np.bincount(labels)[labels]
    rows = np.arange(len(labels))
    own = (shares[rows, labels] * sizes - 1) / np.maximum(sizes - 1, 1)
    shares[rows, labels] = np.maximum(own, 0)
    return shares


def likelihood_ratio(model):
    """Mean log-likelihood of an object's labels in its own cluster less that in the best other."""
    ensemble, labels = model.ensemble_, model.labels_
    votes = ClusterVotes.tally(ensemble, labels, model.n_clusters_)
    place = ensemble.labels + ensemble.offsets[:-1]
    logs = np.empty((len(labels), model.n_clusters_))
    for c in range(model.n_clusters_):
        self_out = (labels == c)[:, None]
        counts = votes.votes[c][place] - self_out + 1.0
        logs[:, c] = np.log(counts / (votes.seen[c] - self_out + ensemble.n_clusters)).mean(axis=1)
    rows = np.arange(len(labels))
    own = logs[rows, labels].copy()
    logs[rows, labels] = -np.inf
    return own - logs.max(axis=1)


def excess(own, shares, labels):
    """How much more than its cluster's median an object leans to another cluster, negative."""
    ratio = pd.DataFrame(shares / np.maximum(own, 1e-12)[:, None])
    above = np.maximum(ratio - ratio.groupby(labels).transform("median"), 0).to_numpy()
    above[np.arange(len(labels)), labels] = 0
    return -above.max(axis=1)


def measures(model):
    """{name: (n,)}"""
    labels, rows = model.labels_, np.arange(len(model.labels_))
    shares = supports(model)
    own = shares[rows, labels]
    others = shares.copy()
    others[rows, labels] = 0
    q = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    found = {
        "confidence": model.confidence_,
        "within_confidence": within_confidence(labels, model.confidence_),
        "own support": own,
        "margin": own - others.max(axis=1),
        "entropy": (q * np.log(np.maximum(q, 1e-300))).sum(axis=1),
        "likelihood ratio": likelihood_ratio(model),
        "excess over the median": excess(own, shares, labels),
    }
    found = {name: np.round(values, 12) for name, values in found.items()}
    ranks = pd.DataFrame(found).groupby(labels).rank(pct=True)
    found["ranks of entropy and margin"] = (ranks["entropy"] + ranks["margin"]).to_numpy()
    return found
