"""The command line: parse, call the library, print. One file per command.

Nothing heavy is imported here, so that ``coterie --help`` is quick; commands import the library
when they run.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.cli._app import app as app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; the entry point ``coterie``."""
    try:
        from coterie.cli._app import run

        run()
    except KeyboardInterrupt:  # while modules were imported
        print("coterie: interrupted.", file=sys.stderr)
        sys.exit(130)


def __getattr__(name: str) -> Any:
    if name == "app":
        from coterie.cli._app import app

        return app
    raise AttributeError(f"module 'coterie.cli' has no attribute {name!r}")
