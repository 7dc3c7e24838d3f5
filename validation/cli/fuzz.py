"""upright fuzz, upright finds"""

import random
import sys

import click

from validation.cli.arguments import (
    NUMBER,
    Within,
    database_arguments,
    database_option,
    engine_option,
    executor_option,
    profile_option,
)
from validation.cli.stopping import stopped_status


@click.command()
@engine_option
@click.option("--minutes", type=Within(0.01, 1440), default=2.0, show_default=True, help="For each engine.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=None, help="Where to begin.  [default: random]")
@profile_option
@executor_option
@database_option
def command(
    engines: tuple[str, ...], minutes: float, seed: int | None, profile: str | None, executor: str, database: str
) -> None:
    """Search random scenes, in the plane and in space, for those in which an engine breaks a law, and shrink them.

    The laws need no reference: nothing goes through anything, hangs in the air, blows up or moves on where friction
    stops it; a passive scene gains no energy, an isolated one keeps its momentum, contact forces stay in the friction
    cone; a simulation neither crashes nor hangs and stays finite. What is found is stored with its seed and scene, one
    of each cause. Exit status 1 if something was found.

    \b
    upright fuzz --engine pymunk --minutes 2
    upright fuzz --engine my_package.MyEngine --seed 7
    """
    from validation.cli.progress import Shown
    from validation.engines import default_engines, engine_of
    from validation.report.terminal import find_line, search_line
    from validation.running.options import LOCAL
    from validation.running.session import warm_kernels
    from validation.store import open_store
    from validation.tools.fuzzing.search import fuzz_engine

    first = random.randrange(2**31) if seed is None else seed
    choices = [engine_of(word) for word in engines or default_engines()]
    db_option, found = database_arguments(database), 0
    if executor == LOCAL:
        warm_kernels(Shown())
    with open_store(database) as store:
        store.must_be_writable()
        for choice in choices:
            with Shown().activity(f"fuzzing {choice.label}") as notify:
                limit = 60.0 * minutes
                asked = choice.profile or profile
                search, used, finds = fuzz_engine(store, choice, asked, limit, first, notify, executor)
            for find in finds:
                click.echo(f"{find_line(find)}.   Again: upright finds {find.number} --replay{db_option}")
            spent = (search.tried, search.declined, search.wall)
            click.echo(search_line(f"{choice.label}@{used}", first, len(finds), *spent))
            found += len(finds)
            if search.stopped:
                click.echo(f"stopped: {found} found so far, and stored.   Go on: upright fuzz{db_option}", err=True)
                sys.exit(stopped_status())
    if found:
        click.echo(f"{found} found.   Next: upright finds{db_option}")
    sys.exit(1 if found else 0)


@click.command()
@click.argument("number", type=NUMBER, required=False)
@click.option("--replay", is_flag=True, help="Simulate it again: is the law still broken?")
@click.option("--scene", "print_scene", is_flag=True, help="Print its scene as JSON.")
@executor_option
@database_option
def finds(number: int | None, replay: bool, print_scene: bool, executor: str, database: str) -> None:
    """List what fuzzing found; of one, replay it or print its scene.

    \b
    upright finds
    upright finds 3 --replay          exit status 1 if the law is still broken
    upright finds 3 --scene > find3.json  &&  upright run find3.json
    """
    from validation.report.table import render_finds
    from validation.store import open_store

    with open_store(database) as store:
        found = store.finds() if number is None else [store.find(number)]
    db_option = database_arguments(database)
    if not found:
        click.echo(f"nothing found yet; search with: upright fuzz{db_option}")
        return
    if number is not None and print_scene:
        from scenarios.scene import write_scene

        click.echo(write_scene(found[0].scene))
    elif number is not None and replay:
        from validation.report.terminal import replay_line
        from validation.tools.fuzzing.search import replay_find

        simulation, broken = replay_find(found[0], executor)
        click.echo(replay_line(found[0], simulation, {oracle: one.message for oracle, one in broken.items()}))
        sys.exit(1 if broken else 0)
    else:
        click.echo(render_finds(found))
        click.echo(f"Again: upright finds {found[-1].number} --replay{db_option}")
