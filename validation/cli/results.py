"""upright results"""

from __future__ import annotations

from pathlib import Path

import click

from validation.cli.words import OutputFile, database_option


@click.group()
def command() -> None:
    """What is stored, for other programs."""


@command.command()
@click.argument("path", type=OutputFile(".csv", ".parquet"))
@click.option("--run", "runs", type=int, multiple=True, help="Which run, as often as wanted.  [default: all]")
@database_option
def export(path: Path, runs: tuple[int, ...], database: str) -> None:
    """Write every measurement to PATH, as CSV or Parquet by its ending.

    \b
    upright results export results.csv
    upright results export results.parquet --run 12
    """
    from validation.report.export import export_results
    from validation.store import open_store

    with open_store(database) as store:
        count = export_results(store, path, runs or None)
    click.echo(f"wrote {count} measurements to {path}")
