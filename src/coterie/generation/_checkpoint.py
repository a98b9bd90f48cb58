"""A directory of finished partitions, from which a killed run is continued.

It holds ``manifest.json``, which says what the partitions were made from, and one small npz
file per partition (no pickle), written whole or not at all as soon as it is finished.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from scipy import sparse

from coterie._archives import read_archive, write_archive
from coterie._files import checksum_fits, with_checksum, written_whole
from coterie._reading import read_json
from coterie.generation._runs import Draw, Outcome, number_parameter

__all__ = ["Checkpoint", "describe_data", "describe_estimators", "describe_value"]

_WHAT = "partitions of coterie.RandomizedEnsemble"
_FORMAT = 2
_MANIFEST = "manifest.json"
_SECTIONS = ("data", "parameters", "versions")
_OWN_NAME = re.compile(r"\.?(manifest\.json|partition-\d+-\d+\.npz)(\..*)?")
_STALE_SECONDS = 3600  # a temporary file this old was left behind by a killed process
_NO_INFLUENCE = ("n_jobs", "verbose", "memory", "random_state")


class Checkpoint:
    """Finished partitions in a directory.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    fingerprint : dict of dict
        What the partitions are made from, by section ('data', 'parameters', 'versions').
    entropy : sequence of int, or None
        The seed. None continues with the seed of the directory, or with `fresh_entropy`.
    fresh_entropy : sequence of int
        The seed of a new directory when `entropy` is None.

    Attributes
    ----------
    entropy : tuple of int
        The seed to use.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        fingerprint: dict[str, dict[str, Any]],
        entropy: Sequence[int] | None,
        fresh_entropy: Sequence[int],
    ) -> None:
        self.directory = Path(directory)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"checkpoint must be a directory, or a name for a new one; {self.directory} is "
                "a file."
            ) from error
        stored = self._read_manifest()
        if stored is None:
            self.entropy = tuple(int(word) for word in (entropy or fresh_entropy))
            manifest = {"what": _WHAT, "format": _FORMAT, "entropy": list(self.entropy)}
            with written_whole(self.directory / _MANIFEST) as temporary:
                record = with_checksum(manifest | fingerprint)
                text = json.dumps(record, indent=1, allow_nan=False)
                temporary.write_text(text + "\n", encoding="utf-8")
        else:
            self._check_same_source(stored, fingerprint, entropy)
            self.entropy = tuple(int(word) for word in stored["entropy"])
        self._digest = _digest_of([list(self.entropy), fingerprint])
        self._remove_stale()

    def load(self, draw: Draw) -> Outcome | None:
        """Return the stored partition of a run; None if it is not there, broken or another's."""
        try:
            path = self._path(draw.group, draw.run)
            arrays = read_archive(path)
            digest, codes = str(arrays["digest"]), arrays["codes"]
            values, validity = arrays["values"], float(arrays["validity"])
        except PermissionError:
            raise
        except (OSError, ValueError, KeyError, TypeError):
            return None
        own = self._digest_of_run(draw.group, draw.run)
        if (
            "checksum" not in arrays
            or digest != own
            or codes.shape != (draw.n_objects,)
            or codes.dtype.kind != "i"
        ):
            return None
        return Outcome(draw.group, draw.run, codes, values, validity, estimator=None)

    def save(self, outcome: Outcome) -> None:
        """Write one finished partition."""
        arrays = {
            "digest": self._digest_of_run(outcome.group, outcome.run),
            "codes": outcome.codes,
            "values": outcome.values,
            "validity": np.float64(outcome.validity),
        }
        write_archive(self._path(outcome.group, outcome.run), arrays)

    def _path(self, group: int, run: int) -> Path:
        return self.directory / f"partition-{group:02d}-{run:05d}.npz"

    def _digest_of_run(self, group: int, run: int) -> str:
        return f"{self._digest}-{group}-{run}"

    def _read_manifest(self) -> dict[str, Any] | None:
        path = self.directory / _MANIFEST
        if not path.exists():
            return None
        elsewhere = "Give checkpoint a directory of its own."
        try:
            stored = read_json(path)
            ours = _is_manifest(stored) and stored.get("format") == _FORMAT
            if ours and not checksum_fits(stored):
                raise ValueError(f"{path} is damaged: its checksum does not fit.")
        except ValueError as error:
            if all(_OWN_NAME.fullmatch(entry.name) for entry in self.directory.iterdir()):
                warnings.warn(
                    f"{error} It is written anew. Partitions made with the same seed are kept.",
                    UserWarning,
                    stacklevel=5,
                )
                return None
            raise ValueError(f"{error} It is no checkpoint. {elsewhere}") from error
        if not _is_manifest(stored):
            raise ValueError(f"{path} was not written by RandomizedEnsemble. {elsewhere}")
        if stored.get("format") != _FORMAT:
            raise ValueError(
                f"{path} has the format {stored.get('format')}, this coterie writes {_FORMAT}. "
                f"{elsewhere}"
            )
        return stored

    def _check_same_source(
        self,
        stored: dict[str, Any],
        fingerprint: dict[str, dict[str, Any]],
        entropy: Sequence[int] | None,
    ) -> None:
        different = []
        for section, mine in fingerprint.items():
            theirs = stored.get(section, {})
            different += [
                f"{section}: {name} was {_show(theirs, name)}, now {_show(mine, name)}"
                for name in dict.fromkeys([*theirs, *mine])
                if _show(theirs, name) != _show(mine, name)
            ]
        if entropy is not None and list(entropy) != stored["entropy"]:
            different.append("random_state: another seed")
        if different:
            raise ValueError(
                f"checkpoint {self.directory} was made from something else and cannot be "
                f"continued:\n  " + "\n  ".join(different) + "\nUse another directory or delete "
                "this one."
            )

    def _remove_stale(self) -> None:
        for entry in self.directory.glob(".*"):
            if not _OWN_NAME.fullmatch(entry.name):
                continue
            try:
                if time.time() - entry.stat().st_mtime > _STALE_SECONDS:
                    entry.unlink()
            except FileNotFoundError:
                continue


# --- what a run is made from ------------------------------------------------------------------


def describe_data(X: Any) -> dict[str, Any]:
    """Return shape, dtype and a hash of the bytes of an array or sparse matrix."""
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return {
        "shape": [int(n) for n in X.shape],
        "dtype": str(X.dtype),
        "sparse": bool(sparse.issparse(X)),
        "sha256": _hash_arrays(*parts),
    }


def describe_estimators(estimators: Sequence[Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parameters of base estimators by name, and the versions that matter to them.

    The number of clusters and the seeds are left out, because every run sets them; so are
    parameters that have no influence on labels.
    """
    parameters: dict[str, Any] = {}
    versions = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    for i, estimator in enumerate(estimators):
        parameters[f"estimators[{i}]"] = _class_name(type(estimator))
        drawn = number_parameter(estimator)
        for name, value in sorted(estimator.get_params().items()):
            if name != drawn and name.split("__")[-1] not in _NO_INFLUENCE:
                parameters[f"estimators[{i}].{name}"] = describe_value(value, deep=False)
        for part in (estimator, *estimator.get_params().values()):
            package = type(part).__module__.partition(".")[0]
            version = getattr(sys.modules.get(package), "__version__", None)
            if hasattr(part, "get_params") and package != "sklearn" and version is not None:
                versions[package] = str(version)
    return parameters, versions


def describe_value(value: Any, *, deep: bool = True) -> Any:
    """Return something JSON can hold that is the same for the same value in another process.

    Nested estimators are described by their class alone if `deep` is False: their parameters
    are listed beside them.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return describe_value(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, list | tuple | range):
        return [describe_value(item, deep=deep) for item in value]
    if isinstance(value, dict):
        return {str(key): describe_value(item, deep=deep) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return f"array of {value.dtype} {list(value.shape)} {_hash_arrays(value)[:16]}"
    if sparse.issparse(value):
        return "sparse " + json.dumps(describe_data(value.tocsr()))
    if isinstance(value, type):
        return _class_name(value)
    if hasattr(value, "get_params"):
        name = _class_name(type(value))
        return [name, describe_value(value.get_params())] if deep else name
    if isinstance(value, functools.partial):
        return describe_value([value.func, list(value.args), value.keywords])
    if callable(value) and hasattr(value, "__qualname__"):
        return _describe_function(value)
    return f"{_class_name(type(value))} {_without_addresses(repr(value))}"


def _describe_function(function: Any) -> str:
    name = f"{function.__module__}.{function.__qualname__}"
    code = getattr(function, "__code__", None)
    if code is None:
        return name
    body = code.co_code + _without_addresses(repr((code.co_consts, code.co_names))).encode()
    return f"{name} {hashlib.sha256(body).hexdigest()[:16]}"


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _hash_arrays(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _digest_of(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _is_manifest(stored: Any) -> bool:
    """Whether JSON is a manifest of this or a later format."""
    if not isinstance(stored, dict) or stored.get("what") != _WHAT:
        return False
    entropy = stored.get("entropy")
    return (
        isinstance(entropy, list)
        and len(entropy) > 0
        and all(type(word) is int and word >= 0 for word in entropy)
        and all(isinstance(stored.get(section, {}), dict) for section in _SECTIONS)
    )


def _show(values: dict[str, Any], name: str) -> str:
    return json.dumps(values[name]) if name in values else "absent"
