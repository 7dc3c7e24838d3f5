"""upright bisect"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from validation.cli.arguments import complete_engine, complete_scenario, database_option, executor_option
from validation.report.sentences import reason_of

if TYPE_CHECKING:
    from validation.store import Store
    from validation.tools.bisect import Repository


@click.command()
@click.argument("good", metavar="GOOD | ENGINE==GOOD..BAD")
@click.argument("bad", metavar="BAD | SCENARIO")
@click.option("--case", "scenario", default="", metavar="SCENARIO", shell_complete=complete_scenario)
@click.option("-e", "--engine", default="", metavar="ENGINE", shell_complete=complete_engine)
@click.option("--metric", default="", metavar="NAME", help="Only what moved by it counts.  [default: any that BAD has]")
@click.option(
    "--bits", is_flag=True, help="Of releases: the first whose motion has other bits, however little it moves."
)
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Repository of the engine.  [default: the current folder]",
)
@click.option("--build", default="", metavar="COMMAND", help="Run in each commit's folder; one that fails is skipped.")
@click.option("--run", "run", default="", metavar="COMMAND", help="Instead of `upright run`.")
@click.option("--profile", default="", metavar="NAME", help="default or fair.  [default: fair; of releases both]")
@click.option("--dt", default="", metavar="SECONDS", help="Time step.  [default: 1/240]")
@executor_option
@database_option
def command(
    good: str,
    bad: str,
    scenario: str,
    engine: str,
    metric: str,
    bits: bool,
    repo: Path,
    build: str,
    run: str,
    profile: str,
    dt: str,
    executor: str,
    database: str,
) -> None:
    """Find the commit that made a case worse, between a GOOD and a BAD one: numbers of stored runs, or commits. Or the
    release that changed a scenario: ENGINE==GOOD..BAD SCENARIO.

    Each commit that git bisect asks for is checked out into a folder of its own, built there (--build), and the case is
    run in it; the result is judged against that of GOOD. A commit that cannot be built or run is skipped. An engine in
    the repository is found in that folder: ./my_engine, or my_package.MyEngine unless it is installed elsewhere too.

    Of releases each gets an environment of its own and is compared with GOOD; what counts is what BAD shows against it:
    worse, better, merely different, or only other bits. What cannot be installed or run is left out and named.

    \b
    upright bisect 11 12 --case stack:n=10 --engine my_package.MyEngine
    upright bisect v1.2 HEAD --case dominoes -e ./engine --build "make -s"
    upright bisect v1.2 HEAD --case pile -e mine --run ".venv/bin/upright run" \\
        --build "python -m venv .venv && .venv/bin/pip install upright ."
    upright bisect mujoco==3.3.0..4.0.0 stack:n=10
    upright bisect pymunk==5.7.0..7.3.1@fair my_cell.json --metric "penetration max"
    """
    from click.core import ParameterSource

    from validation.tools.bisect_releases import is_range

    if is_range(good):
        of_commits = {"--case": scenario, "--engine": engine, "--build": build, "--run": run}
        if foreign := [name for name, value in of_commits.items() if value]:
            raise click.UsageError(f"{foreign[0]} is of commits; releases are asked for as ENGINE==GOOD..BAD SCENARIO")
        _of_releases(good, bad, metric, bits=bits, profile=profile, dt=dt, executor=executor)
    if click.get_current_context().get_parameter_source("executor") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--executor is of releases; commits are built and run on this machine")
    if not scenario or not engine:
        raise click.UsageError(
            "commits need --case SCENARIO and --engine ENGINE; releases are ENGINE==GOOD..BAD SCENARIO"
        )
    import tempfile

    from validation.records.text import one_line
    from validation.report.sentences import worst_meaning
    from validation.running.models import GivenModel
    from validation.running.selection import given_in
    from validation.store import open_store
    from validation.tools.bisect import Probe, Repository, search

    repository = Repository(repo.resolve())
    with open_store(database) as store:
        ends = [commit_of(store, repository, word) for word in (good, bad)]
        found, *_ = given_in(store, scenario)
    if isinstance(found, GivenModel):
        raise click.UsageError(f"{scenario}: a model of your own is not bisected by commits; compare releases with it")
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


def _of_releases(
    word: str, scenario: str, metric: str, *, bits: bool, profile: str, dt: str, executor: str
) -> NoReturn:
    """Exit status 0, or 1 where releases that were left out leave several."""
    from validation.cli import arguments
    from validation.cli.progress import Shown
    from validation.judging.policy import STARTS
    from validation.records.names import with_profile
    from validation.records.text import one_line
    from validation.report.comparison import render_comparison
    from validation.running.comparing import Compared
    from validation.running.versions import asked_of, open_releases
    from validation.tools.bisect_releases import releases_between, search

    step = arguments.TimeStep().convert(dt, None, None) if dt else None
    choices = releases_between(word)
    asked = asked_of(choices[0], [scenario], profile or None, step, STARTS, arguments.make_limits(None, 60.0))

    def notify(text: str) -> None:
        click.echo(one_line(text), err=True)

    with open_releases(choices, asked, Shown(), executor) as opened:
        found = search(opened, choices, metric, notify, bits=bits)
    old, new = (with_profile(one.label, one.profile) for one in (found.old, found.new))
    comparisons = list(found.comparisons)
    done = Compared(names=(old, new), comparisons=comparisons, packages={}, planned=len(comparisons))
    click.echo(render_comparison(done))
    if found.left_out:
        click.echo(f"left out between them: {', '.join(found.left_out)}; the change is in one of these or in {new}")
    else:
        click.echo(f"changed in {new}: {old} is the last release without it")
    shown = f" --profile {profile}" if profile else ""
    click.echo(f"to see it: upright compare {old} {new} {scenario}{shown}")
    raise SystemExit(bool(found.left_out))


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
