"""upright results"""

from pathlib import Path

import click

from validation.cli.arguments import NUMBER, OutputFile, database_option, written


@click.group()
def command() -> None:
    """What is stored, for other programs; what need not be stored any longer; tables of an older Upright."""


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
    from validation.records.text import one_line
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


@command.command()
@click.option("--older-than", type=click.FloatRange(0.0), metavar="DAYS", help="Of runs that began before that.")
@click.option("--beyond", type=click.IntRange(1), metavar="RUNS", help="Of runs before the last so many of a branch.")
@click.option("--remove", is_flag=True, help="Remove them, and give the space back.  [default: count them only]")
@database_option
def prune(older_than: float | None, beyond: int | None, remove: bool, database: str) -> None:
    """Remove the motions of old runs, which take nearly all the space. Without --remove nothing is changed.

    With both options a run has to meet both. Measurements, verdicts and the ledger stay; so do the motions of what was
    accepted or marked, of comparisons, and of runs that are not finished. A motion that is gone is not played any more,
    and its case is simulated again where a later run could have taken it.

    \b
    upright results prune --older-than 90
    upright results prune --older-than 90 --beyond 50 --remove
    """
    from validation.records.quantities import counted
    from validation.store import open_store

    if older_than is None and beyond is None:
        raise click.UsageError("name the runs whose motions may go: --older-than DAYS, --beyond RUNS, or both")
    with open_store(database) as store:
        if not remove:
            found = store.removable(days=older_than, last=beyond)
            click.echo(
                f"{counted(found.motions, 'motion')} of {counted(found.runs, 'run')}, {_size(found.size)}, would be "
                f"removed; {counted(found.left, 'motion')} stay.   Remove them: add --remove"
            )
            return
        store.must_be_writable()
        before, _ = store.size()
        done = store.remove_motions(days=older_than, last=beyond)
        click.echo(f"removed {counted(done.motions, 'motion')}, {_size(done.size)}; {done.left} stay")
        store.compact()
        after, _ = store.size()
    click.echo(f"the database has {_size(after)}, {_size(before)} before")


@command.command()
@click.argument("revision")
@database_option
def downgrade(revision: str, database: str) -> None:
    """Take the database's tables back to those of an older Upright, to use it with that. REVISION is in that one's
    message: "revision 0020 is newer than this Upright knows (0017)".

    No row is lost: what the older tables have no place for is set aside in the database, and comes back when a newer
    Upright opens it again, which any command of this one does. Of a SQLite file a copy is left beside it. A run that
    goes on meanwhile stops, and names what it has stored.

    \b
    upright results downgrade 0017
    """
    from validation.store import take_back_store

    done = take_back_store(database, revision)
    if done.before == revision:
        click.echo(f"{done.name}: at revision {revision} already")
        return
    copied = f"; as it was: {done.copy}" if done.copy else ""
    click.echo(
        f"{done.name}: taken back from revision {done.before} to {revision}{copied}\n"
        "Use it with the older Upright now: any other command of this one brings it up to date again"
    )


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
