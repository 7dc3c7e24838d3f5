"""The command `upright`. A command translates: arguments in, one library call, one rendering out."""

import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from validation.version import __version__

COMMANDS = {
    "run": "Simulate scenarios on engines, measure and store; no name: the canonical suite.",
    "check": "Run, compare with what was accepted, and report what got worse (exit status 1).",
    "ci": "What a CI job runs on each commit: check against the merge base, with reports as files.",
    "accept": "Make a run's measurements the baseline, with a reason.",
    "regressions": "List what is worse: metric, old, new, evidence, first bad commit, and what it means.",
    "mark": "Mark a group of regressions as known, quarantined, rejected, not a fault ...",
    "undo": "Take back an entry of the ledger.",
    "ledger": "List who accepted or marked what, when and why.",
    "bisect": "Find the commit that made a case worse.",
    "show": "Show one case: its numbers, and its motion as a page, a GIF or a picture.",
    "history": "Show the metrics of a case over the runs: steps, drift, and since which commit.",
    "compare": "Compare two versions or settings of an engine: better, worse, or merely different.",
    "versions": "Run scenarios on the releases of an engine: what changed from one to the next.",
    "probe": "Try a model of your own on versions of an engine: settle, hold, drop, push, tip.",
    "import": "Make a scene of a model of your own, for runs across engines, and say what does not carry over.",
    "scenarios": "List the scenarios, or print one of them.",
    "engines": "List the engines, their profiles and settings.",
    "fuzz": "Search random scenes for one in which an engine breaks a law of physics.",
    "queries": "Ask an engine for contacts and distances of two shapes in thousands of poses, and check them.",
    "passport": "What an engine's bits depend on: processes, threads, the processor, the order of bodies.",
    "finds": "List what fuzzing found, and replay it.",
    "dashboard": "Open the dashboard in a browser.",
    "play": "Play with a scenario in a browser: change it, run it on several engines, pull at it.",
    "results": "Export what is stored, remove the motions of old runs, go back to an older Upright.",
    "schema": "Print the JSON Schema of scene files.",
    "completion": "Print the completion script for a shell.",
}
BESIDE = {"import": "importing", "undo": "ledger", "finds": "fuzz", "schema": "scenarios", "play": "dashboard"}
"""Command -> the file in which it stands where that has another name; there it has its own, or is called `command`."""

SIMULATING = ("run", "check", "ci")  # whose servers' imports begin at once
LONGEST = 2000  # characters of an error


class LazyGroup(click.Group):
    """Imports a command's module when it is used: help and errors come at once."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"validation.cli.{BESIDE.get(name, name)}")
        found: click.Command = getattr(module, name if hasattr(module, name) else "command")
        return found

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            from validation.cli.arguments import near_miss

            raise click.UsageError(
                f"unknown command {args[0]!r}{near_miss(args[0], COMMANDS)} (commands: {', '.join(COMMANDS)})"
            )
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


EPILOG = """\b
Examples:
  upright run                                        the canonical suite on every engine present
  upright run stack:n=10 --engine pymunk --engine reference
  upright run my_scene.json --engine pymunk:iterations=5
  upright accept --reason "first look"  then  upright check

\b
Scenarios: NAME, NAME:k=v,k=v, or a scene file.
Engines:   NAME, dotted.path.to.Class or ./executable, then ==VERSION, @PROFILE, :k=v,k=v as needed.
Exit status: 0 nothing worse; 1 something regressed or newly broke; 2 bad usage, or nothing could be run."""


@click.group(
    cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="upright")
def cli() -> None:
    """Upright finds out whether a physics engine lets bodies rest: canonical scenes with exact truths, run on the
    engines that you use, measured with our own geometry, compared with what you accepted before."""


def main() -> None:
    """Entry point: errors are one line on standard error, tracebacks only with UPRIGHT_DEBUG=1."""
    from validation.cli.stopping import stop_again, stop_as_with_ctrl_c, stopped_status
    from validation.running.kernel_cache import use_kernel_cache

    gc.set_threshold(50_000, 20, 20)  # modules and results stay: looking for cycles in them took a tenth of the time
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:
        click.echo("the current folder is gone; go to another one: cd ~", err=True)
        sys.exit(2)
    _last_on_path(folder)
    if threading.current_thread() is threading.main_thread():  # no other one gets signals
        signal.signal(signal.SIGTERM, stop_as_with_ctrl_c)
        sys.unraisablehook = stop_again
    try:
        use_kernel_cache()
        if _simulates_here(sys.argv[1:]):
            from validation.running.processes import template

            template.begin()
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        sys.exit(stopped_status())
    except click.ClickException as error:
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"  ({error.ctx.command_path} --help)"
        click.echo(f"{printable(error.format_message())}{hint}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except Exception as error:
        if os.environ.get("UPRIGHT_DEBUG"):
            raise
        click.echo(printable(one_line(error)), err=True)
        sys.exit(2)


def _simulates_here(words: Sequence[str]) -> bool:
    """Whether it is a command whose cases processes of this machine simulate: before click, whose imports take long."""
    from validation.running.options import LOCAL

    executor = os.environ.get("UPRIGHT_EXECUTOR") or LOCAL
    for word, following in pairwise((*words, "")):
        name, given, value = word.partition("=")
        if name == "--executor":
            executor = value if given else following
    return executor == LOCAL and "--help" not in words and bool(words) and words[0] in SIMULATING


def _last_on_path(folder: str) -> None:
    """A user's own engine is found in the current folder, but never before ours: a folder there may be called
    `validation` too."""
    sys.path[:] = [entry for entry in sys.path if entry not in ("", folder)] + [folder]


def printable(text: str) -> str:
    """A message that may repeat whatever was typed: nothing in it moves the cursor, and it has an end."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def one_line(error: Exception) -> str:
    """Errors that a caller can act on stand as they are; anything else is reported as an internal error."""
    from scenarios.scenario import ParameterError
    from scenarios.scene_error import SceneError
    from validation.cli.arguments import EXPECTED_ERRORS

    words = " ".join((error.format_message() if isinstance(error, click.ClickException) else str(error)).split())
    if isinstance(error, (SceneError, ParameterError, click.ClickException, *EXPECTED_ERRORS)):
        return words
    if isinstance(error, OSError) and error.strerror:  # of the machine: no room, no right, nothing there
        return f"{error.filename or 'standard output, or a file'}: {error.strerror.lower()}"
    return f"internal error: {type(error).__name__}: {words}  (UPRIGHT_DEBUG=1 shows where; please report it)"
