"""upright fuzz"""

from __future__ import annotations

import random
import sys

import click

from validation.cli.arguments import Within, database_arguments, database_option, engine_option, profile_option


@click.command()
@engine_option
@click.option("--minutes", type=Within(0.01, 1440), default=2.0, show_default=True, help="For each engine.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=None, help="Where to begin.  [default: random]")
@profile_option
@database_option
def command(engines: tuple[str, ...], minutes: float, seed: int | None, profile: str | None, database: str) -> None:
    """Search random planar scenes for one in which an engine breaks a law, and shrink it.

    Three laws that need no reference: a passive scene gains no energy, an isolated one keeps its momentum, and a
    simulation neither crashes nor hangs nor leaves the finite numbers. What is found is stored with its seed and scene.
    Exit status 1 if something was found.

    \b
    upright fuzz --engine pymunk --minutes 2
    upright fuzz --engine my_package.MyEngine --seed 7
    """
    from validation.cli.progress import Shown
    from validation.engines import engine_of, present_engines
    from validation.running.session import warm_kernels
    from validation.store import open_store
    from validation.tools.fuzz import fuzz_engine

    first = random.randrange(2**31) if seed is None else seed
    choices = [engine_of(word) for word in engines or present_engines()]
    place, found = database_arguments(database), 0
    warm_kernels(Shown())
    with open_store(database) as store:
        for choice in choices:
            found += fuzz_engine(
                store,
                choice,
                choice.profile or profile,
                60.0 * minutes,
                first,
                options=place,
                echo=click.echo,
                progress=lambda words: click.echo(words, err=True),
            )
    if found:
        click.echo(f"{found} found.   Next: upright finds{place}")
    sys.exit(1 if found else 0)
