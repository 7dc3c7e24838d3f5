"""upright versions"""

import sys
from functools import partial

import click

from validation.cli import arguments
from validation.cli.progress import Shown
from validation.cli.stopping import stopped_status
from validation.judging.policy import STARTS
from validation.running.options import ModelOptions


@click.command()
@click.argument("engine", metavar="ENGINE", shell_complete=arguments.complete_engine)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...", shell_complete=arguments.complete_scenario)
@click.option("--from", "first", default="", metavar="VERSION", help="The oldest.  [default: the oldest with a wheel]")
@click.option("--to", "until", default="", metavar="VERSION", help="The newest.  [default: the newest]")
@click.option("--last", type=click.IntRange(min=2), default=None, metavar="N", help="The last N of these.")
@click.option("--profile", default=None, metavar="NAME", help="default or fair.  [default: both]")
@partial(arguments.model_options, names=("--start",))
@arguments.dt_option
@click.option(
    "--ensemble",
    type=arguments.StartCount(),
    default=STARTS,
    show_default=True,
    metavar="N",
    help="Perturbed initial states, of cases that moved by a chaotic metric; 0 for none.",
)
@arguments.workers_option
@arguments.executor_option
@arguments.time_limit_option
@click.option("--all", "everything", is_flag=True, help="List every scenario that changed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per release on standard output, nothing else.")
def command(
    engine: str,
    scenarios: tuple[str, ...],
    first: str,
    until: str,
    last: int | None,
    profile: str | None,
    dt: float | None,
    model: ModelOptions,
    ensemble: int,
    workers: int | None,
    executor: str,
    time_limit: float,
    everything: bool,
    as_json: bool,
) -> None:
    """Run scenarios on the releases of an engine, each compared with the one before.

    All releases with a wheel for this Python, from pip's index, each in an environment of its own; without a SCENARIO
    the canonical suite. What has been run once is kept in the cache folder, so a command that was stopped goes on where
    it was. Exit status 0, or 2 where nothing could be run.

    \b
    upright versions pymunk
    upright versions mujoco stack:n=10 my_cell.json --from 3.3.0 --profile default
    upright versions mujoco:solver=pgs dominoes --last 8
    """
    from validation.engines import engine_of
    from validation.report.versions import changes_summary, release_line, render_release
    from validation.running.cluster.address import ExecutorError
    from validation.running.options import RunError
    from validation.running.versions import Release, asked_of, releases_of, run_releases, version_of

    choice = engine_of(engine)
    if choice.version:
        raise click.BadParameter(f"{engine!r} names one version; give the engine alone, and --from or --to")
    limits = arguments.make_limits(workers, time_limit, executor=executor)
    asked = asked_of(choice, scenarios, profile, dt, ensemble, limits, model)
    oldest, newest = (version_of(text) if text else None for text in (first, until))
    choices = releases_of(choice, oldest, newest, last or 0)
    width = max(len(one.version or "") for one in choices)
    done: list[Release] = []
    try:
        for release in run_releases(choices, asked, Shown(quiet=as_json), executor):
            done.append(release)
            click.echo(
                release_line(release) if as_json else render_release(release, width=width, everything=everything)
            )
    except KeyboardInterrupt:
        click.echo(
            f"stopped: {len(done)} of {len(choices)} releases are done; the same command goes on there.", err=True
        )
        sys.exit(stopped_status())
    except ExecutorError as error:
        raise click.ClickException(f"{error}. {len(done)} releases are done; the same command goes on there") from None
    if all(release.lacks for release in done):
        raise RunError(f"no release could be run: {done[-1].lacks}")
    if not as_json:
        click.echo(changes_summary(done))
