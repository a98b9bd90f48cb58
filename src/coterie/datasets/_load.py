"""Data sets by name: from files, from scikit-learn, or generated."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._encode import encode_column
from coterie._mat import read_mat
from coterie._reading import read_csv
from coterie.datasets import _synthetic

__all__ = ["DATA_VARIABLE", "Dataset", "available", "load"]

DATA_VARIABLE = "COTERIE_DATA"  # names the folder of data files

_LABEL = "label"
_SUFFIXES = (".csv", ".csv.gz", ".mat")  # in the order of preference
_NULLS = ["", "NA", "NaN", "nan", "?"]
_SEED = 0

_SHIPPED = {  # name here: loader in sklearn.datasets
    "digits": "load_digits",
    "iris": "load_iris",
    "optdigits_test": "load_digits",
    "wdbc": "load_breast_cancer",
    "wine": "load_wine",
}

_MADE: dict[str, tuple[Callable[..., tuple[NDArray[Any], NDArray[Any]]], dict[str, Any]]] = {
    "cigar": (_synthetic.make_cigar, {}),
    "complex_image": (_synthetic.make_complex_image, {}),
    "half_rings": (_synthetic.make_half_rings, {}),
    "noisy_classes": (_synthetic.make_noisy_classes, {}),
    "three_gaussian": (_synthetic.make_three_gaussian, {}),
    "three_paths": (_synthetic.make_three_paths, {}),
    "two_gaussian": (_synthetic.make_two_gaussian, {}),
    # As in the file two_spirals.csv of the benchmark data, so that a name means one data set.
    "two_spirals": (_synthetic.make_two_spirals, {"noise": 0.1, "spacing": "angle"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A data set with known classes; its fields are read-only.

    Attributes
    ----------
    name : str
        The name it was asked for by.
    data : ndarray of float64, shape (n_samples, n_features)
        The features; NaN where a value is missing.
    target : ndarray of int64, shape (n_samples,)
        The class of each object, an index into `target_names`; -1 for outliers and for objects
        whose class is not known.
    feature_names : tuple of str
        One name per column of `data`.
    target_names : tuple of str
        One name per class.
    description : str
        Where the data come from.

    Examples
    --------
    >>> from coterie.datasets import load
    >>> iris = load("iris")
    >>> iris
    Dataset('iris', 150 objects, 4 features, 3 classes)
    >>> iris.target_names
    ('setosa', 'versicolor', 'virginica')
    """

    name: str
    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    description: str

    def __repr__(self) -> str:
        n_samples, n_features = self.data.shape
        return (
            f"Dataset({self.name!r}, {n_samples} objects, {n_features} features, "
            f"{len(self.target_names)} classes)"
        )


def load(
    name: str, directory: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Dataset:
    """Load a data set by name.

    The first of these that has the name is used: a file ``<name>.csv``, ``<name>.csv.gz`` or
    ``<name>.mat`` in `directory`; the sets that scikit-learn ships (iris, wine, wdbc, digits, also
    called optdigits_test); the synthetic sets of this package, made with seed 0; and, unless
    `download` is false, OpenML.

    Parameters
    ----------
    name : str
        Name of the set; see `available`.
    directory : path, optional
        Folder of data files. By default the one that the environment variable ``COTERIE_DATA``
        names, if it is set.
    download : bool, default=True
        Whether to ask OpenML for a name that is found nowhere else. This is the only thing in
        the library that uses the network.

    Returns
    -------
    dataset : Dataset
        The data, its classes, their names and a description.

    Raises
    ------
    ValueError
        If no set has that name, or a file is not of the form below.
    NotADirectoryError
        If `directory`, or the folder ``COTERIE_DATA`` names, does not exist.
    ConnectionError
        If the set had to be downloaded and could not be.

    Notes
    -----
    A file has a header, numeric feature columns and a last column ``label``. Empty cells, ``NA``,
    ``NaN`` and ``?`` are missing: NaN in a feature, -1 in the label. Labels may be integers or
    words; classes are numbered in the order of the sorted labels, and the label -1 stays -1.
    A MATLAB file is a pool of clusterings as researchers publish them: one matrix of labels, which
    become the features, and one vector of classes.

    Examples
    --------
    >>> from coterie.datasets import load
    >>> complex_image = load("complex_image")
    >>> complex_image
    Dataset('complex_image', 743 objects, 2 features, 7 classes)
    >>> complex_image.data.shape
    (743, 2)
    """
    _check_name(name)
    folder = _folder(directory)
    if folder is not None:
        for suffix in _SUFFIXES:
            path = folder / (name + suffix)
            if path.is_file():
                return (_read_pool if suffix == ".mat" else _read)(name, path)
    if name in _SHIPPED:
        return _shipped(name)
    if name in _MADE:
        return _made(name)
    if download:
        return _download(name, folder)
    raise ValueError(
        f"No data set is called {name!r}. {_help(name, folder)} Or pass download=True to ask "
        "OpenML for it."
    )


def available(directory: str | os.PathLike[str] | None = None) -> list[str]:
    """List the names that `load` finds without a download.

    Parameters
    ----------
    directory : path, optional
        Folder of data files. By default the one that the environment variable ``COTERIE_DATA``
        names, if it is set.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from coterie.datasets import available
    >>> {"iris", "two_spirals"} <= set(available())
    True
    """
    return sorted({*_files(_folder(directory)), *_SHIPPED, *_MADE})


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name must be a string; got {name!r}.")
    if not name or name.startswith(".") or "/" in name or "\\" in name:
        raise ValueError(
            f"name must be the name of a data set, not a path; got {name!r}. For a file, pass "
            "its folder as directory and its name without .csv."
        )


def _folder(directory: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder to look in, or None where none is set."""
    if directory is not None:
        folder, origin = Path(directory), "directory"
    elif os.environ.get(DATA_VARIABLE):
        folder, origin = (
            Path(os.environ[DATA_VARIABLE]),
            f"The environment variable {DATA_VARIABLE}",
        )
    else:
        return None
    if not folder.is_dir():
        raise NotADirectoryError(f"{origin} must name a folder of data files; got {str(folder)!r}.")
    return folder


def _files(folder: Path | None) -> set[str]:
    """Return the names of the data files in a folder."""
    if folder is None:
        return set()
    return {
        entry.name.removesuffix(suffix)
        for entry in folder.iterdir()
        for suffix in _SUFFIXES
        if entry.name.endswith(suffix) and not entry.name.startswith(".") and entry.is_file()
    }


def _help(name: str, folder: Path | None) -> str:
    """Say where a name was looked for, which names are near, and what to do."""
    known = {*_files(folder), *_SHIPPED, *_MADE}
    tidy = name.lower().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(tidy, sorted(known), n=3, cutoff=0.6)
    where = (
        f"The folder {str(folder)!r} has no file {name}.csv, {name}.csv.gz or {name}.mat"
        if folder is not None
        else f"No folder of data files is set (environment variable {DATA_VARIABLE})"
    )
    guess = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return (
        f"{where}, and neither scikit-learn nor the generators have it.{guess} See "
        f"coterie.datasets.available(), or set {DATA_VARIABLE} or pass directory to name the "
        "folder that holds the file."
    )


def _read(name: str, path: Path) -> Dataset:
    """Read one CSV file."""
    import polars as pl  # as long to import as numpy, and needed for files only

    frame = read_csv(path, path)
    *features, label = frame.columns
    if not features or label != _LABEL:
        raise ValueError(
            f"{path} must have a header with at least one feature and the last column "
            f"{_LABEL!r}; got {len(frame.columns)} columns, the last {label!r}."
        )
    if frame.height == 0:
        raise ValueError(f"{path} holds a header but no objects.")
    cells = pl.all().str.strip_chars()
    frame = frame.select(pl.when(~cells.is_in(_NULLS)).then(cells))
    numbers = frame.select(pl.col(features).cast(pl.Float64, strict=False))
    for column in features:
        wrong = frame[column].is_not_null() & numbers[column].is_null()
        if wrong.any():
            row = wrong.arg_max() or 0
            raise ValueError(
                f"{path} cannot be read as a table of numbers: column {column!r} holds "
                f"{frame[column][row]!r} for object {row} (counted from 0)."
            )
    data = np.ascontiguousarray(numbers.fill_null(float("nan")).to_numpy())
    target, names = _encode(frame[label].to_list())
    return Dataset(name, data, target, tuple(features), names, f"Read from {path.name}.")


def _read_pool(name: str, path: Path) -> Dataset:
    """Read one MATLAB file: a matrix of labels and a vector of classes."""
    pool = read_mat(path)
    members = pool.labels()[1].astype(np.float64)
    if len(pool.vectors) != 1:
        raise ValueError(
            f"{path} must hold one vector, the classes; it has {', '.join(pool.vectors) or 'none'}."
        )
    (variable,) = pool.vectors
    target, names = _encode([str(value) for value in pool.vector(variable, len(members))])
    features = _texts(range(1, members.shape[1] + 1))
    return Dataset(name, members, target, features, names, f"Read from {path.name}.")


def _encode(labels: Sequence[str | None]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Give classes numbers in the order of the sorted labels: integers by value, else as text."""
    values: list[Any] = list(labels)
    with contextlib.suppress(ValueError):  # a label that is no integer: all are text
        values = [None if text is None else _whole(text) for text in labels]
    codes, categories = encode_column(np.array(values, dtype=object), 0)
    return codes.astype(np.int64), _texts(categories)


def _whole(text: str) -> int:
    """Read '3' or '3.0' as an integer."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def _shipped(name: str) -> Dataset:
    """Load a data set that scikit-learn brings along."""
    import sklearn.datasets

    loader = _SHIPPED[name]
    bunch = getattr(sklearn.datasets, loader)()
    return Dataset(
        name,
        np.array(bunch.data, dtype=np.float64, order="C"),
        np.array(bunch.target, dtype=np.int64),
        _texts(bunch.feature_names),
        _texts(bunch.target_names),
        f"Shipped with scikit-learn: sklearn.datasets.{loader}.",
    )


def _made(name: str) -> Dataset:
    """Make a synthetic data set with the fixed seed."""
    make, options = _MADE[name]
    X, y = make(random_state=_SEED, **options)
    call = ", ".join(
        f"{key}={value!r}" for key, value in {**options, "random_state": _SEED}.items()
    )
    summary = (inspect.getdoc(make) or "").split("\n")[0]
    return Dataset(
        name,
        X,
        y,
        tuple(f"x{column}" for column in range(1, X.shape[1] + 1)),
        _texts(range(int(y.max()) + 1)),
        f"{make.__name__}({call}). {summary}".strip(),
    )


def _download(name: str, folder: Path | None) -> Dataset:
    """Fetch the active version of a data set from OpenML."""
    from sklearn.datasets import fetch_openml

    try:
        # liac-arff and arrays need no pandas.
        bunch = fetch_openml(name=name, as_frame=False, parser="liac-arff", n_retries=0)
    except OSError as error:  # no network, or no answer
        raise ConnectionError(
            f"The data set {name!r} could not be downloaded from OpenML ({error}). "
            f"{_help(name, folder)}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"OpenML has no data set {name!r} that can be used ({error}). {_help(name, folder)}"
        ) from error
    if bunch.target is None:
        raise ValueError(f"The data set {name!r} of OpenML has no classes.")
    data = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
    labels = [None if _is_missing(value) else str(value) for value in bunch.target]
    target, names = _encode(labels)
    return Dataset(
        name,
        np.array(data, dtype=np.float64, order="C"),
        target,
        _texts(bunch.feature_names),
        names,
        f"Downloaded from OpenML, data set {bunch.details['id']}.",
    )


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
