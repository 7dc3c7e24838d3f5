"""upright results"""

from pathlib import Path

import click

from validation.cli.arguments import NUMBER, OutputFile, database_option, written


@click.group()
def command() -> None:
    """What is stored, for other programs."""


@command.command()
@click.argument("path", type=OutputFile(".csv", ".parquet"))
@click.option("--run", "runs", type=NUMBER, multiple=True, help="Which run, as often as wanted.  [default: all]")
@database_option
def export(path: Path, runs: tuple[int, ...], database: str) -> None:
    """Write every measurement to PATH, as CSV or Parquet by its ending.

    \b
    upright results export results.csv
    upright results export results.parquet --run 12
    """
    from validation.report.export import export_results
    from validation.store import open_store

    with open_store(database) as store, written(path):
        count = export_results(store, path, runs or None)
    click.echo(f"wrote {count} measurements to {path}")


@command.command()
@click.argument("number", type=NUMBER, required=False)
@database_option
def comparisons(number: int | None, database: str) -> None:
    """List what `upright compare` stored; of one, print its JSON objects, one a scenario.

    \b
    upright results comparisons
    upright results comparisons 3
    """
    from validation.report.table import one_line
    from validation.store import open_store

    with open_store(database) as store:
        if number is not None:
            for line in store.comparison_lines(number):
                click.echo(line)
            return
        found = store.comparisons()
    for one in reversed(found):
        counts = ", ".join(f"{count} {sign}" for sign, count in one.counts.items())
        click.echo(one_line(f"{one.number}: {one.names[0]} to {one.names[1]}, {one.when:%-d %b %Y}: {counts}"))
    if not found:
        click.echo("nothing was compared yet: upright compare --help")
