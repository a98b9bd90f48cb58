"""Calls from R through reticulate, whose lists of vectors arrive as nested Python lists."""

from __future__ import annotations

import sys

__all__ = ["R_MISSING_TEXT", "called_from_r"]

R_MISSING_TEXT = "NA"
"""What reticulate makes of a missing string; the missing integer is -2147483648."""
_OURS = frozenset({"coterie", "sklearn", "rpytools"})


def called_from_r() -> bool:
    """Whether R called this library directly, and not Python code that runs inside R.

    reticulate is there, and no code of a user is on the stack. Python code in an R notebook keeps
    Python's meaning of nested lists.
    """
    if "rpytools" not in sys.modules:  # a module of reticulate
        return False
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _OURS
