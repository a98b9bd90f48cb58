"""Checks of parameters, with the same words everywhere: name, rule, what came."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

__all__ = ["check_choice", "check_integer", "check_number"]


def check_integer(name: str, value: Any, *, at_least: int) -> None:
    """Raise unless the value is an integer of at least `at_least`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer; got {value!r} ({type(value).__name__}).")
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}; got {value}.")


def check_number(name: str, value: Any, *, positive: bool = False) -> None:
    """Raise unless the value is a number that is not negative, or is positive."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number; got {value!r} ({type(value).__name__}).")
    number = float(value)  # so that NaN fails below
    if positive and not number > 0:
        raise ValueError(f"{name} must be positive; got {value}.")
    if not number >= 0:
        raise ValueError(f"{name} must not be negative; got {value}.")


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        known = ", ".join(map(repr, choices[:-1]))
        raise ValueError(f"{name} must be {known} or {choices[-1]!r}; got {value!r}.")
