"""Features through ConsensusClustering and TablePreparation."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import NDArray

from coterie import ConsensusClustering, RandomizedEnsemble, TablePreparation
from coterie.consensus import CONSENSUS
from soak.ensembles import check_fitted, check_words

__all__ = ["attack"]

_QUICK = ("lwea", "eac", "hbgf", "laca", "mcla", "lwgp", "voting", "hne")


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Cluster unkind features: a result that holds, or an error that says why."""
    if rng.random() < 0.3:
        _attack_table(rng)
        return
    X = draw_features(rng)
    before = copy.deepcopy(X)
    k = None if rng.random() < 0.4 else int(rng.integers(1, 6))
    generator = RandomizedEnsemble(n_partitions=int(rng.integers(1, 12)), n_clusters=(2, 4))
    model = ConsensusClustering(
        n_clusters=k,
        generator=generator if rng.random() < 0.7 else None,
        consensus=str(rng.choice(_QUICK)),
        random_state=int(rng.integers(100)),
    )
    try:
        model.fit(X)
    except (ValueError, TypeError) as error:
        check_words(error)
        return
    n = X.shape[0]
    check_fitted(model, n)
    assert not _has_bad_cells(X), "NaN or infinite cells were clustered without a word"
    again = ConsensusClustering(**model.get_params(deep=False)).fit(X)
    assert (again.labels_ == model.labels_).all(), "another result from the same seed"
    placed = model.predict(X)
    assert ((placed >= 0) & (placed < model.n_clusters_)).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == placed).all()
    if CONSENSUS[model.consensus].saved_state is not None:
        model.save(folder / "model.npz")
        assert (ConsensusClustering.load(folder / "model.npz").predict(X) == placed).all()
    dense, old = (a.toarray() if scipy.sparse.issparse(a) else a for a in (X, before))
    np.testing.assert_array_equal(dense, old)


def draw_features(rng: np.random.Generator) -> Any:
    """Draw a matrix: lumps, twins, constants, huge values, NaN, sparse, one row, one column."""
    n = int(rng.choice([1, 2, 3, rng.integers(4, 60), rng.integers(60, 300)]))
    n_features = int(rng.choice([1, 2, 3, 10, 60]))
    X = rng.normal(size=(n, n_features)) + 4 * rng.integers(0, 4, n)[:, None]
    unkind = rng.choice(
        ["no", "no", "twins", "constant", "huge", "tiny", "nan", "inf", "bool", "int", "sparse"]
    )
    if unkind == "twins":
        X = X[rng.integers(0, max(1, n // 4), n)]
    elif unkind == "constant":
        X[:, : int(rng.integers(1, n_features + 1))] = 3.5
    elif unkind in ("huge", "tiny"):
        X *= 10.0 ** (rng.integers(100, 305) * (1 if unkind == "huge" else -1))
    elif unkind in ("nan", "inf"):
        X[rng.integers(n), rng.integers(n_features)] = np.nan if unkind == "nan" else np.inf
    elif unkind in ("bool", "int"):
        X = X > 0 if unkind == "bool" else X.astype(rng.choice(["int8", "int64", "uint8"]))
    elif unkind == "sparse":
        kept = X * (rng.random(X.shape) < 0.2)
        return scipy.sparse.csr_matrix(kept)
    return X.astype(np.float32) if X.dtype == float and rng.random() < 0.2 else X


def _has_bad_cells(X: Any) -> bool:
    values: NDArray[Any] = X.data if scipy.sparse.issparse(X) else np.asarray(X)
    return values.dtype.kind == "f" and not np.isfinite(values).all()


def _attack_table(rng: np.random.Generator) -> None:
    """Prepare a table of numbers, words, dates, ids and missing cells."""
    n = int(rng.choice([1, 2, 5, rng.integers(6, 80)]))
    makers = {
        "number": lambda: rng.normal(size=n).tolist(),
        "heavy": lambda: (rng.standard_cauchy(n) * 1e6).tolist(),
        "constant": lambda: [7] * n,
        "id": lambda: [f"u{i:05d}" for i in rng.permutation(n)],
        "word": lambda: rng.choice(["a", "b", "ä", "", "=1"], n).tolist(),
        "yes": lambda: (rng.random(n) < 0.5).tolist(),
        "count": lambda: rng.integers(0, 5, n).tolist(),
        "text": lambda: [" ".join(rng.choice(["red", "blue", "cat", "x"], 6)) for _ in range(n)],
        "empty": lambda: [None] * n,
    }
    names = rng.choice(sorted(makers), int(rng.integers(1, 6)))
    columns = {}
    for i, name in enumerate(names):
        cells = makers[name]()
        gone = rng.random(n) < rng.choice([0.0, 0.0, 0.3])
        columns[f"{name}{i}"] = [None if g else c for g, c in zip(gone, cells, strict=True)]
    frame = pl.DataFrame(columns, strict=False)
    try:
        prepare = TablePreparation().fit(frame)
        X = prepare.transform(frame)
    except (ValueError, TypeError) as error:
        check_words(error)
        return
    assert X.shape[0] == n
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(prepare.transform(frame), X)
    np.testing.assert_array_equal(TablePreparation.from_dict(prepare.to_dict()).transform(frame), X)
