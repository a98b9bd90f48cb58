"""MATLAB files of label matrices, as researchers publish them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MatFile", "read_mat"]


class MatFile(NamedTuple):
    """The numeric variables of a MATLAB file."""

    name: str
    matrices: dict[str, NDArray[Any]]
    """Two-dimensional, more than one row and column."""
    vectors: dict[str, NDArray[Any]]
    """One-dimensional, or with one row or column."""
    cells: tuple[str, ...] = ()
    """Cell arrays that hold something else than numeric vectors of the same length."""

    def labels(self, variable: str | None = None) -> tuple[str, NDArray[Any]]:
        """Return the name and the values of the label matrix.

        Parameters
        ----------
        variable : str, optional
            Name of the variable. Default: the only matrix of whole numbers.
        """
        if variable is None:
            found = [name for name, matrix in self.matrices.items() if _is_whole(matrix)]
            if len(found) != 1:
                raise ValueError(
                    f"{self.name} must hold one matrix of whole numbers to be read without a "
                    f"name; it holds {len(found)}. Name the variable: it has {self._described()}."
                )
            variable = found[0]
        every = self.matrices | {
            name: values.reshape(-1, 1) for name, values in self.vectors.items()
        }
        if variable not in every:
            raise ValueError(
                f"variable must name a variable of {self.name}; got {variable!r}. It has "
                f"{self._described()}."
            )
        return variable, every[variable]

    def vector(self, variable: str, n_objects: int) -> NDArray[Any]:
        """Return a variable with one value for each object, such as the true classes."""
        if variable not in self.vectors:
            raise ValueError(
                f"{variable!r} is no vector in {self.name}, which has {self._described()}."
            )
        values = self.vectors[variable]
        if len(values) != n_objects:
            raise ValueError(
                f"{variable!r} must have one value for each of the {n_objects} rows of the label "
                f"matrix; it has {len(values)}. Objects are rows, and clusterings are columns."
            )
        return values

    def _described(self) -> str:
        sizes = [
            f"{name} ({' x '.join(map(str, values.shape))})"
            for name, values in (self.matrices | self.vectors).items()
        ]
        known = ", ".join(sizes) or "no numeric variable"
        if not self.cells:
            return known
        return (
            f"{known}, and cell arrays that are no label vectors of the same length "
            f"({', '.join(self.cells)}). In MATLAB, turn text into numbers with findgroups, and "
            "cells into a matrix with horzcat(runs{:})"
        )


def read_mat(path: str | os.PathLike[str]) -> MatFile:
    """Read the numeric variables of a MATLAB file (up to version 7.2).

    A cell array of label vectors of the same length is a matrix, with a column for each cell.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    name = os.fspath(path)
    try:
        content = loadmat(name, appendmat=False)
    except NotImplementedError as error:
        raise ValueError(
            f"{name} is a MATLAB 7.3 file (HDF5), which cannot be read. In MATLAB, save it with "
            "save(..., '-v7')."
        ) from error
    except (MatReadError, ValueError, TypeError, EOFError, KeyError, IndexError) as error:
        raise ValueError(f"{name} cannot be read as a MATLAB file: {error}.") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # SciPy's own, where the file ends before its numbers do
        raise ValueError(f"{name} cannot be read as a MATLAB file: {error}.") from error
    matrices, vectors, cells = {}, {}, []
    for variable, values in content.items():
        if variable.startswith("__") or not isinstance(values, np.ndarray):
            continue
        if values.dtype.kind == "O":
            columns = [_vector(cell) for cell in values.ravel()]
            lengths = {len(column) for column in columns}
            if len(lengths) == 1 and lengths != {0}:
                matrices[variable] = np.column_stack(columns)
            else:
                cells.append(variable)
            continue
        if values.dtype.kind not in "biuf" or values.ndim != 2 or not values.size:
            continue
        if 1 in values.shape:
            vectors[variable] = values.ravel()
        else:
            matrices[variable] = values
    return MatFile(name, matrices, vectors, tuple(cells))


def _vector(cell: Any) -> NDArray[Any]:
    """Return the numeric vector that a cell holds; an empty one if it holds something else."""
    values = np.asarray(cell)
    is_vector = values.dtype.kind in "biuf" and values.size and max(values.shape) == values.size
    return values.ravel() if is_vector else np.empty(0)


def _is_whole(values: NDArray[Any]) -> bool:
    """Return whether all values are whole numbers, or missing."""
    known = values[np.isfinite(values)]
    return bool((known == np.floor(known)).all())
