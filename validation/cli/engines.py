"""upright engines"""

from __future__ import annotations

import click

from validation.cli.words import complete_engine


@click.command()
@click.argument("name", required=False, metavar="[ENGINE]", shell_complete=complete_engine)
@click.option("--json", "as_json", is_flag=True, help="One object per line.")
def command(name: str | None, as_json: bool) -> None:
    """List the engines that are present, with version and profiles; of one, every setting.

    \b
    upright engines
    upright engines pymunk
    """
    from validation.engines import engine_of
    from validation.report.listing import engine_json, engine_lines, engine_list

    if name is None:
        click.echo(engine_list(as_json=as_json))
        return
    choice = engine_of(name)
    click.echo(engine_json(choice) if as_json else engine_lines(choice))
