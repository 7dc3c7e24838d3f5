"""upright schema"""

from __future__ import annotations

import json

import click


@click.command()
def command() -> None:
    """Print the JSON Schema of scene files, for editors and for programs that write scenes.

    \b
    upright schema > scene.schema.json
    """
    from scenarios.schema import scene_schema

    click.echo(json.dumps(scene_schema(), indent=1))
