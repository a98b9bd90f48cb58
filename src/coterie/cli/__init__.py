"""The command line: parse, call the library, print. One file per command.

Nothing heavy is imported here, so that ``coterie --help`` is quick; commands import the library
when they run.
"""

from coterie.cli._app import app, main

__all__ = ["app", "main"]
