"""Errors that end a command with one line, and their messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

__all__ = ["InputError", "did_you_mean", "one_line", "refused_input"]


class InputError(Exception):
    """Bad input: exit code 2 and this message on one line."""


@contextmanager
def refused_input(names: Mapping[str, str] | None = None) -> Iterator[None]:
    """Turn the library's errors on bad input into an `InputError`.

    `names` maps parameters of the library to options of the command line.
    """
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        message = str(error)
        for parameter, option in (names or {}).items():
            message = re.sub(rf"\b{parameter}\b", option, message)
        raise InputError(message) from error


def one_line(text: object) -> str:
    """Return a text without line breaks."""
    return " ".join(str(text).split())


def did_you_mean(given: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ' Did you mean 'x'?' for the nearest known name, or nothing."""
    names = {name.casefold(): name for name in known}
    given = given.casefold()
    close = difflib.get_close_matches(given, names, cutoff=cutoff)
    close.sort(key=lambda name: sorted(name) != sorted(given))  # letters in another order first
    return f" Did you mean {names[close[0]]!r}?" if close else ""
