"""upright queries"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import complete_engine, time_limit_option

if TYPE_CHECKING:
    from validation.engines import EngineChoice
    from validation.tools.queries.asking import Asker

DEFAULT_POSES = 10_000


@click.command()
@click.argument("engines", nargs=-1, required=True, metavar="ENGINE...", shell_complete=complete_engine)
@click.option(
    "--poses",
    type=click.IntRange(1, 10_000_000),
    default=DEFAULT_POSES,
    show_default=True,
    help="Of each pair of shapes.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Draws the same poses.")
@click.option(
    "--shapes", "only", multiple=True, metavar="A,B", help="This pair alone, as box,cylinder; may be repeated."
)
@click.option("--query", "queries", multiple=True, metavar="NAME", help="This query alone; may be repeated.")
@click.option("--profile", default="default", show_default=True, metavar="NAME", help="default or fair.")
@click.option(
    "--scripts", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Write a script in the engine's own API for each kind of wrong answer.",
)  # fmt: skip
@time_limit_option
@click.option("--json", "as_json", is_flag=True, help="One object per query and pair of shapes.")
def command(
    engines: tuple[str, ...], poses: int, seed: int, only: tuple[str, ...], queries: tuple[str, ...], profile: str,
    scripts: Path | None, time_limit: float, as_json: bool,
) -> None:  # fmt: skip
    """Ask an engine for contacts and distances of two shapes in thousands of poses; check against certified bounds.

    Nothing moves. Bodies are near one another, deep in one another, far apart; faces, edges and corners meet, parallel
    or nearly so; sizes range from 1 mm to 100 m. A wrong answer is one that no geometry allows by more than the
    engine's precision and what its documents allow. Exit status 1 if some answer is visibly wrong.

    \b
    upright queries mujoco
    upright queries pybullet rapier --poses 2000 --scripts wrong
    upright queries mujoco==3.3.7 --shapes box,box --query contacts
    """
    from validation.cli.arguments import make_limits
    from validation.cli.progress import Shown
    from validation.engines import engine_of
    from validation.running.session import running_engines
    from validation.tools.queries.asking import Asker

    choices = [engine_of(word) for word in engines]
    wrong = False
    with running_engines(choices, Shown(quiet=as_json), None) as (pool, _):
        for choice in choices:
            asker = Asker(
                pool=pool, choice=choice, profile=choice.profile or profile, limit=make_limits(None, time_limit)
            )
            wrong |= _sweep(asker, choice, poses, seed, only, queries, scripts, as_json=as_json)
    sys.exit(int(wrong))


def _sweep(
    asker: Asker, choice: EngineChoice, poses: int, seed: int, only: tuple[str, ...], queries: tuple[str, ...],
    scripts: Path | None, *, as_json: bool,
) -> bool:  # fmt: skip
    """Whether some answer is visibly wrong."""
    from validation.cli.progress import Shown
    from validation.report import queries as report
    from validation.running.options import RunError
    from validation.running.planning import hello_of
    from validation.tools.queries.scripts.script import write_scripts
    from validation.tools.queries.sweep import Sweep, pairs_of, queries_of

    hello = hello_of(asker.pool, choice)
    if "error" in hello:
        raise RunError(f"{choice.word}: {hello['error']}")
    sweep = Sweep(asker=asker, queries=queries_of(hello, queries), round_off=hello["round_off"])
    pairs, name, version = pairs_of(sweep.queries, only), hello["name"], hello["version"]
    if not as_json:
        click.echo(report.header(name, version, sweep.queries))
    begun, found = time.perf_counter(), []
    with Shown(quiet=as_json).bar(f"queries of {choice.label}", len(pairs)) as bar:
        for pair in pairs:
            for one in sweep.of_pair(pair, poses, seed):
                found.append(one)
                click.echo(report.json_row(name, version, one) if as_json else report.row(one))
            bar.advance(" and ".join(pair))
    if not as_json:
        click.echo(report.findings(found, time.perf_counter() - begun))
    if scripts is not None:
        for path, reason in write_scripts(
            scripts, name, version, sweep.simplified(found), is_here=choice.version is None
        ):
            click.echo(f"no {path.name}: {reason}" if reason else f"wrote {path}", err=as_json)
    return report.grave(found)
