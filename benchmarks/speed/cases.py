"""What is compared: methods by name, and for each case its data, its methods and its check."""

from __future__ import annotations

from typing import NamedTuple

OURS = "coterie"


class Method(NamedTuple):
    """A file in `methods/` as the tables show it."""

    title: str
    module: str
    needs: str | None = None
    """The package that a user has to install for it, where that is not ours to require."""
    env: tuple[tuple[str, str], ...] = ()


class Case(NamedTuple):
    """One comparison; `name` is the function in the files of its methods."""

    name: str
    title: str
    dataset: str
    methods: tuple[str, ...]
    check: str
    """'rows': largest error against the definition; 'ari': agreement with our partition."""
    function: str = ""
    sizes: tuple[int, ...] = ()
    """Fixed sizes; else the runner's."""
    memory: int | None = None
    """The most bytes a method may allocate."""
    timeout: float = 0
    """Seconds, where the runner's are fewer."""


class Goal(NamedTuple):
    """What the project promises for n = 10,000: the peer's figure over ours."""

    case: str
    peer: str
    what: str
    """'time', or 'memory', 'call' or 'peak' for the three readings of memory."""
    at_least: float


METHODS = {
    OURS: Method("coterie", "coterie"),
    "coterie_1gb": Method("coterie, 1 GB limit", "coterie", env=(("COTERIE_MEMORY_LIMIT", "1GB"),)),
    "coterie_matrix_free": Method("coterie, matrix-free", "coterie_matrix_free"),
    "coterie_paper": Method("coterie, solver='paper'", "coterie_paper"),
    "numpy_peace": Method("plain NumPy", "numpy_peace"),
    "coterie_triangle": Method("coterie, triangle", "coterie_triangle"),
    "sparse_product": Method("SciPy sparse product", "sparse_product"),
    "sparse_product_dense": Method("SciPy sparse product, made dense", "sparse_product_dense"),
    "dense_product": Method("dense product (BLAS)", "dense_product"),
    "pdist": Method("SciPy pdist Hamming", "pdist"),
    "sklearn_pairwise": Method("scikit-learn pairwise Hamming", "sklearn_pairwise"),
    "pdist_fastcluster": Method("pdist + fastcluster", "pdist_fastcluster", "fastcluster"),
    "sparse_fastcluster": Method(
        "sparse product + fastcluster", "sparse_fastcluster", "fastcluster"
    ),
    "precomputed_scipy": Method("SciPy average linkage, matrix ready-made", "precomputed_scipy"),
    "pdist_scipy": Method("pdist + SciPy linkage", "pdist_scipy"),
    "sklearn_agglomerative": Method("scikit-learn Agglomerative", "sklearn_agglomerative"),
    "dense_margin": Method("NumPy matrix + SciPy spanning tree", "dense_margin"),
    "openensembles": Method("openensembles", "openensembles", "openensembles"),
    "pyckmeans": Method("pyckmeans", "pyckmeans", "pyckmeans"),
    "consensusclustering": Method(
        "consensusclustering", "consensusclustering", "consensusclustering"
    ),
    "coterie_graphs": Method("coterie", "coterie_graphs"),
    "coterie_metis": Method("coterie, METIS (HGPA: Mt-KaHyPar)", "coterie_metis"),
    "sklearn_spectral": Method("scikit-learn on the matrix by hand", "sklearn_spectral"),
    "coterie_modern": Method("coterie", "coterie_modern"),
    "by_hand": Method("NumPy, SciPy and scikit-learn by hand", "by_hand"),
    "cluster_ensembles": Method("Cluster_Ensembles", "cluster_ensembles", "Cluster_Ensembles"),
}

CASES = (
    Case(
        "coassociation",
        "Labels to co-association matrix",
        "kmeans",
        (
            OURS,
            "sparse_product",
            "sparse_product_dense",
            "dense_product",
            "pdist",
            "sklearn_pairwise",
            "openensembles",
        ),
        check="rows",
    ),
    Case(
        "coassociation_subsampled",
        "Labels to co-association matrix, a fifth of the labels missing",
        "subsampled",
        (OURS, "sparse_product_dense", "consensusclustering"),
        check="rows",
    ),
    Case(
        "average",
        "Labels to consensus partition, average linkage",
        "kmeans",
        (
            OURS,
            "coterie_matrix_free",
            "coterie_triangle",
            "pdist_fastcluster",
            "pdist_scipy",
            "sklearn_agglomerative",
            "openensembles",
            "pyckmeans",
            "cluster_ensembles",
        ),
        check="ari",
    ),
    Case(
        "single",
        "Labels to consensus partition, single linkage",
        "kmeans",
        (
            OURS,
            "sklearn_agglomerative",
            "pdist_fastcluster",
            "pdist_scipy",
            "openensembles",
            "pyckmeans",
        ),
        check="ari",
    ),
    Case(
        "laca",
        "Labels to LACA, all its rounds; against one co-association and one average linkage",
        "kmeans",
        (OURS, "sparse_fastcluster"),
        check="ari",
    ),
    Case(
        "margin_tree",
        "Labels to MSTEClust's spanning tree, two groups of 25",
        "distinct",
        (OURS, "dense_margin"),
        check="equal",
    ),
    Case(
        "normalized_edges",
        "Labels (L = 30) to consensus partition, normalized edges; against average linkage alone",
        "kmeans30",
        (OURS, "precomputed_scipy"),
        check="ari",
    ),
    Case(
        "cspa",
        "Labels to consensus partition, CSPA",
        "kmeans",
        ("coterie_graphs", "coterie_metis", "sklearn_spectral"),
        check="ari",
        sizes=(1000, 5000),
        timeout=600,
    ),
    Case(
        "mcla",
        "Labels to consensus partition, MCLA",
        "kmeans",
        ("coterie_graphs", "coterie_metis"),
        check="ari",
        sizes=(1000, 5000),
        timeout=600,
    ),
    Case(
        "hbgf",
        "Labels to consensus partition, HBGF",
        "kmeans",
        ("coterie_graphs", "coterie_metis", "sklearn_spectral"),
        check="ari",
        sizes=(1000, 5000, 20_000),
    ),
    Case(
        "hgpa",
        "Labels to consensus partition, HGPA",
        "kmeans",
        ("coterie_graphs", "coterie_metis"),
        check="ari",
        sizes=(1000, 5000),
    ),
    Case(
        "coassociation_kmeans",
        "Labels to consensus partition, k-means on co-association rows",
        "kmeans",
        ("coterie_graphs", "sklearn_spectral"),
        check="ari",
        sizes=(1000, 5000, 20_000),
        timeout=600,
    ),
    Case(
        "peace",
        "Labels to memberships, PEACE with 10 clusters to tol=1e-6, one start",
        "kmeans",
        (OURS, "coterie_paper"),
        check="ari",
        sizes=(1000,),
        timeout=600,
    ),
    Case(
        "peace_loose",
        "Labels to memberships, PEACE with 5 clusters to tol=1e-4, one start",
        "kmeans",
        (OURS, "coterie_paper", "numpy_peace"),
        check="ari",
        sizes=(1000,),
        timeout=600,
    ),
    Case(
        "lwea",
        "Labels to consensus partition, LWEA; by hand with SciPy linkage",
        "kmeans",
        ("coterie_modern", "by_hand"),
        check="ari",
        sizes=(10_000,),
    ),
    Case(
        "ecpcs",
        "Labels to consensus partition, ECPCS-MC",
        "kmeans",
        ("coterie_modern", "by_hand"),
        check="ari",
        sizes=(10_000,),
    ),
    Case(
        "usenc",
        "Labels (L = 20, 20 to 60 clusters) to consensus partition, the consensus of U-SENC",
        "kmeans20",
        ("coterie_modern", "by_hand"),
        check="ari",
        sizes=(10_000,),
    ),
    Case(
        "uspec",
        "Features to partition, USPEC; against SpectralClustering(affinity='nearest_neighbors')",
        "points",
        ("coterie_modern", "by_hand"),
        check="ari",
        sizes=(20_000,),
        timeout=1800,
    ),
)

MODERN = {
    "lwea": "LWEA",
    "weac": "WEAC",
    "lwgp": "LWGP",
    "gpmgla": "GP-MGLA",
    "ecpcs": "ECPCS-MC",
    "lce": "LCE",
    "kcc": "KCC",
    "sec": "SEC",
}
BY_HAND = ("lwgp", "kcc")
"""Those that can be written by hand for a million objects."""

SCALE_CASES = (
    Case(
        "scale_average",
        "50,000 distinct rows, average linkage, a limit of 1 GB",
        "distinct",
        ("coterie_1gb", "pdist_fastcluster"),
        check="ari",
        function="average",
        sizes=(50_000,),
        timeout=1800,
        memory=1024**3,
    ),
    Case(
        "scale_regimes",
        "50,000 distinct rows, average linkage, the two regimes",
        "distinct",
        ("coterie_matrix_free", "coterie_triangle"),
        check="ari",
        function="average",
        sizes=(50_000,),
        timeout=1800,
    ),
    Case(
        "scale_laca",
        "LACA on 1,000,000 x 50 labels",
        "voronoi",
        (OURS,),
        check="ari",
        function="laca",
        sizes=(500_000, 1_000_000),
        timeout=600,
        memory=2 * 1024**3,
    ),
    Case(
        "scale_hbgf",
        "HBGF on 50 partitions of up to 2,000,000 objects",
        "voronoi",
        ("coterie_graphs",),
        check="ari",
        function="hbgf",
        sizes=(500_000, 1_000_000, 2_000_000),
        timeout=600,
    ),
    Case(
        "scale_cspa",
        "CSPA on 50 partitions of 1,000,000 objects",
        "voronoi",
        ("coterie_graphs",),
        check="ari",
        function="cspa",
        sizes=(1_000_000,),
        timeout=600,
    ),
    Case(
        "scale_coassociation_kmeans",
        "K-means on co-association rows, 50 partitions of 1,000,000 objects",
        "voronoi",
        ("coterie_graphs",),
        check="ari",
        function="coassociation_kmeans",
        sizes=(1_000_000,),
        timeout=600,
    ),
    Case(
        "scale_cells_hbgf",
        "HBGF on 100 partitions of 40,000 objects",
        "cells",
        ("coterie_graphs",),
        check="ari",
        function="hbgf",
        sizes=(40_000,),
        timeout=600,
    ),
    Case(
        "scale_cells_cspa",
        "CSPA on 100 partitions of 40,000 objects",
        "cells",
        ("coterie_graphs",),
        check="ari",
        function="cspa",
        sizes=(40_000,),
        timeout=600,
    ),
    Case(
        "scale_cells_mcla",
        "MCLA on 100 partitions of 40,000 objects",
        "cells",
        ("coterie_graphs",),
        check="ari",
        function="mcla",
        sizes=(40_000,),
        timeout=600,
    ),
    Case(
        "scale_overlap",
        "Overlap of 1,000,000 x 50 labels",
        "voronoi",
        (OURS, "sparse_product"),
        check="equal",
        function="overlap",
        sizes=(1_000_000,),
    ),
    Case(
        "scale_peace",
        "10,000 objects, PEACE with 10 clusters to tol=1e-6, one start, a limit of 2 GB",
        "kmeans",
        (OURS,),
        check="ari",
        function="peace",
        sizes=(10_000,),
        memory=2 * 1024**3,
        timeout=3600,
    ),
    *(
        Case(
            f"scale_{name}",
            f"{title} on 50 partitions of 1,000,000 objects",
            "voronoi",
            ("coterie_modern", "by_hand") if name in BY_HAND else ("coterie_modern",),
            check="ari",
            function=name,
            sizes=(1_000_000,),
            timeout=600,
        )
        for name, title in MODERN.items()
    ),
    Case(
        "scale_uspec",
        "USPEC on 16 features of up to 1,000,000 objects",
        "points",
        ("coterie_modern",),
        check="ari",
        function="uspec",
        sizes=(250_000, 500_000, 1_000_000),
        timeout=600,
    ),
)

GOAL_SIZE = 10_000
GOALS = (
    Goal("coassociation", "sparse_product", "time", 10),
    Goal("average", "pdist_fastcluster", "time", 3),
    Goal("average", "pdist_fastcluster", "memory", 2),
    Goal("average", "pdist_fastcluster", "call", 2),
    Goal("average", "pdist_fastcluster", "peak", 2),
    Goal("single", "sklearn_agglomerative", "time", 3),
    Goal("laca", "sparse_fastcluster", "time", 1),
    Goal("normalized_edges", "precomputed_scipy", "time", 1),
    Goal("margin_tree", "dense_margin", "time", 1),
    Goal("lwea", "by_hand", "time", 1),
    Goal("ecpcs", "by_hand", "time", 1),
    Goal("usenc", "by_hand", "time", 1),
)
