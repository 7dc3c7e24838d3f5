"""What the commands share: types of values, options, near misses, errors that a user can correct."""

from __future__ import annotations

import difflib
import functools
import getpass
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validation.cli.progress import Shown
from validation.engines import EngineNameError
from validation.engines.engine import SettingError
from validation.records.text import printable
from validation.review.ledger import LedgerError
from validation.review.lineage import LineageError
from validation.running.kernel_cache import CacheError
from validation.running.options import DEFAULT_DB, LOCAL, Options, RunError
from validation.running.package_index import BuildError
from validation.store.addresses import without_password as without_password
from validation.store.errors import StoreError

if TYPE_CHECKING:
    from validation.running.runner import Limits
    from validation.store import Store

NUMBER = click.IntRange(0, 2**31 - 1)
"""Of a run, a case or an entry, as databases have them."""
MOST_STARTS = 1000
LONGEST_NAME = 100  # characters of a name for cases
MEMORY_LIMIT = 2048  # MiB
EXPECTED_ERRORS: tuple[type[Exception], ...] = (
    SettingError,
    EngineNameError,
    StoreError,
    LedgerError,
    RunError,
    CacheError,
    BuildError,
    LineageError,
)


def near_miss(word: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' where something known looks like it."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def complete_scenario(context: Any, parameter: Any, incomplete: str) -> list[str]:
    from scenarios.catalogue import FAMILIES, canonical_suite

    if ":" in incomplete:
        return [scenario.label for scenario in canonical_suite() if scenario.label.startswith(incomplete)]
    return [name for name in FAMILIES if name.startswith(incomplete)]


def complete_engine(context: Any, parameter: Any, incomplete: str) -> list[str]:
    from validation.engines import present_engines

    return [name for name in present_engines() if name.startswith(incomplete)]


class Within(click.FloatRange):
    """A range that NaN is outside of: as a limit it would be none. 1_0 is a typing error, not Python's 10."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and "_" in value:
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self.min}<=x<={self.max}.", param, ctx)
        return number


class StartCount(click.types.IntParamType):
    """0, or at least as many as a verdict takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return start_count(super().convert(value, param, ctx), "--ensemble")


def start_count(number: Any, name: str) -> int:
    """Raises UsageError, which begins with the name of what was given."""
    from validation.judging.policy import LEAST_STARTS

    if not isinstance(number, int) or not (number == 0 or LEAST_STARTS <= number <= MOST_STARTS):
        few = " starts are too few for a verdict" if isinstance(number, int) and 0 < number < LEAST_STARTS else ""
        wrong = few or " is no number of perturbed starts"
        raise click.UsageError(f"{name}: {number!r}{wrong}; allowed: 0, or {LEAST_STARTS} to {MOST_STARTS}")
    return number


class OutputFile(click.Path):
    """A file to write, checked before anything runs: its folder exists and can be written, its ending is known."""

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "\0" in os.fsdecode(value):
            self.fail(f"{os.fsdecode(value)!r}: no name of a file has a null character", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"{path}: there is no folder {str(path.parent)!r}; make it first", param, ctx)
        if not os.access(path.parent, os.W_OK):
            self.fail(f"{path}: the folder {str(path.parent)!r} cannot be written", param, ctx)
        if self.endings and path.suffix.lower() not in self.endings:
            self.fail(f"{path} ends in {path.suffix!r}; allowed: {' or '.join(self.endings)}", param, ctx)
        return path


@contextmanager
def written(path: Path, run: int | None = None) -> Iterator[None]:
    """A file in here. What it lacks is one line; `run` is stored whatever becomes of it."""
    try:
        yield
    except OSError as error:
        stored = "" if run is None else f". Run {run} is stored"
        raise click.ClickException(f"{path}: cannot be written ({error.strerror or error}){stored}") from None


class CaseName(click.ParamType):
    """A name of one's own for cases, which stands in tables, files and addresses."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if len(text) > LONGEST_NAME or not text.isprintable():
            few = f"{len(text)} characters" if len(text) > LONGEST_NAME else repr(text)
            self.fail(f"{few}; allowed: at most {LONGEST_NAME} characters that can be printed", param, ctx)
        return text


class TimeStep(click.ParamType):
    """1/240, 0.004, 2.5e-3 (s)."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        return time_step(str(value))


def time_step(text: str) -> float:
    """Raises UsageError."""
    top, _, bottom = text.partition("/")
    try:
        dt = float(top) / float(bottom or 1)
    except (ValueError, ZeroDivisionError):
        raise click.UsageError(
            f"--dt: {text!r} is not a number or a fraction; allowed: 1e-6 to 1, such as 1/240"
        ) from None
    if not 1e-6 <= dt <= 1.0:
        raise click.UsageError(f"--dt: {text} is out of range; allowed: 1e-6 to 1 s")
    return dt


# --- options --------------------------------------------------------------------------------------------------------


def user_name() -> str:
    try:
        return os.environ.get("UPRIGHT_USER") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


database_option = click.option(
    "--db",
    "database",
    envvar="UPRIGHT_DB",
    default=DEFAULT_DB,
    show_default=True,
    metavar="URL",
    help="SQLite file or SQLAlchemy URL of the results.  [$UPRIGHT_DB]",
)
engine_option = click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="ENGINE",
    shell_complete=complete_engine,
    help="Engine, as often as wanted; without it all that are present.",
)
profile_option = click.option("--profile", default=None, metavar="NAME", help="default or fair.  [default: fair]")
dt_option = click.option(
    "--dt",
    type=TimeStep(),
    default=None,
    metavar="SECONDS",
    help="Time step, a number or a fraction.  [default: 1/240, of a model its own]",
)
workers_option = click.option(
    "--workers", type=click.IntRange(1, 1024), default=None, help="Processes.  [default: cores]"
)
executor_option = click.option(
    "--executor",
    envvar="UPRIGHT_EXECUTOR",
    default=LOCAL,
    show_default=True,
    metavar="ADDRESS",
    callback=lambda context, parameter, value: checked_executor(value),
    help="Where to simulate: local, or a Dask cluster, as dask://HOST:PORT.  [$UPRIGHT_EXECUTOR]",
)
time_limit_option = click.option(
    "--time-limit",
    type=Within(0.01, 86400),
    default=60.0,
    show_default=True,
    help="Seconds of wall-clock time for one simulation.",
)
run_option = click.option(
    "--run", "run", type=NUMBER, default=None, help="Which run.  [default: the latest finished one]"
)
reason_option = click.option("--reason", required=True, help="Why, for whoever asks later.")
who_option = click.option("--who", default=user_name, help="Who decides.  [default: $UPRIGHT_USER, else your login]")
until_option = click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    default=None,
    help="The decision ends when this day begins (UTC).  [default: it stays]",
)


def checked_executor(executor: str) -> str:
    """Raises ExecutorError before anything is read or run."""
    if executor != LOCAL:
        from validation.running.cluster.address import address_of

        address_of(executor)
    return executor


def model_options(function: Callable[..., Any], names: tuple[str, ...] = ("--from", "--start")) -> Callable[..., Any]:
    """How models are run, handed over as one `validation.running.options.ModelOptions`. `names`: of the start."""

    @functools.wraps(function)
    def command(*, starts: tuple[str, ...], duration: float | None, root: str, **given: Any) -> Any:
        from validation.running.options import ModelOptions

        return function(model=ModelOptions(starts=starts, duration=duration, root=root), **given)

    doc = "Of a model: where it starts, a keyframe, a file of states (.npz) or a folder of these; as often as wanted."
    options = (
        click.option(*names, "starts", multiple=True, metavar="START", help=f"{doc}  [default: as it is]"),
        click.option(
            "--duration",
            type=Within(1e-3, 1e4),
            default=None,
            metavar="SECONDS",
            help="Of a model: how long it moves.  [default: 2]",
        ),
        click.option(
            "--root",
            default="",
            metavar="FOLDER",
            help="Of a model: all of its files are in here.  [default: its package or git tree, else its folder]",
        ),
    )
    return functools.reduce(lambda decorated, option: option(decorated), reversed(options), command)


def selection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """SCENARIO... and --engine: which cells of the matrix."""
    scenarios = click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...", shell_complete=complete_scenario)
    return scenarios(engine_option(function))


SESSION_OPTIONS = (
    selection_options,
    model_options,
    profile_option,
    dt_option,
    click.option("--timing", is_flag=True, help="Time the steps too: one case at a time, least of five."),
    click.option(
        "--as", "alias", type=CaseName(), default="", metavar="NAME", help="Make these cases their own, under NAME."
    ),
    click.option(
        "--ensemble",
        type=StartCount(),
        default=None,
        metavar="N",
        help="Also from N initial states perturbed by 1e-6, for chaotic metrics; 0 for none."
        "  [default: none; in check as many as accepted, where the motion has changed]",
    ),
    click.option(
        "--order",
        is_flag=True,
        help="Also with 1/2 and 1/4 of the time step: by which power of it errors shrink."
        "  [default: in check where it was accepted with it, and the motion has changed]",
    ),
    click.option(
        "--fresh", is_flag=True, help="Simulate all, also what a run before has of the same scene, engine and code."
    ),
    workers_option,
    executor_option,
    time_limit_option,
    click.option(
        "--memory-limit",
        type=click.IntRange(16, 2**20),
        default=MEMORY_LIMIT,
        show_default=True,
        help="MiB resident for one simulation.",
    ),
    click.option("--strict", is_flag=True, help="Exit 1 for any crash, time-out or missing case."),
    click.option("--json", "as_json", is_flag=True, help="One JSON object per case on standard output, nothing else."),
    database_option,
)


def session_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What to run, how, and where to store it, handed over as one `validation.running.options.Options`."""

    @functools.wraps(function)
    def command(
        *,
        timing: bool,
        ensemble: int | None,
        workers: int | None,
        time_limit: float,
        memory_limit: int,
        as_json: bool,
        **given: Any,
    ) -> Any:
        as_given = {field.name: given.pop(field.name) for field in fields(Options) if field.name in given}
        options = Options(
            **as_given,
            limits=make_limits(workers, time_limit, memory_limit, timing=timing, executor=as_given["executor"]),
            quiet=as_json,
            progress=Shown(quiet=as_json),
            ensemble=ensemble or 0,
            ensemble_as_accepted=ensemble is None,
        )
        return function(options=options, **given)

    return functools.reduce(lambda decorated, option: option(decorated), reversed(SESSION_OPTIONS), command)


def make_limits(
    workers: int | None,
    time_limit: float,
    memory_mib: int = MEMORY_LIMIT,
    *,
    timing: bool = False,
    executor: str = LOCAL,
) -> Limits:
    """Raises UsageError."""
    from validation.running.runner import Limits

    if workers and executor != LOCAL:
        raise click.UsageError("--workers is of this machine; with --executor the cluster's workers decide")
    given = {"workers": workers} if workers else {}
    return Limits(**given, time_limit=time_limit, memory_limit=memory_mib * 2**20, timing=timing)


# --- in messages ----------------------------------------------------------------------------------------------------


def database_arguments(database: str, *, elsewhere: bool = False) -> str:
    """What a proposed command needs to find this database: ` --db 'my results.db'`, or nothing.

    `elsewhere`: it is typed in another environment than this one.
    """
    here = DEFAULT_DB if elsewhere else os.environ.get("UPRIGHT_DB") or DEFAULT_DB
    return "" if database == here else f" --db {printable(shlex.quote(without_password(database)))}"


def named(database: str) -> str:
    """A database in a message."""
    return printable(without_password(database))


def run_asked_for(store: Store, run: int | None, database: str, *, first: str = "upright check") -> int:
    """The number given, else of the latest finished run. Raises ClickException where there is none."""
    number = run if run is not None else store.latest_run()
    if number is None:
        run_something = f"run something first: {first}{database_arguments(database)}"
        raise click.ClickException(f"no run is stored in {named(database)}; {run_something}")
    return number


def command_line() -> str:
    """This command as it was typed, quoted."""
    return shlex.join(["upright", *map(without_password, sys.argv[1:])])
