"""The command `trencadis`: the frame around its commands, and what their errors become.

Exit codes: 0 done, 1 a numerical failure was reported (singular, not positive definite) or a sweep found a cliff, 2 bad usage or
input, 130 interrupted.
Errors are one line on standard error; with TRENCADIS_VERBOSE=1 the traceback comes before it. Output that nobody reads (a closed
pipe, a closed standard output) is no error.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from . import __version__, mpi, patience
from .errors import BackendError, LinAlgError
from .words import prepared

EXIT_NUMERICAL = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

#: The module that registers each command, in the order of --help.
_COMMANDS = {
    "machine": "machine_commands", "list": "machine_commands",
    "solve": "solve_commands", "factor": "solve_commands",
    "bench": "bench_commands", "compare": "bench_commands", "trace": "bench_commands", "demo": "bench_commands",
    "compare-engines": "engine_commands",
    "simulate": "simulate_commands", "scaling": "scaling_commands", "graph": "graph_commands",
    "tune": "choice_commands", "explain": "choice_commands",
    "campaign": "campaign_commands", "report": "report_commands",
    "reproduce": "reproduce_commands", "growth": "growth_commands", "sweep": "sweep_commands",
}  # fmt: skip


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"trencadis {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def application(words: Sequence[str] = ()) -> typer.Typer:
    """The command that these words name, or all, where they name none: most of the time that a command takes to begin is spent
    on loading what others need."""
    app = typer.Typer(
        name="trencadis",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=False,
        rich_markup_mode="rich",
        help="Dense linear algebra at the speed of the machine you really have.",
    )
    app.callback()(_root)
    named = next((word for word in words if not word.startswith("-")), None)
    for module in [_COMMANDS[named]] if named in _COMMANDS else dict.fromkeys(_COMMANDS.values()):
        import_module(f".{module}", __package__).register(app)
    return app


# typer does not name the base class of its usage errors.
_ClickException = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def _end_soon_when_interrupted() -> None:
    """Ctrl-C ends the command within a second, also inside a call that looks at signals only when it returns, as NumPy's do.

    The interpreter's own handler goes first. Outputs are written beside their place and renamed, so an end at any moment leaves
    none half-written; children end with their parent. What belongs to the whole machine is put back first, however often
    Ctrl-C is pressed.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while (number := os.read(reader, 1)) != bytes([signal.SIGINT]):
            if not number:
                return
        select.select([reader], [], [], patience.seconds())  # or until the next signal
        patience.wait_for_holders()
        os.write(sys.stderr.fileno(), b"trencadis: interrupted\n")
        os._exit(EXIT_INTERRUPTED)

    threading.Thread(target=watch, daemon=True).start()


def _provide_streams() -> None:
    """Standard streams that can take whatever is printed.

    One that the caller has closed would leave its number to the next file that is opened; and a name that the terminal's
    encoding lacks would make a failure of a command that has done its work.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    if arguments is not None:
        return _code_of(arguments)
    _provide_streams()  # the process is ours
    _end_soon_when_interrupted()
    try:
        return _code_of(sys.argv[1:])
    finally:
        _let_go_of_streams()


def _code_of(arguments: list[str]) -> int:
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        return 0  # whoever read our output has gone; nothing can be said to them
    except _ClickException as error:
        return _fail(error.format_message() or "no command given; see trencadis --help", EXIT_USAGE)
    except LinAlgError as error:
        return _fail(str(error), EXIT_NUMERICAL)
    except MemoryError as error:
        return _fail(f"out of memory: {error}" if str(error) else "out of memory", EXIT_USAGE)
    except (ValueError, BackendError, RuntimeError, OSError) as error:
        return _fail(str(error), EXIT_USAGE)


def _let_go_of_streams() -> None:
    """Where nobody reads them any more, the interpreter must not try again at its exit: it would answer 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(arguments: list[str]) -> int:
    """As typer's own `main`, which makes 1 of a closed pipe, as rich does: that is a numerical failure here."""
    command = typer.main.get_command(application(arguments))
    try:
        with command.make_context("trencadis", prepared(command, arguments)) as context:
            code = command.invoke(context)
    except typer.Exit as end:
        code = end.exit_code
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    if code != EXIT_INTERRUPTED:
        mpi.let_the_first_speak()
    with suppress(OSError):  # nobody may be there to read it, or the disk may be full
        if os.environ.get("TRENCADIS_VERBOSE", "0") not in ("", "0"):
            traceback.print_exc()
        print("trencadis: " + " ".join(message.split()), file=sys.stderr, flush=True)
    return code
