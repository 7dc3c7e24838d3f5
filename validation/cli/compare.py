"""upright compare"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

import click

from validation.cli import arguments
from validation.cli.progress import Shown
from validation.judging.policy import STARTS
from validation.running.options import ModelOptions

if TYPE_CHECKING:
    from validation.running.comparing import Compared
    from validation.store import Store

GO_ON = "Go on: the same command, with --resume where an engine has no version of its own."
LOST = "The cache folder cannot be written, so nothing is kept."


@click.command()
@click.argument("old", metavar="A", shell_complete=arguments.complete_engine)
@click.argument("new", metavar="B", shell_complete=arguments.complete_engine)
@click.argument("others", nargs=-1, metavar="[C]... [SCENARIO]...", shell_complete=arguments.complete_scenario)
@click.option("--scene", "scenes", multiple=True, metavar="FILE", help="A scene file of your own; as often as wanted.")
@click.option("--profile", default=None, metavar="NAME", help="default or fair.  [default: both]")
@click.option(
    "--options", is_flag=True, help="Also with each other choice of each setting: integrators, cones, solvers."
)
@arguments.model_options
@arguments.dt_option
@click.option(
    "--ensemble",
    type=arguments.StartCount(),
    default=STARTS,
    show_default=True,
    metavar="N",
    help="Perturbed initial states on both sides, of cases that moved by a chaotic metric; 0 for none.",
)
@arguments.workers_option
@arguments.executor_option
@arguments.time_limit_option
@click.option("--resume", is_flag=True, help="Go on where it was stopped, also with an engine without a version.")
@click.option("--all", "everything", is_flag=True, help="List every change, and what is the same.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per scenario on standard output, nothing else.")
@arguments.database_option
def command(
    old: str,
    new: str,
    others: tuple[str, ...],
    scenes: tuple[str, ...],
    profile: str | None,
    options: bool,
    dt: float | None,
    model: ModelOptions,
    ensemble: int,
    workers: int | None,
    executor: str,
    time_limit: float,
    resume: bool,
    everything: bool,
    as_json: bool,
    database: str,
) -> None:
    """Compare versions or settings of an engine: what changed from A to B, for better or worse.

    With more than two each is compared with the one before, and a line for each follows at the end.

    A version that is not installed gets an environment of its own, made once and kept in the cache folder; yours is not
    touched. What happened decides first (a body went through another, came apart, fell where it has to stand); then the
    gravest change for the worse against the gravest for the better. Chaotic motions are compared by perturbed initial
    states on both sides. Without a SCENARIO or --scene it runs the canonical suite and every pair of shapes. The result
    is stored (upright results comparisons), apart from the runs. Exit status 0: nothing worse. 1: something is worse in
    B, or better and worse at once (mixed). 2: could not run.

    \b
    upright compare pymunk==6.11.1 pymunk==7.3.1
    upright compare mujoco==3.3.7 mujoco==4.0.0 stack:n=10 --scene my_cell.json
    upright compare pymunk@default pymunk@fair
    upright compare mujoco==3.3.5 mujoco==3.3.7 mujoco==3.4.0 mujoco==3.5.0 robot.xml
    """
    from validation.engines import engine_of, names_an_engine
    from validation.report.answer import answer
    from validation.report.versions import changes_summary, render_release
    from validation.running.comparing import compare_engines
    from validation.running.versions import as_releases
    from validation.store import open_store

    engines = (old, new, *takewhile(names_an_engine, others))
    for word in engines:
        engine_of(word)  # a wrong word costs no minutes
    asked = partial(
        compare_engines,
        scenarios=(*others[len(engines) - 2 :], *scenes),
        profile=profile,
        dt=dt,
        limits=arguments.make_limits(workers, time_limit, executor=executor),
        options=options,
        starts=ensemble,
        progress=Shown(quiet=as_json),
        resume=resume,
        executor=executor,
        model=model,
        on_answer=lambda so_far: None if as_json else click.echo("\n".join((*answer(so_far), ""))),
    )
    done: list[Compared] = []
    with open_store(database) as store:
        store.must_be_writable()  # first: a database that cannot be written should cost no minutes
        for sides in pairwise(engines):
            done.append(_compared(store, sides, asked, database, everything=everything, as_json=as_json))
            if done[-1].stopped:
                break
    if len(engines) > 2 and not as_json:
        releases = as_releases(done)
        width = max(len(one.version) for one in releases)
        click.echo("\n".join(["", *(render_release(one, width=width, everything=everything) for one in releases)]))
        click.echo(changes_summary(releases, of="engines"))
    signs = {comparison.sign for one in done for comparison in one.comparisons}
    failed = done[-1].stopped or "not compared" in signs
    raise SystemExit(1 if signs & {"worse", "mixed"} else 2 if failed else 0)


def _compared(
    store: Store, sides: tuple[str, str], asked: Callable[[tuple[str, str]], Compared], database: str,
    *, everything: bool, as_json: bool,
) -> Compared:  # fmt: skip
    """Two sides; printed and stored."""
    from validation.cli.views import store_comparison
    from validation.report.comparison import render_comparison
    from validation.running.cluster.address import ExecutorError
    from validation.store.connection import uninterrupted

    try:
        done = asked(sides)
    except KeyboardInterrupt:
        raise click.ClickException(f"stopped before anything was compared. {GO_ON}") from None
    except ExecutorError as error:
        raise click.ClickException(f"{error}. {GO_ON}") from None
    with uninterrupted():
        number, lines = store_comparison(store, done, arguments.command_line())
    for line in lines if as_json else ():
        click.echo(line)
    if not as_json:
        named = arguments.database_arguments(database)
        click.echo(render_comparison(done, number=number, database=named, everything=everything))
        click.echo(f"Stored as comparison {number} in {arguments.named(database)}.")
    if done.stopped:
        so_far = f"{done.compared} of {done.planned} cases are compared"
        click.echo(f"stopped: {so_far}. {GO_ON if done.goes_on else LOST}", err=True)
    return done
