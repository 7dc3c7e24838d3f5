"""upright finds"""

from __future__ import annotations

import sys

import click

from validation.cli.arguments import database_arguments, database_option


@click.command()
@click.argument("number", type=int, required=False)
@click.option("--replay", is_flag=True, help="Simulate it again and say whether the law is still broken.")
@click.option("--scene", "print_scene", is_flag=True, help="Print its scene as JSON.")
@database_option
def command(number: int | None, replay: bool, print_scene: bool, database: str) -> None:
    """List what fuzzing found; of one, replay it or print its scene.

    \b
    upright finds
    upright finds 3 --replay          exit status 1 if the law is still broken
    upright finds 3 --scene > find3.json  &&  upright run find3.json
    """
    from validation.report.table import render_finds
    from validation.store import open_store

    with open_store(database) as store:
        finds = store.finds() if number is None else [store.find(number)]
    place = database_arguments(database)
    if not finds:
        click.echo(f"nothing found yet; search with: upright fuzz{place}")
        return
    if number is not None and print_scene:
        from scenarios.scene import write_scene

        click.echo(write_scene(finds[0].scene))
    elif number is not None and replay:
        from validation.tools.fuzz import replay_find

        broken, words = replay_find(finds[0])
        click.echo(words)
        sys.exit(1 if broken else 0)
    else:
        click.echo(render_finds(finds))
        click.echo(f"Again: upright finds {finds[-1].number} --replay{place}")
