"""upright passport"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli import arguments

if TYPE_CHECKING:
    from validation.running.options import ModelOptions


@click.command()
@click.argument("engine", metavar="ENGINE", shell_complete=arguments.complete_engine)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...", shell_complete=arguments.complete_scenario)
@click.option("--profile", default=None, metavar="NAME", help="default or fair.  [default: fair]")
@partial(arguments.model_options, names=("--from",))
@arguments.dt_option
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The bits that there are here, for another machine.",
)
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Compare with what another machine has written; may be repeated.",
)
@arguments.time_limit_option
@click.option("--json", "as_json", is_flag=True, help="One object for each way and scene.")
@arguments.database_option
def command(
    engine: str, scenarios: tuple[str, ...], profile: str | None, model: ModelOptions, dt: float | None,
    write: Path | None, against: tuple[Path, ...], time_limit: float, as_json: bool,
    database: str,
) -> None:  # fmt: skip
    """What an engine's bits depend on: processes, threads, the processor, the order of bodies, a state set anew.

    Each scene is simulated again in each of these ways and compared to the last bit. Without a SCENARIO a few of the
    catalogue; a model of your own may stand there too. Nothing is judged: exit status 1 only where --against finds
    other bits. The result is stored, and the dashboard has the newest of each engine (Engines).

    \b
    upright passport mujoco
    upright passport mujoco==3.3.7 robot.xml --write laptop.json
    upright passport mujoco==3.3.7 robot.xml --against laptop.json
    """
    from validation.cli.progress import Shown
    from validation.engines import engine_of
    from validation.records.text import printable
    from validation.report import passport as report
    from validation.running.models import given_of
    from validation.running.options import RunError
    from validation.running.provenance import machine
    from validation.store import open_store
    from validation.tools import passport

    choice = engine_of(engine)
    others = {path.name: passport.read_passport(path) for path in against}
    if write is not None and not write.absolute().parent.is_dir():
        raise RunError(f"--write {write}: there is no folder {write.absolute().parent}")
    given = given_of(scenarios or passport.SCENES, model)
    with open_store(database) as store:
        store.must_be_writable()  # first: a database that cannot be written should cost no minutes
        found = passport.examine(
            choice, given, profile, dt, arguments.make_limits(None, time_limit), others, Shown(quiet=as_json)
        )
        number = store.add_passport(found, command=arguments.command_line(), machine=machine())
    click.echo(report.json_rows(found) if as_json else report.rendered(found))
    if not as_json:
        click.echo(f"Stored as passport {number} in {arguments.named(database)}.")
    if write is not None:
        write.write_text(found.passport.model_dump_json(indent=1) + "\n", encoding="utf-8")
        words = shlex.join(["upright", "passport", engine, *scenarios, "--against", write.name])
        click.echo(printable(f"wrote {write}; on another machine: {words}"), err=as_json)
    sys.exit(any(one.same is False for row in found.rows[len(passport.WAYS) :] for one in row.found))
