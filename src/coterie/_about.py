"""Descriptions of methods: each class has an `about`, read by explain, report and docs."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MethodWords", "words_of"]

NO_NUMBER = "the one that was asked for"
OWN_SHARE = (
    "of the votes that put it with the members of its own cluster and with those of the best "
    "other one, the share for its own; near 0.5 the other would do as well"
)


class MethodWords(NamedTuple):
    """Description of a method for the report and for ``coterie explain``.

    Costs speak of n objects (p of them distinct), L partitions, and K clusters in all of them.
    """

    title: str
    """What the letters stand for."""
    does: str
    """What it does, for someone who never heard of it."""
    use: str
    """When to use it, and when not."""
    cost: str
    """Time and memory."""
    missing: str
    """How missing labels count."""
    name: str
    """Completes "The partitions were combined by ..."; may name parameters in braces."""
    references: tuple[str, ...]
    """The papers."""
    number: str = NO_NUMBER
    """Completes "the number of clusters is ..." where the method found it."""
    confidence: str = OWN_SHARE
    """Completes "Confidence of an object: ..."."""


def words_of(cls: type) -> MethodWords:
    """Return the description of a class; without `about`, its name and first line.

    A subclass does not inherit: it is another method.
    """
    words: MethodWords | None = vars(cls).get("about")
    if words is not None:
        return words
    first_line = (vars(cls).get("__doc__") or "").strip().split("\n")[0]
    name = cls.__name__
    return MethodWords(name, first_line, "", "", "", name, (), f"the one that {name} finds")


# Texts that several methods share.
LARGEST_MEMBERSHIP = "its largest membership"
BOTH_SEEN = "A partition counts for a pair of objects only if it saw both."
IN_NO_CLUSTER = "An object is in no cluster of a partition that did not label it."
TREE_COST = (
    "Time O(p^2 L); memory linear in n L, or up to the memory limit if that is faster. Objects "
    "with the same labels cost nothing."
)
BERIKOV_2016 = (
    "V. Berikov (2016). Cluster ensemble with averaged co-association matrix maximizing the "
    "expected margin. DOOR 2016, Vladivostok (CEUR Workshop Proceedings)."
)
STREHL = (
    "A. Strehl and J. Ghosh (2002). Cluster ensembles: a knowledge reuse framework for combining "
    "multiple partitions. Journal of Machine Learning Research, 3, 583-617."
)
FERN = (
    "X. Z. Fern and C. E. Brodley (2004). Solving cluster ensemble problems by bipartite graph "
    "partitioning. Proceedings of the 21st International Conference on Machine Learning. "
    "doi:10.1145/1015330.1015414"
)
DOMENICONI_2009 = (
    "C. Domeniconi and M. Al-Razgan (2009). Weighted cluster ensembles: methods and analysis. "
    "ACM Transactions on Knowledge Discovery from Data, 2(4), 17. doi:10.1145/1460797.1460800"
)
LOURENCO = (
    "A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo and M. Pelillo (2013). "
    "Probabilistic evidence accumulation for clustering ensembles. ICPRAM 2013. "
    "doi:10.5220/0004267900580067"
)
HUANG_2015 = (
    "D. Huang, J.-H. Lai and C.-D. Wang (2015). Combining multiple clusterings via crowd "
    "agreement estimation and multi-granularity link analysis. Neurocomputing, 170, "
    "240-250. doi:10.1016/j.neucom.2014.05.094"
)
HUANG_2018 = (
    "D. Huang, C.-D. Wang and J.-H. Lai (2018). Locally weighted ensemble clustering. "
    "IEEE Transactions on Cybernetics, 48(5), 1460-1473. doi:10.1109/TCYB.2017.2702343"
)
