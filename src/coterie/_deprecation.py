"""Old names that still work for a while, with a warning that says what to use instead.

The policy is in docs/stability.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["renamed_attribute", "renamed_parameter"]

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed_attribute(module: str, name: str, renamed: dict[str, str], removed_in: str) -> str:
    """Return the new name of a renamed attribute, with a warning; call it from `__getattr__`.

    Parameters
    ----------
    module : str
        Name of the module, for the messages.
    name : str
        The attribute that was asked for.
    renamed : dict
        New name by old name.
    removed_in : str
        Version in which the old names go.

    Returns
    -------
    new_name : str
        Where the attribute is now. A name that was never there raises AttributeError.
    """
    if name not in renamed:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn(f"{module}.{name}", f"{module}.{renamed[name]}", removed_in)
    return renamed[name]


def renamed_parameter(old: str, new: str, removed_in: str) -> Callable[[Function], Function]:
    """Decorate a function or an `__init__` so that parameter `old` is still taken as `new`.

    The signature stays that of the function, so scikit-learn's `clone` and `get_params` see the
    new name only.

    Examples
    --------
    >>> @renamed_parameter("k", "n_clusters", removed_in="0.4")
    ... def cut(n_clusters=2):
    ...     return n_clusters
    >>> cut(n_clusters=3)
    3
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{old} is the former name of {new}; give {new} only.")
                _warn(f"parameter {old}", new, removed_in)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _warn(old: str, new: str, removed_in: str) -> None:
    """Warn at the line of the user's code that has the old name."""
    message = f"{old} is now {new}; the old name goes in version {removed_in}."
    warnings.warn(message, FutureWarning, stacklevel=3)
