"""upright bisect"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import complete_engine, complete_scenario, database_option
from validation.report.sentences import reason_of

if TYPE_CHECKING:
    from validation.store import Store
    from validation.tools.bisect import Repository


@click.command()
@click.argument("good")
@click.argument("bad")
@click.option("--case", "scenario", required=True, metavar="SCENARIO", shell_complete=complete_scenario)
@click.option("-e", "--engine", required=True, metavar="ENGINE", shell_complete=complete_engine)
@click.option("--metric", default="", metavar="NAME", help="Bad is what is worse by it.  [default: by any that BAD is]")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Repository of the engine.  [default: the current folder]",
)
@click.option("--build", default="", metavar="COMMAND", help="Run in each commit's folder; one that fails is skipped.")
@click.option("--run", "run", default="", metavar="COMMAND", help="Instead of `upright run`.")
@click.option("--profile", default="", metavar="NAME", help="default or fair.  [default: fair]")
@click.option("--dt", default="", metavar="SECONDS", help="Time step.  [default: 1/240]")
@database_option
def command(
    good: str,
    bad: str,
    scenario: str,
    engine: str,
    metric: str,
    repo: Path,
    build: str,
    run: str,
    profile: str,
    dt: str,
    database: str,
) -> None:
    """Find the commit that made a case worse, between a GOOD and a BAD one: numbers of stored runs, or commits.

    Each commit that git bisect asks for is checked out into a folder of its own, built there (--build), and the case is
    run in it; the result is judged against that of GOOD. A commit that cannot be built or run is skipped. An engine in
    the repository is found in that folder: ./my_engine, or my_package.MyEngine unless it is installed elsewhere too.

    \b
    upright bisect 11 12 --case stack:n=10 --engine my_package.MyEngine
    upright bisect v1.2 HEAD --case dominoes -e ./engine --build "make -s"
    upright bisect v1.2 HEAD --case pile -e mine --run ".venv/bin/upright run" \\
        --build "python -m venv .venv && .venv/bin/pip install upright ."
    """
    import tempfile

    from validation.report.sentences import worst_meaning
    from validation.report.table import one_line
    from validation.running.selection import scenario_in
    from validation.store import open_store
    from validation.tools.bisect import Probe, Repository, search

    repository = Repository(repo.resolve())
    with open_store(database) as store:
        ends = [commit_of(store, repository, word) for word in (good, bad)]
        found = scenario_in(store, scenario)
    given = (("--profile", profile), ("--dt", dt))
    options = tuple(word for name, value in given if value for word in (name, value))
    with tempfile.TemporaryDirectory() as scratch:
        probe = Probe(
            repository=repository,
            scenario=found,
            word=str(Path(scenario).resolve()) if Path(scenario).is_file() else scenario,
            engine=engine,
            options=options,
            build=build,
            run=run,
            scratch=Path(scratch),
            notify=lambda text: click.echo(one_line(text), err=True),
        )
        result = search(probe, ends[0], ends[1], metric)
    if result.first_bad is None:
        click.echo("what was skipped leaves several, one of which is the first bad commit:")
        for commit in result.suspects:
            click.echo(f"  {one_line(repository.describe(commit))}")
        raise SystemExit(1)
    click.echo(f"first bad commit: {one_line(repository.describe(result.first_bad))}")
    verdict = probe.verdicts[result.first_bad]
    click.echo(one_line(f"{found.label} × {engine}: {verdict.word}, {reason_of(verdict)}"))
    if meaning := worst_meaning(verdict):
        click.echo(one_line(meaning))


def commit_of(store: Store, repository: Repository, word: str) -> str:
    """Of a stored run by its number, else of a branch, tag or commit. Raises BisectError."""
    from validation.store.errors import StoreError
    from validation.tools.bisect import BisectError

    if word.isdecimal():
        try:
            info = store.run(int(word)).info
        except StoreError:
            return repository.commit(word)
        if not info.commit:
            raise BisectError(f"run {word}: it was made outside a repository; give a commit")
        if info.dirty:
            raise BisectError(f"run {word}: it had edits that are in no commit; give a commit")
        return repository.commit(info.commit)
    return repository.commit(word)
