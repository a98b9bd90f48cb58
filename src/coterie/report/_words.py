"""What was done, in words that fit a methods section, with references.

One entry per method and per base clusterer. What has no entry is called by its class name, so
that a new method works in reports from its first day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["METHODS", "describe_base", "method_words", "methods_text", "reason_for_number"]


class MethodWords(NamedTuple):
    """How to speak of a method: in the report, and in ``coterie explain``."""

    name: str
    """Completes "The partitions were combined by ..."; may name parameters in braces."""
    number: str
    """Completes "the number of clusters is ..." where the method found it."""
    confidence: str = "how strongly the ensemble supports the object's place"
    """Completes "Confidence of an object: ..."."""
    references: tuple[str, ...] = ()
    title: str = ""
    """What the letters stand for."""
    does: str = ""
    """What it does, for someone who never heard of it."""
    use: str = ""
    """When to use it, and when not."""
    cost: str = ""
    """Time and memory, n objects (p of them distinct), L partitions, K clusters in all of them."""
    missing: str = ""
    """How missing labels count."""


_NO_NUMBER = "the one that was asked for"
_LARGEST_MEMBERSHIP = "its largest membership"
_OWN_SHARE = (
    "of the votes that put it with the members of its own cluster and with those of the best "
    "other one, the share for its own; near 0.5 the other would do as well"
)
_BOTH_SEEN = "A partition counts for a pair of objects only if it saw both."
_IN_NO_CLUSTER = "An object is in no cluster of a partition that did not label it."
_TREE_COST = (
    "Time O(p^2 L); memory linear in n L, or up to the memory limit if that is faster. Objects "
    "with the same labels cost nothing."
)
_BERIKOV_2016 = (
    "V. Berikov (2016). Cluster ensemble with averaged co-association matrix maximizing the "
    "expected margin. DOOR 2016, Vladivostok (CEUR Workshop Proceedings)."
)
_STREHL = (
    "A. Strehl and J. Ghosh (2002). Cluster ensembles: a knowledge reuse framework for combining "
    "multiple partitions. Journal of Machine Learning Research, 3, 583-617. "
    "doi:10.1162/153244303321897735"
)
_FERN = (
    "X. Z. Fern and C. E. Brodley (2004). Solving cluster ensemble problems by bipartite graph "
    "partitioning. Proceedings of the 21st International Conference on Machine Learning. "
    "doi:10.1145/1015330.1015414"
)
_DOMENICONI_2009 = (
    "C. Domeniconi and M. Al-Razgan (2009). Weighted cluster ensembles: methods and analysis. "
    "ACM Transactions on Knowledge Discovery from Data, 2(4), 17. doi:10.1145/1460797.1460800"
)
_LOURENCO = (
    "A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo and M. Pelillo (2013). "
    "Probabilistic evidence accumulation for clustering ensembles. ICPRAM 2013. "
    "doi:10.5220/0004267900580067"
)

_HUANG_2018 = (
    "D. Huang, C.-D. Wang and J.-H. Lai (2018). Locally weighted ensemble clustering. IEEE "
    "Transactions on Cybernetics, 48(5), 1460-1473. doi:10.1109/TCYB.2017.2702343"
)

_HUANG_2015 = (
    "D. Huang, J.-H. Lai and C.-D. Wang (2015). Combining multiple clusterings via crowd agreement "
    "estimation and multi-granularity link analysis. Neurocomputing, 170, 240-250. "
    "doi:10.1016/j.neucom.2014.05.094"
)
_LINEAR_COST = "Time and memory linear in n L; the clusters' table takes K^2."

METHODS = {
    "LACA": MethodWords(
        "latent cluster analysis (LACA; Xie et al., 2013): a latent partition of maximum "
        "likelihood, each partition of the ensemble having two probabilities of its own, to put "
        "together what belongs together and to put together what does not",
        "the one at which merging any two clusters would lower the likelihood",
        _OWN_SHARE,
        (
            "Z. Xie, R. Dong, Z. Deng, Z. He and W. Yang (2013). A probabilistic approach to "
            "latent cluster analysis. Proceedings of the 23rd International Joint Conference on "
            "Artificial Intelligence (IJCAI).",
        ),
        "Latent cluster analysis",
        "Takes every partition for a noisy view of one hidden partition, and learns how reliable "
        "each is: how often it joins what belongs together (rho) and what does not (r). Good "
        "partitions then count more, useless ones not at all, and misleading ones against "
        "themselves. Learning and clustering alternate until nothing changes.",
        "A good first choice: it needs no number of clusters and shrugs off bad partitions. With "
        "a handful of partitions there is little to learn reliability from. refine=True raises "
        "the likelihood further.",
        "Time O(p^2 L) for each of a few rounds up to 20,000 distinct objects, O(n L k) beyond "
        "(solver='multilevel'); memory linear in n L.",
        _BOTH_SEEN,
    ),
    "EAC": MethodWords(
        "evidence accumulation clustering (EAC; Fred and Jain, 2005): {linkage}-linkage "
        "clustering of the objects, their similarity being the share of partitions that put "
        "two of them together (co-association)",
        "the one that lasts longest in the tree, the maximum-lifetime criterion",
        _OWN_SHARE,
        (
            "A. L. N. Fred and A. K. Jain (2005). Combining multiple clusterings using evidence "
            "accumulation. IEEE Transactions on Pattern Analysis and Machine Intelligence, "
            "27(6), 835-850. doi:10.1109/TPAMI.2005.113",
        ),
        "Evidence accumulation clustering",
        "Every partition votes on every pair of objects. The share of votes for together is "
        "their similarity; a tree is built on it and cut, by default where a number of clusters "
        "lasts longest.",
        "The method to compare others with; easy to explain. linkage='average' for compact "
        "clusters, linkage='single' for clusters of any shape such as spirals. All partitions "
        "count the same: for an ensemble with many bad ones use LACA.",
        _TREE_COST,
        _BOTH_SEEN,
    ),
    "LWEA": MethodWords(
        "locally weighted evidence accumulation (LWEA; Huang et al., 2018): average-linkage "
        "clustering of the objects, their similarity being the summed weights of the clusters "
        "that two of them share, where a cluster weighs less the more the other partitions split "
        "it (theta = {theta})",
        _NO_NUMBER,
        _OWN_SHARE,
        (_HUANG_2018,),
        "Locally weighted evidence accumulation",
        "Evidence accumulation in which clusters count differently. A cluster whose members the "
        "other partitions keep together counts fully; one that they split counts little.",
        "The first choice for partitions with many clusters, and for ensembles in which good and "
        "bad clusters stand in the same partition. The number of clusters must be given.",
        _TREE_COST,
        _IN_NO_CLUSTER,
    ),
    "LWGP": MethodWords(
        "locally weighted graph partitioning (LWGP; Huang et al., 2018): a spectral cut of the "
        "graph of objects and clusters, where the edges of a cluster weigh less the more the "
        "other partitions split it (theta = {theta})",
        _NO_NUMBER,
        _OWN_SHARE,
        (_HUANG_2018,),
        "Locally weighted graph partitioning",
        "Joins each object with the clusters it is in, and cuts this graph. A cluster whose "
        "members the other partitions keep together has strong edges; one that they split has "
        "weak edges.",
        "Very many objects, a number of clusters that is known, and partitions with good and bad "
        "clusters.",
        _LINEAR_COST,
        _IN_NO_CLUSTER,
    ),
    "WEAC": MethodWords(
        "weighted evidence accumulation clustering (WEAC; Huang et al., 2015): average-linkage "
        "clustering of the objects by the weighted share of partitions that put two of them "
        "together, where a partition weighs more the better it agrees with the others",
        _NO_NUMBER,
        _OWN_SHARE,
        (_HUANG_2015,),
        "Weighted evidence accumulation",
        "Evidence accumulation in which partitions count by their agreement with the others.",
        "An ensemble in which whole partitions are bad. Where partitions are bad in parts, use "
        "LWEA.",
        _TREE_COST,
        _IN_NO_CLUSTER,
    ),
    "GPMGLA": MethodWords(
        "graph partitioning with multi-granularity link analysis (GP-MGLA; Huang et al., 2015): a "
        "spectral cut of the graph of objects and clusters, with edges between clusters that "
        "share neighbours, partitions being weighted by their agreement with the others",
        _NO_NUMBER,
        _OWN_SHARE,
        (_HUANG_2015,),
        "Graph partitioning with multi-granularity link analysis",
        "Joins objects with their clusters and clusters with similar clusters, and cuts this "
        "graph. Partitions that agree with the others count more.",
        "Very many objects and a number of clusters that is known.",
        _LINEAR_COST,
        _IN_NO_CLUSTER,
    ),
    "ECPCS": MethodWords(
        "ensemble clustering by propagating cluster-wise similarities (ECPCS-{method}; Huang et "
        "al., 2021): clusters are compared by random walks of {n_steps} steps along their Jaccard "
        "indices",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "D. Huang, C.-D. Wang, H. Peng, J. Lai and C.-K. Kwoh (2021). Enhanced ensemble "
            "clustering via fast propagation of cluster-wise similarities. IEEE Transactions on "
            "Systems, Man, and Cybernetics: Systems, 51(1), 508-520. "
            "doi:10.1109/TSMC.2018.2876202",
        ),
        "Propagation of cluster-wise similarities",
        "Finds similar clusters of all partitions, also those that share no object but similar "
        "neighbours. These are joined to meta-clusters, and each object goes where most of its "
        "clusters went (method='mc'), or objects are merged by the similarity of their clusters "
        "(method='hc').",
        "method='mc' for very many objects; method='hc' for some ten thousand.",
        "'mc': time and memory linear in n L, K^3 for the walks. 'hc': time O(p^2 L), memory p^2.",
        _IN_NO_CLUSTER,
    ),
    "LCE": MethodWords(
        "link-based cluster ensemble (LCE; Iam-On et al., 2011): a spectral cut of the graph of "
        "objects and clusters, where an object belongs in part to clusters that share neighbours "
        "with its own (decay = {decay})",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "N. Iam-On, T. Boongoen, S. Garrett and C. Price (2011). A link-based approach to the "
            "cluster ensemble problem. IEEE Transactions on Pattern Analysis and Machine "
            "Intelligence, 33(12), 2396-2409. doi:10.1109/TPAMI.2011.84",
        ),
        "Link-based cluster ensemble",
        "Fills in what a partition leaves open: an object belongs in part to the other clusters "
        "of a partition, the more neighbours they share with its own cluster. The graph of "
        "objects and clusters with these memberships is cut.",
        "Partitions with many small clusters, and very many objects.",
        _LINEAR_COST,
        _IN_NO_CLUSTER,
    ),
    "PTA": MethodWords(
        "probability trajectories (PTA, PTGP; Huang et al., 2016), cut by '{cut}': distinct "
        "label rows are compared by random walks on the graph of their nearest neighbours",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "D. Huang, J.-H. Lai and C.-D. Wang (2016). Robust ensemble clustering using "
            "probability trajectories. IEEE Transactions on Knowledge and Data Engineering, "
            "28(5), 1312-1326. doi:10.1109/TKDE.2015.2503753",
        ),
        "Probability trajectories",
        "Compares objects by where random walks lead from them, so that the whole neighbourhood "
        "counts and single wrong votes do not.",
        "Some thousand distinct objects, and noisy partitions.",
        "Time O(p^3), memory p^2, checked against the limit.",
        _IN_NO_CLUSTER,
    ),
    "KCC": MethodWords(
        "k-means-based consensus clustering (KCC; Wu et al., 2015) with the utility '{utility}': "
        "k-means on the labels as rows of 0 and 1, from {n_init} starts",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "J. Wu, H. Liu, H. Xiong, J. Cao and J. Chen (2015). K-means-based consensus "
            "clustering: a unified view. IEEE Transactions on Knowledge and Data Engineering, "
            "27(1), 155-169. doi:10.1109/TKDE.2014.2316512",
        ),
        "K-means-based consensus clustering",
        "Clusters the objects by k-means, their labels being the features.",
        "Very many objects. On most ensembles the graph methods and trees give better clusters.",
        "Time O(p L k) for each iteration, memory linear in n L.",
        "Left out of all sums.",
    ),
    "SEC": MethodWords(
        "spectral ensemble clustering (SEC; Liu et al., 2017): weighted k-means on the scaled "
        "rows of the table of objects and clusters, from {n_init} starts",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "H. Liu, J. Wu, T. Liu, D. Tao and Y. Fu (2017). Spectral ensemble clustering via "
            "weighted k-means: theoretical and practical evidence. IEEE Transactions on Knowledge "
            "and Data Engineering, 29(5), 1129-1143. doi:10.1109/TKDE.2017.2650229",
        ),
        "Spectral ensemble clustering",
        "Looks for the normalised cut of the co-association matrix by weighted k-means.",
        "Very many objects. On most ensembles HBGF and LWGP, which use eigenvectors, give better "
        "clusters.",
        "Time O(p L k) for each iteration, memory linear in n L.",
        _IN_NO_CLUSTER,
    ),
    "ECCMS": MethodWords(
        "co-association matrix self-enhancement (EC-CMS; Jia et al., 2023): the locally weighted "
        "co-association is made smooth along pairs with a co-association of at least {alpha}, "
        "followed by average-linkage clustering",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "Y. Jia, S. Tao, R. Wang and Y. Wang (2023). Ensemble clustering via co-association "
            "matrix self-enhancement. IEEE Transactions on Neural Networks and Learning Systems. "
            "doi:10.1109/TNNLS.2023.3249207",
        ),
        "Co-association matrix self-enhancement",
        "Takes pairs that nearly all partitions put together as certain, and lets them correct "
        "the similarity of the other pairs.",
        "Up to some thousand objects. With more, use LWEA.",
        "Time O(n^3) for each iteration, memory n^2, checked against the limit.",
        _IN_NO_CLUSTER,
    ),
    "MSTEClust": MethodWords(
        "MSTEClust (Berikov, 2016): a minimum spanning tree of the objects, cut at its heaviest "
        "edges, each pair being judged by the group of partitions with the largest expected "
        "margin",
        "the one at which the criterion F, cost of clusters and of edges in them, is smallest",
        _OWN_SHARE,
        (_BERIKOV_2016,),
        "Ensemble clustering by minimum spanning trees",
        "For partitions from several algorithms, each run many times. For every pair of objects "
        "it trusts the algorithm that is best there: valid, and of one mind about the pair. A "
        "spanning tree of what these say is cut at its heaviest edges.",
        "Several base algorithms of which each is good at a part of the data; clusters of any "
        "shape. With one algorithm it is single linkage (EAC linkage='single'), and as easily "
        "joined by a chain of wrong votes.",
        "Time O(p^2 L), memory linear in n L.",
        _BOTH_SEEN,
    ),
    "PWEC": MethodWords(
        "pairwise weighted ensemble clustering (PWEC; Berikov, 2014), cut by '{cut}': groups of "
        "partitions are weighed for each pair so that the variance of its margin is smallest",
        "the one with the smallest criterion F (Berikov, 2016)",
        _OWN_SHARE,
        (
            "V. Berikov (2014). Weighted ensemble of algorithms for complex data clustering. "
            "Pattern Recognition Letters, 38, 99-106.",
            _BERIKOV_2016,
        ),
        "Pairwise weighted ensemble clustering",
        "For partitions from several algorithms. For every pair of objects the algorithms are "
        "weighed by how settled they are about it: one that always says the same outweighs one "
        "that is of two minds.",
        "Several base algorithms of which none is known to be better. Where their validity can "
        "be measured, MSTEClust uses it. cut='average' for compact clusters.",
        "Time O(p^2 L), memory linear in n L; cut='average' keeps the separations of all pairs.",
        _BOTH_SEEN,
    ),
    "HNE": MethodWords(
        "hierarchical clustering by normalized edges (HNE; Li et al., 2007): objects that more "
        "than a share of {threshold} of the partitions put together have an edge, and clusters "
        "are merged by the number of edges between them, over that expected of their sizes",
        "the one at which no edge is left between clusters",
        _OWN_SHARE,
        (
            "Y. Li, J. Yu, P. Hao and Z. Li (2007). Clustering ensembles based on normalized "
            "edges. PAKDD 2007, LNAI 4426. doi:10.1007/978-3-540-71701-0_71",
        ),
        "Hierarchical consensus by normalized edges",
        "Draws an edge between objects that more than a share of the partitions put together, "
        "and merges the clusters with most edges between them, given their sizes. A chain of "
        "edges holds a cluster together, but a few edges do not join large ones.",
        "Clusters of any shape, where single linkage would join everything by a few wrong votes. "
        "threshold='auto' tries several thresholds.",
        "Time O(p^2 L) for the graph; memory that of the graph, checked against the limit.",
        "The share is among the partitions that saw both objects.",
    ),
    "MixtureModel": MethodWords(
        "a mixture of multinomial distributions over the labels (Topchy et al., 2004, 2005), "
        "fitted by the EM algorithm from {n_init} starts",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "A. Topchy, A. K. Jain and W. Punch (2004). A mixture model for clustering "
            "ensembles. SIAM International Conference on Data Mining. "
            "doi:10.1137/1.9781611972740.35",
            "A. Topchy, A. K. Jain and W. Punch (2005). Clustering ensembles: models of "
            "consensus and weak partitions. IEEE Transactions on Pattern Analysis and Machine "
            "Intelligence, 27(12), 1866-1881. doi:10.1109/TPAMI.2005.237",
        ),
        "Mixture of multinomials over label vectors",
        "Takes the labels of an object as draws from the distributions of one of k components, "
        "and finds the components of highest likelihood by EM. Gives probabilities.",
        "Very many objects, a number of clusters that is known, and missing labels. Partitions "
        "are taken as independent, so probabilities come out near 0 and 1.",
        "Time O(p K k) for each EM step, memory linear in n L.",
        "Left out of the likelihood.",
    ),
    "Voting": MethodWords(
        "{voting} voting after relabelling (Dudoit and Fridlyand, 2003; Ayad and Kamel, 2008): "
        "partitions are given the same names for clusters, and each object the label with most "
        "votes",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "S. Dudoit and J. Fridlyand (2003). Bagging to improve the accuracy of a clustering "
            "procedure. Bioinformatics, 19(9), 1090-1099. doi:10.1093/bioinformatics/btg038",
            "H. G. Ayad and M. S. Kamel (2008). Cumulative voting consensus method for "
            "partitions with variable number of clusters. IEEE Transactions on Pattern Analysis "
            "and Machine Intelligence, 30(1), 160-173. doi:10.1109/TPAMI.2007.1138",
        ),
        "Voting after relabelling",
        "Renames the clusters of every partition to agree with a reference as well as can be, "
        "and gives each object the label with most votes; repeated until nothing changes.",
        "Partitions that all have about the number of clusters you want, such as bagged runs of "
        "one algorithm. For partitions with many more clusters use voting='cumulative', or "
        "another method.",
        "Time O(n L k) for each of a few rounds, memory linear in n L.",
        "No vote.",
    ),
    "PEACE": MethodWords(
        "probabilistic evidence accumulation (PEACE; Lourenço et al., 2013): memberships of "
        "maximum likelihood, the number of partitions that put two objects together being "
        "binomial",
        "the one that maximises a Bayesian information criterion on the scale of the labels",
        _LARGEST_MEMBERSHIP,
        (_LOURENCO,),
        "Probabilistic evidence accumulation",
        "Gives every object probabilities of belonging to each cluster, such that the votes of "
        "the partitions on all pairs are most likely. The best of several random starts is kept.",
        "When you want degrees of membership, for objects between clusters. Slower than methods "
        "that give labels only; starts can end in different optima (runs_).",
        "Time O(p^2 (k + L)) for each of some tens of passes and each start; memory linear in n L.",
        _BOTH_SEEN,
    ),
    "BaumEagon": MethodWords(
        "a factorisation of the co-association matrix into memberships of least squared error, "
        "by the growth transform of Baum and Eagon (Lourenço et al., 2013)",
        _NO_NUMBER,
        _LARGEST_MEMBERSHIP,
        (
            _LOURENCO,
            "L. E. Baum and J. A. Eagon (1967). An inequality with applications to statistical "
            "estimation for probabilistic functions of Markov processes and to a model for "
            "ecology. Bulletin of the American Mathematical Society, 73, 360-363. "
            "doi:10.1090/S0002-9904-1967-11751-8",
        ),
        "Soft consensus by factorising the co-association",
        "Gives every object memberships whose products come nearest to the co-association in "
        "the squared error.",
        "The baseline of PEACE: degrees of membership by a simpler criterion. Prefer PEACE "
        "unless you want the squared error.",
        "Time O(p^2 (k + L)) for each step and start, memory linear in n L.",
        _BOTH_SEEN,
    ),
    "CSPA": MethodWords(
        "cluster-based similarity partitioning (CSPA; Strehl and Ghosh, 2002): the graph of the "
        "co-association is cut into clusters",
        _NO_NUMBER,
        _OWN_SHARE,
        (_STREHL,),
        "Cluster-based similarity partitioning algorithm",
        "Makes a graph of the objects, weighed by the share of partitions that put two of them "
        "together, and cuts it into k parts.",
        "Compact clusters of a known number. partitioner='metis' as in the paper makes parts of "
        "about the same size; 'spectral' does not mind sizes.",
        "Spectral: time and memory about linear in n L, plus an eigenproblem of size K; the matrix "
        "is never made. METIS: the edges of the graph, up to p^2; checked against the limit.",
        "No vote: the partition puts the object together with nobody.",
    ),
    "HGPA": MethodWords(
        "hypergraph partitioning (HGPA; Strehl and Ghosh, 2002): every cluster of every partition "
        "is a hyperedge, and the objects are cut apart with as few hyperedges cut as can be",
        _NO_NUMBER,
        _OWN_SHARE,
        (_STREHL,),
        "Hypergraph partitioning algorithm",
        "Every cluster of every partition is a hyperedge over its objects. The hypergraph is cut "
        "into k parts so that few hyperedges are cut: by its normalised cut (spectral), or by "
        "Mt-KaHyPar into parts of about the same size.",
        "Many objects, clusters of any size. Use partitioner='hypergraph' (extra 'hypergraph') "
        "only where clusters are known to be of about the same size.",
        "Spectral: time and memory about linear in n L, plus an eigenproblem of size K. "
        "Mt-KaHyPar: up to seconds; many distinct label rows are cut in 1,000 groups.",
        "An object is in no hyperedge of a partition that did not see it.",
    ),
    "MCLA": MethodWords(
        "meta-clustering (MCLA; Strehl and Ghosh, 2002): the clusters of all partitions are "
        "clustered by their Jaccard similarity, and each object goes to the group of clusters "
        "that it is in most",
        _NO_NUMBER,
        _OWN_SHARE,
        (_STREHL,),
        "Meta-clustering algorithm",
        "Clusters the clusters: those of all partitions are grouped by how many objects they "
        "share, and each object goes to the group that it is in most often.",
        "Partitions with about the number of clusters you want, and any number of objects: only "
        "a graph of the clusters is made. Less suited where partitions have many small clusters.",
        "Time O(n L^2) for what clusters share, memory for pairs of clusters that share objects.",
        "An object counts where it has a label.",
    ),
    "HBGF": MethodWords(
        "hybrid bipartite graph formulation (HBGF; Fern and Brodley, 2004): the graph of objects "
        "and clusters, joined where an object is in a cluster, is cut into parts",
        _NO_NUMBER,
        _OWN_SHARE,
        (_FERN,),
        "Hybrid bipartite graph formulation",
        "Makes a graph with a node for each object and each cluster of every partition, joined "
        "where the object is in the cluster, and cuts objects and clusters at the same time.",
        "Large data and a known number of clusters: the graph is as small as the ensemble. A "
        "good default among the graph methods.",
        "Time and memory about linear in n L, plus an eigenproblem of size K.",
        "No edge to a partition that did not see the object.",
    ),
    "CoassociationKMeans": MethodWords(
        "k-means on the rows of the co-association matrix (Kuncheva et al., 2006)",
        _NO_NUMBER,
        _OWN_SHARE,
        (
            "L. I. Kuncheva, S. T. Hadjitodorov and L. P. Todorova (2006). Experimental "
            "comparison of cluster ensemble methods. Proceedings of the 9th International "
            "Conference on Information Fusion. doi:10.1109/ICIF.2006.301614",
            _DOMENICONI_2009,
        ),
        "k-means on co-association",
        "Takes the co-association of an object with all others as its features, and runs "
        "k-means on them (Co-as); with weighted=True, the weighted similarity of WSPA (wCo-as).",
        "A baseline: compact clusters of a known number.",
        "Time O(p L k) for each step, memory linear in n L plus K^2; the matrix is never made.",
        "No vote: the partition puts the object together with nobody.",
    ),
    "WSPA": MethodWords(
        "weighted similarity partitioning (WSPA; Domeniconi and Al-Razgan, 2009): the graph of "
        "the objects, weighed by the {similarity} similarity of their cluster probabilities, is "
        "cut into clusters",
        _NO_NUMBER,
        _OWN_SHARE,
        (_DOMENICONI_2009,),
        "Weighted similarity partitioning algorithm",
        "As CSPA, but by how similar the probabilities of two objects are in each partition, "
        "instead of whether they have the same label.",
        "Soft base partitions, such as those of LACEnsemble or mixtures. With hard labels it is "
        "CSPA.",
        "Time O(n K k) for the cosine similarity, whose matrix is never made; similarity='kl' "
        "needs all pairs.",
        "An object is similar to nothing in a partition that did not see it.",
    ),
    "WBPA": MethodWords(
        "weighted bipartite partitioning (WBPA; Domeniconi and Al-Razgan, 2009): the graph of "
        "objects and clusters, weighed by the probability of the cluster given the object, is cut "
        "into parts",
        _NO_NUMBER,
        _OWN_SHARE,
        (_DOMENICONI_2009,),
        "Weighted bipartite partitioning algorithm",
        "As HBGF, but edges between objects and clusters weigh as much as the probability that "
        "the object is in the cluster.",
        "Soft base partitions and many objects. With hard labels it is HBGF.",
        "Time and memory about linear in n K, plus an eigenproblem of size K.",
        "No edge to a partition that did not see the object.",
    ),
    "WSBPA": MethodWords(
        "weighted subspace bipartite partitioning (WSBPA; Domeniconi and Al-Razgan, 2009): as "
        "weighted bipartite partitioning, and then each cluster gets a centre and feature weights "
        "and each object the nearest centre in its weighted distance",
        _NO_NUMBER,
        _OWN_SHARE,
        (_DOMENICONI_2009,),
        "Weighted subspace bipartite partitioning algorithm",
        "Cuts the graph of WBPA, gives each part the mean feature weights of its clusters and a "
        "centre, and puts each object to the nearest centre in its own weighted distance. So "
        "the clusters of the consensus say which features make them.",
        "Clusters that live in different features, such as topics in texts, and when you want "
        "to know which. Needs partitions with feature weights: LACEnsemble makes them.",
        "As WBPA, plus O(n D k) for D features.",
        "As in WBPA.",
    ),
    "LAC": MethodWords(
        "locally adaptive clustering (LAC; Domeniconi et al., 2007)",
        _NO_NUMBER,
        "how strongly the ensemble supports the object's place",
        (
            "C. Domeniconi, D. Gunopulos, S. Ma, B. Yan, M. Al-Razgan and D. Papadopoulos (2007). "
            "Locally adaptive metrics for clustering high dimensional data. Data Mining and "
            "Knowledge Discovery, 14, 63-97. doi:10.1007/s10618-006-0060-8",
            _DOMENICONI_2009,
        ),
        "Locally adaptive clustering (a base clusterer, not a consensus)",
        "k-means in which every cluster has its own feature weights: features in which its "
        "objects are close together count more. The width h says how strongly.",
        "As the base of weighted ensembles: LACEnsemble runs it with many values of h, so that "
        "none has to be chosen. By itself, where clusters live in different features. The scale "
        "of the features matters.",
        "Time O(n D k) for each iteration, memory linear in the data.",
        "Features must not be missing.",
    ),
}
"""One entry per method, by the name of its class."""

_BASES = {
    "KMeans": "k-means",
    "MiniBatchKMeans": "mini-batch k-means",
    "BisectingKMeans": "bisecting k-means",
    "AgglomerativeClustering": "{linkage}-linkage agglomerative clustering",
    "SpectralClustering": "spectral clustering",
    "GaussianMixture": "a Gaussian mixture",
    "BayesianGaussianMixture": "a Bayesian Gaussian mixture",
    "Birch": "BIRCH",
}

_MOST_EXCLUDED = 10  # columns named
_SOFTWARE = (
    "F. Pedregosa et al. (2011). Scikit-learn: machine learning in Python. Journal of Machine "
    "Learning Research, 12, 2825-2830."
)
_AGREEMENT = _STREHL
_COTERIE = "The coterie developers. coterie: cluster ensembles for Python, version {version}."


def method_words(consensus: Any) -> MethodWords:
    """Return how to speak of a fitted consensus estimator, its parameters filled in."""
    cls = type(consensus).__name__
    words = METHODS.get(cls, MethodWords(cls, f"the one that {cls} finds"))
    return words._replace(name=words.name.format_map(_Parameters(consensus.get_params(deep=False))))


class _Parameters(dict[str, Any]):
    """Parameters that fill braces; one that a version does not have stays in its braces."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def describe_base(estimator: Any) -> str:
    """Return the name of a base clusterer in words."""
    cls = type(estimator).__name__
    params = estimator.get_params(deep=False)
    text = _BASES.get(cls, cls).format_map(params)
    if params.get("init") == "random" and params.get("n_init") == 1:
        text += " with one random start"
    return text


def reason_for_number(consensus: Any) -> str:
    """Return why there are as many clusters as there are, as a sentence."""
    k = consensus.n_clusters_
    if consensus.n_clusters is not None:
        return f"{count(k, 'cluster')} as asked for."
    cls = type(consensus).__name__
    if k == 1 < consensus.ensemble_.n_objects and (consensus.ensemble_.n_clusters == 1).all():
        return "1 cluster: no partition puts two objects apart."
    lifetimes = getattr(consensus, "lifetimes_", None)
    if lifetimes is None:
        return f"{cls} found {count(k, 'cluster')}; the number is {method_words(consensus).number}."
    if not len(lifetimes):
        return f"{count(k, 'cluster')}: too few objects for a choice by lifetime."
    text = (
        f"{cls} found {count(k, 'cluster')}, the number that lasts longest as the tree is cut "
        f"(lifetime {lifetimes[k - 2]:.3f}"
    )
    others = [(life, -number) for number, life in enumerate(lifetimes, start=2) if number != k]
    if others:
        life, number = max(others)
        text += f"; the next longest is {life:.3f}, for {-number} clusters"
    return text + ")."


def methods_text(summary: dict[str, Any]) -> tuple[str, list[str]]:
    """Return a methods section for a summary, and its references."""
    sentences = [_made(summary), *_preparation(summary)]
    ensemble, agreement = summary["ensemble"], summary["agreement"]
    if ensemble["missing"] > 0:
        sentences.append(
            f"{_percent(ensemble['missing'])} of the labels are missing; a partition counts only "
            "for pairs of objects of which it saw both."
        )
    sentences.append(f"The partitions were combined by {summary['consensus']['words']}.")
    k = count(summary["n_clusters"], "cluster")
    if summary["n_clusters_given"]:
        sentences.append(f"The number of clusters was set to {summary['n_clusters']}.")
    else:
        sentences.append(
            f"This gave {k}; the number was not set but is {summary['consensus']['number']}."
        )
    sentences += _convergence(summary["consensus"])
    sentences.append(
        f"The consensus shares a mean normalised mutual information of {agreement['anmi']:.2f} "
        f"with the partitions (Strehl and Ghosh, 2002). The mean confidence of the "
        f"objects is {agreement['confidence']:.2f} (confidence of an object: "
        f"{summary['consensus']['confidence']})."
    )
    seed = summary["generation"]["seed"] if summary["generation"] else None
    own, *others = (f"{name} {version}" for name, version in summary["versions"].items())
    end = f" Seed: {seed}." if seed is not None else ""
    sentences.append(f"The analysis was done with {own} under {_list(others)}.{end}")
    coterie = _COTERIE.format(version=summary["versions"]["coterie"])
    references = {*summary["consensus"]["references"], _AGREEMENT, coterie}
    if summary["generation"]:
        references.add(_SOFTWARE)
    return " ".join(sentences), sorted(references)


def _made(summary: dict[str, Any]) -> str:
    """Return the sentence on how the partitions were made."""
    objects = count(summary["n_objects"], "object")
    ensemble = summary["ensemble"]
    n_partitions = count(ensemble["n_partitions"], "partition")
    low, high = ensemble["n_clusters"]
    clusters = f"{low} to {high} clusters" if low != high else count(low, "cluster")
    generation = summary["generation"]
    if generation is None:
        return f"{n_partitions} of {objects}, with {clusters} each, were taken as given."
    features = count(summary["n_features"], "feature")
    text = (
        f"{objects} with {features} ({generation['preparation']}) were clustered "
        f"{ensemble['n_partitions']} times by {_list(generation['bases'])}, each time into a "
        f"number of clusters drawn at random ({clusters})"
        if low != high
        else f"{objects} with {features} ({generation['preparation']}) were clustered "
        f"{ensemble['n_partitions']} times by {_list(generation['bases'])} into {clusters}"
    )
    parts = []
    if generation["max_features"] != "all":
        parts.append(f"{generation['max_features']} of the features")
    if generation["max_samples"] != "all":
        parts.append(f"{generation['max_samples']} of the objects")
    if parts:
        text += f", on a random {' and '.join(parts)} each time"
    return text + "."


def _preparation(summary: dict[str, Any]) -> list[str]:
    """Return the sentences on what was left out of the data or filled in."""
    sentences = []
    excluded = summary["excluded"]
    if excluded:
        named = [f"'{name}'" for name in excluded[:_MOST_EXCLUDED]]
        if len(excluded) > _MOST_EXCLUDED:
            named.append(f"{len(excluded) - _MOST_EXCLUDED} more")
        subject = "The column" if len(excluded) == 1 else "The columns"
        verb = "was" if len(excluded) == 1 else "were"
        sentences.append(f"{subject} {_list(named)} {verb} left out.")
    if summary["n_imputed"]:
        values = count(summary["n_imputed"], "missing value")
        verb = "was" if summary["n_imputed"] == 1 else "were"
        sentences.append(f"{values} of the features {verb} filled in.")
    return sentences


def _convergence(consensus: dict[str, Any]) -> list[str]:
    """Return the sentence on whether an iterative method has converged."""
    if not isinstance(consensus["converged"], bool):
        return []
    steps = f" after {count(consensus['n_iter'], 'iteration')}" if consensus["n_iter"] else ""
    if consensus["converged"]:
        return [f"The method converged{steps}."]
    return [f"The method stopped{steps} without having converged."]


def count(n: int, noun: str) -> str:
    """Return '1 cluster', '2 clusters', '12,000 objects'."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _list(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
