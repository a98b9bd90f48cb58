"""Fitted models in files: what prediction needs, without pickle.

A file is numpy's npz format. `header` is JSON text: the format's number, the method with its
parameters, names of features, and `preparation`, an optional dictionary that says what was done to
a table before (its owner writes and reads it). The other entries are arrays, among them a checksum
(`_archives.py`).

Kept are the centres of k-means runs, from which new objects get their labels, and the ensemble
with its consensus, from which they get their cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from coterie._archives import read_archive, write_archive
from coterie.consensus import CONSENSUS
from coterie.consensus._base import BaseConsensus
from coterie.ensemble import Ensemble
from coterie.generation import RandomizedEnsemble

__all__ = ["NearestCentres", "SavedModel", "check_can_be_saved", "load_model", "save_model"]

FORMAT = 1
_MOST_HEADER = 1 << 26  # bytes of JSON
_PLAIN = (bool, int, float, str, type(None))


class Run(NamedTuple):
    """How one k-means run labels new objects."""

    centres: NDArray[np.float64]
    features: NDArray[np.int64]
    """Which features the run used."""
    codes: NDArray[np.int32]
    """The label in the ensemble behind each centre; ``n_clusters`` where no object was in it."""


class NearestCentres(BaseEstimator):
    """The generator of a loaded model: a new object gets the cluster of its nearest centre.

    Attributes
    ----------
    runs_ : list of Run
        One per partition.
    n_features_in_ : int
        Number of features.
    """

    runs_: list[Run]
    n_features_in_: int

    def transform(self, X: Any) -> NDArray[np.int32]:
        """Return the label rows of new objects.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_new, n_features)

        Returns
        -------
        labels : ndarray of int32, shape (n_new, n_partitions)
        """
        labels = np.empty((X.shape[0], len(self.runs_)), dtype=np.int32)
        for e, run in enumerate(self.runs_):
            part = X if len(run.features) == X.shape[1] else X[:, run.features]
            labels[:, e] = run.codes[pairwise_distances_argmin(part, run.centres)]
        return labels


class SavedModel(NamedTuple):
    """What a model file holds."""

    generator: NearestCentres
    consensus: BaseConsensus
    feature_names: list[str] | None
    preparation: dict[str, Any] | None


def check_can_be_saved(consensus: BaseConsensus, bases: Iterable[Any]) -> None:
    """Raise TypeError where a model of these parts could not be saved, before any work."""
    _state_names(consensus)
    _plain_parameters(consensus)
    for base in bases:
        _check_base(base)


def save_model(
    path: str | os.PathLike[str],
    generator: Any,
    consensus: BaseConsensus,
    *,
    feature_names: Any = None,
    preparation: dict[str, Any] | None = None,
) -> None:
    """Write what prediction needs to a file, whole or not at all."""
    runs = _runs_of(generator)
    state = _state_names(consensus)
    ensemble = consensus.ensemble_
    header = {
        "format": FORMAT,
        "method": _name_of(consensus),
        "parameters": _plain_parameters(consensus),
        "n_features": int(generator.n_features_in_),
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "preparation": preparation,
        "state": list(state),
    }
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "ensemble_labels": ensemble.labels,
        "ensemble_groups": ensemble.groups,
        "ensemble_validity": ensemble.validity,
        "labels": consensus.labels_,
        "confidence": consensus.confidence_,
    }
    arrays |= {f"state_{name}": np.asarray(getattr(consensus, name)) for name in state}
    for e, run in enumerate(runs):
        arrays |= {f"{field}_{e}": value for field, value in run._asdict().items()}
    write_archive(path, arrays, compressed=True)


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a file that `save_model` wrote."""
    try:
        arrays = read_archive(path)
        if arrays["header"].nbytes > _MOST_HEADER or arrays["header"].dtype != np.uint8:
            raise ValueError("its header is no text of a usual size")
        header = json.loads(arrays["header"].tobytes())
        if header["format"] > FORMAT:
            raise ValueError(f"a newer coterie wrote it (format {header['format']}); update")
        if "checksum" not in arrays:
            raise ValueError("it has no checksum, so it is damaged")
        return _restore(header, arrays)
    except (KeyError, TypeError, AttributeError, IndexError, EOFError, RecursionError) as error:
        raise ValueError(f"{path} is not a model that coterie wrote: {error!r}.") from error
    except MemoryError:
        raise
    except ValueError as error:
        raise ValueError(f"{path} is not a model that can be read: {error}.") from error


# --- writing ------------------------------------------------------------------------------------


def _runs_of(generator: Any) -> list[Run]:
    """Return the centres of the runs; raise TypeError for what cannot be saved."""
    if isinstance(generator, NearestCentres):
        return generator.runs_
    if not isinstance(generator, RandomizedEnsemble):
        raise TypeError(
            f"a model can be saved if RandomizedEnsemble made its partitions; got "
            f"{type(generator).__name__}. Save the partitions with Ensemble.save instead."
        )
    runs = []
    for e, draw in enumerate(generator.runs_):
        base = generator._base_estimators[draw.group]
        _check_base(base)
        centres = generator._fitted_estimator(e).cluster_centers_
        codes = np.full(len(centres), generator.ensemble_.n_clusters[e], dtype=np.int32)
        values = generator._outcomes[e].values
        codes[values] = np.arange(len(values))
        features = np.arange(generator.n_features_in_) if draw.features is None else draw.features
        runs.append(Run(centres, np.asarray(features, dtype=np.int64), codes))
    return runs


def _check_base(base: Any) -> None:
    if type(base) not in (KMeans, MiniBatchKMeans):
        raise TypeError(
            f"a model can be saved if its base clusterers are KMeans or MiniBatchKMeans; got "
            f"{type(base).__name__}. Save the partitions with Ensemble.save instead."
        )


def _name_of(consensus: BaseConsensus) -> str:
    for name, cls in CONSENSUS.items():
        if type(consensus) is cls:
            return name
    raise TypeError(
        f"a model can be saved if its consensus is one of {', '.join(CONSENSUS)}; got "
        f"{type(consensus).__name__}."
    )


def _state_names(consensus: BaseConsensus) -> tuple[str, ...]:
    if consensus.saved_state is None:
        can = [name for name, cls in CONSENSUS.items() if cls.saved_state is not None]
        raise TypeError(
            f"a model with the consensus {_name_of(consensus)} cannot be saved; these can: "
            f"{', '.join(can)}."
        )
    return consensus.saved_state


def _plain_parameters(consensus: BaseConsensus) -> dict[str, Any]:
    """Return the parameters as plain data, without random generators (not needed to predict)."""
    parameters = consensus.get_params(deep=False)
    if not isinstance(parameters.get("random_state"), _PLAIN):
        parameters["random_state"] = None
    parameters = {k: int(v) if isinstance(v, np.integer) else v for k, v in parameters.items()}
    for name, value in parameters.items():
        if not isinstance(value, _PLAIN):
            raise TypeError(
                f"a model can be saved if its parameters are numbers, text or None; {name} of "
                f"{type(consensus).__name__} is of type {type(value).__name__}."
            )
    return parameters


# --- reading ------------------------------------------------------------------------------------


def _restore(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SavedModel:
    """Build the model from arrays, checked: compiled code trusts labels and codes."""
    ensemble = Ensemble(
        arrays["ensemble_labels"],
        groups=arrays["ensemble_groups"],
        validity=arrays["ensemble_validity"],
    )
    consensus = CONSENSUS[header["method"]](**header["parameters"])
    if tuple(header["state"]) != consensus.saved_state:
        raise ValueError(f"{header['state']} is not what {header['method']} needs")
    state = {name: arrays[f"state_{name}"] for name in header["state"]}
    consensus._restore(ensemble, arrays["labels"], arrays["confidence"], state)
    generator = NearestCentres()
    generator.n_features_in_ = int(header["n_features"])
    generator.runs_ = [
        _checked_run(
            Run(*(arrays[f"{field}_{e}"] for field in Run._fields)),
            generator.n_features_in_,
            int(ensemble.n_clusters[e]),
        )
        for e in range(ensemble.n_partitions)
    ]
    names = header["feature_names"]
    if names is not None and len(names) != generator.n_features_in_:
        raise ValueError("it does not have one name per feature")
    return SavedModel(generator, consensus, names, header.get("preparation"))


def _checked_run(run: Run, n_features: int, n_clusters: int) -> Run:
    fits = (
        run.centres.ndim == 2
        and run.centres.shape == (len(run.codes), len(run.features))
        and len(run.codes) > 0
        and run.centres.dtype.kind == "f"
        and np.isfinite(run.centres).all()
        and run.features.dtype.kind == run.codes.dtype.kind == "i"
        and ((run.features >= 0) & (run.features < n_features)).all()
        and ((run.codes >= 0) & (run.codes <= n_clusters)).all()
    )
    if not fits:
        raise ValueError("the centres of a run do not fit its features or codes")
    return run
