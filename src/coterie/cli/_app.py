"""The application: it runs the commands, and turns failures into one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from coterie import __version__
from coterie._limits import format_bytes
from coterie.cli._commands import COMMANDS
from coterie.cli._errors import InputError, one_line
from coterie.cli._options import with_groups

__all__ = ["app", "run"]

BAD_INPUT, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141

# Where click's exceptions live depends on the version of typer; a public name leads there.
_ClickError: type[Exception] = typer.BadParameter.__mro__[2]
_DEBUG = "COTERIE_DEBUG"
_LEAST_ADDRESS_SPACE = 2 * 1024**3


class _Commands(TyperGroup):
    """The group of commands, which turns every failure into one line and an exit code."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, **settings: Any
    ) -> Any:
        """Run a command and exit."""
        args = list(sys.argv[1:] if args is None else args)
        if "--debug" in args:
            args.remove("--debug")
            os.environ[_DEBUG] = "1"
        settings["standalone_mode"] = False
        self._resume_hint = _resume_hint(args)
        try:
            if not {"-h", "--help", "--version"} & set(args):
                _check_address_space()
            code = super().main(args=args, **settings)
            sys.stdout.flush()
        except _ClickError as error:
            code = _fail(_usage_message(error, args), BAD_INPUT, error)
        except InputError as error:
            code = _fail(error, BAD_INPUT, error)
        except OSError as error:
            code = _fail_at_file(error)
        except (KeyboardInterrupt, typer.Abort):  # before the command had begun
            code = _fail(f"interrupted.{self._resume_hint}", INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was parsed."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (_ClickError, typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as error:
            hint = f" {error}" if str(error) else self._resume_hint
            raise typer.Exit(_fail(f"interrupted.{hint}", INTERRUPTED)) from None
        except BrokenPipeError:
            # The reader of a pipe has closed it.
            _drop_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except InputError as error:
            raise typer.Exit(_fail(error, BAD_INPUT, error)) from None
        except ChildProcessError as error:  # workers were killed again and again
            raise typer.Exit(_fail(f"{error}{self._resume_hint}", BAD_INPUT, error)) from None
        except OSError as error:
            raise typer.Exit(_fail_at_file(error)) from None
        except MemoryError as error:
            message = f"there is not enough memory. {error}"
            raise typer.Exit(_fail(message, BAD_INPUT, error)) from None
        except Exception as error:
            raise typer.Exit(_fail(_internal_error(error), INTERNAL, error)) from None
        return result


def _fail(message: object, code: int, error: BaseException | None = None) -> int:
    """Print one line (with COTERIE_DEBUG the traceback before it) and return the exit code."""
    if error is not None and os.environ.get(_DEBUG):
        traceback.print_exception(error)
    print(f"coterie: {one_line(message)}", file=sys.stderr)
    return code


def _fail_at_file(error: OSError) -> int:
    """Print one line on a file or stream that cannot be read or written."""
    if error.errno is None:  # our own error, with a complete message
        return _fail(error, BAD_INPUT, error)
    if error.filename:
        return _fail(f"{error.filename}: {error.strerror}", BAD_INPUT, error)
    _drop_output()
    if error.errno == errno.EBADF:
        return _fail("standard input or output is closed.", BAD_INPUT, error)
    return _fail(f"cannot read or write: {error.strerror}.", BAD_INPUT, error)


def _drop_output() -> None:
    """Discard further output, so that Python does not fail to write it at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _internal_error(error: Exception) -> str:
    """Return the message for an unexpected error."""
    what = f"{type(error).__name__}: {error}"
    limit = _address_space()
    if limit is not None:
        return (
            f"{one_line(what).rstrip('.')}. The address space is limited to "
            f"{format_bytes(limit)}, which may be too little; try 'ulimit -v unlimited'."
        )
    return (
        f"internal error: {what}. This should not happen; please report it, with what "
        f"{_DEBUG}=1 prints in addition."
    )


def _check_address_space() -> None:
    """Raise InputError if the address space is too small to load the libraries."""
    limit = _address_space()
    if limit is not None and limit < _LEAST_ADDRESS_SPACE:
        raise InputError(
            f"the address space is limited to {format_bytes(limit)}, and coterie needs "
            f"{format_bytes(_LEAST_ADDRESS_SPACE)} or more; raise the limit, for example with "
            "'ulimit -v unlimited'."
        )


def _address_space() -> int | None:
    """Return the limit of the address space in bytes, None without one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _usage_message(error: Any, args: Sequence[str]) -> str:
    """Return typer's message on wrong arguments, with a hint and where the help is."""
    message = one_line(error.format_message())
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "coterie"
    message = message.replace("Value error, ", "").rstrip(".")
    message += "" if message.endswith("?") else "."
    return f"{message}{_hint(message, args)} See '{where} --help'."


def _hint(message: str, args: Sequence[str]) -> str:
    """Return a hint for mistakes that are common."""
    if "'--clusters'" in message and "greater than" in message:
        return " Leave the option out, and the number is chosen from the data."
    if "valid number" in message and any(re.search(r"\d,\d", word) for word in args):
        return " Write a decimal point instead of the comma."
    return ""


def _resume_hint(args: Sequence[str]) -> str:
    """Return how to continue the command after an interruption."""
    if args[:1] not in (["cluster"], ["compare"]):
        return ""
    for word, following in pairwise([*args, ""]):
        name, _, value = word.partition("=")
        if name == "--checkpoint":
            return f" The same command continues from {value or following}."
    return " With --checkpoint DIR the same command could have continued."


app = typer.Typer(
    name="coterie",
    cls=_Commands,
    help="Cluster ensembles: many clusterings of the same objects in, one you can trust out.",
    epilog="Start with: coterie demo",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help_of(command: Callable[..., None]) -> str:
    """Return a docstring with one line per paragraph, so that a terminal of any width wraps it."""
    return "\n\n".join(one_line(text) for text in inspect.getdoc(command).split("\n\n"))  # type: ignore[union-attr]


for _command in COMMANDS:
    app.command(_command.__name__, help=_help_of(_command))(with_groups(_command))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"coterie {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback with errors (or COTERIE_DEBUG=1).")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def run() -> None:
    """Run the command line."""
    _open_standard_streams()
    app(prog_name="coterie")


def _open_standard_streams() -> None:
    """Reopen standard streams that were closed, so that no file gets their descriptors.

    Writing to standard output then fails with a message.
    """
    modes = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for number, (name, mode) in enumerate(modes.items()):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, mode), number)
            if name != "stdin":
                setattr(sys, name, os.fdopen(number, "w", closefd=False))
