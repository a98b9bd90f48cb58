"""The application: its commands, and what happens when one fails."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from coterie.cli import (
    choose,
    cluster,
    compare,
    consense,
    demo,
    explain,
    info,
    predict,
    report,
    reproduce,
)
from coterie.cli._errors import InputError, one_line

__all__ = ["app", "main"]

BAD_INPUT, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141

# Where click's exceptions live depends on the version of typer; a public name leads there.
_ClickError: type[Exception] = typer.BadParameter.__mro__[2]
_DEBUG = "COTERIE_DEBUG"


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
        try:
            code = super().main(args=args, **settings)
        except _ClickError as error:
            code = _fail(_usage_message(error), BAD_INPUT, error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was parsed."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (_ClickError, typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as error:
            raise typer.Exit(_fail(_interrupted(error), INTERRUPTED)) from None
        except BrokenPipeError:
            # Whoever read our output has seen enough. Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except InputError as error:
            raise typer.Exit(_fail(error, BAD_INPUT, error)) from None
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else error
            raise typer.Exit(_fail(what, BAD_INPUT, error)) from None
        except Exception as error:
            message = (
                f"internal error: {type(error).__name__}: {error}. This should not happen; "
                f"please report it, with what {_DEBUG}=1 prints in addition."
            )
            raise typer.Exit(_fail(message, INTERNAL, error)) from None
        return result


def _fail(message: object, code: int, error: BaseException | None = None) -> int:
    """Print one line (with COTERIE_DEBUG the traceback before it) and return the exit code."""
    if error is not None and os.environ.get(_DEBUG):
        traceback.print_exception(error)
    print(f"coterie: {one_line(message)}", file=sys.stderr)
    return code


def _usage_message(error: Any) -> str:
    """Return what typer says about wrong arguments, and where to read on."""
    message = one_line(error.format_message())
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "coterie"
    message = message.replace("Value error, ", "").rstrip(".")
    return f"{message}{'' if message.endswith('?') else '.'} See '{where} --help'."


def _interrupted(error: KeyboardInterrupt) -> str:
    hint = str(error)
    return f"interrupted. {hint}" if hint else "interrupted."


app = typer.Typer(
    name="coterie",
    cls=_Commands,
    help="Cluster ensembles: many clusterings of the same objects in, one you can trust out.",
    epilog="Start with: coterie demo",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("cluster")(cluster.cluster)
app.command("predict")(predict.predict)
app.command("consense")(consense.consense)
app.command("choose")(choose.choose)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("explain")(explain.explain)
app.command("reproduce")(reproduce.reproduce)
app.command("info")(info.info)


def _print_version(wanted: bool) -> None:
    if wanted:
        from coterie import __version__

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


def main() -> None:
    """Run the command line; the entry point ``coterie``."""
    app(prog_name="coterie")
