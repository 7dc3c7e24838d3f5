"""upright history"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import complete_scenario, database_arguments, database_option, engine_option

if TYPE_CHECKING:
    from validation.records.case import Result
    from validation.store import Store


@click.command()
@click.argument("scenario", metavar="SCENARIO", shell_complete=complete_scenario)
@engine_option
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only these.  [default: all]")
@click.option("--run", "run", type=int, default=None, help="As seen from which run.  [default: the latest that has it]")
@database_option
def command(scenario: str, engines: tuple[str, ...], metrics: tuple[str, ...], run: int | None, database: str) -> None:
    """Tell how the metrics of one scenario went over the stored runs.

    Steps with the first commit of the new level, slow drift, and what has accumulated since the last acceptance; how
    they are found stands in docs/judging.md. Of runs of the same engine and overrides, on the run's branch and the main
    one; times of steps only of the same machine.

    \b
    upright history stack:n=10 --engine pymunk
    upright history stack:n=10 --engine pymunk --metric step_time
    """
    from validation.cli.showing import stored_cases
    from validation.report.table import one_line
    from validation.store import open_store

    with open_store(database) as store:
        found = stored_cases(store, scenario, engines, run)
        if found is None:
            again = shlex.join(["upright", "run", scenario, *(word for e in engines for word in ("--engine", e))])
            raise click.ClickException(f"no stored run has it; run it first: {again}{database_arguments(database)}")
        for result in found[1]:
            for depth, line in turns_of(store, result, metrics):
                click.echo("  " * depth + one_line(line))


def turns_of(store: Store, result: Result, metrics: tuple[str, ...]) -> list[tuple[int, str]]:
    """A heading for the case, below it a line for each metric, and below that one for each of its turns.

    Raises ClickException where a metric is named that the case does not have.
    """
    from validation.cli.arguments import near_miss
    from validation.records.names import engine_name, metric_name
    from validation.records.quantities import quantity
    from validation.report.sentences import describe_turn
    from validation.store.trends import stored_trend

    has = [m.metric for m in result.measurements]
    for name in metrics:
        if name not in has:
            raise click.ClickException(
                f"--metric: {name!r} is not measured in {result.case.label} × {engine_name(result.case)}"
                f"{near_miss(name, has)} (it has: {', '.join(has) or 'none'})"
            )
    run = store.run(result.run)
    baseline = store.baselines(run.branch).get(result.case.identity.key)
    lines = [(0, f"{result.case.label} × {engine_name(result.case)}")]
    for measured in result.measurements:
        if metrics and measured.metric not in metrics:
            continue
        found = stored_trend(store, run, result.case, measured, baseline)
        if found.course is None:
            continue
        name = metric_name(measured.metric, result.case)
        runs = "1 run" if len(found.points) == 1 else f"{len(found.points)} runs"
        quiet = "" if found.turns else ", as ever"
        lines.append((1, f"{name}: {quantity(found.course.level, found.unit)} over {runs}{quiet}"))
        lines += [(2, describe_turn(turn)) for turn in found.turns]
    return lines
