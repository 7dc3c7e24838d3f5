"""upright history"""

import shlex

import click

from validation.cli.arguments import (
    NUMBER,
    complete_scenario,
    database_arguments,
    database_option,
    engine_option,
    near_miss,
)


@click.command()
@click.argument("scenario", metavar="SCENARIO", shell_complete=complete_scenario)
@engine_option
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only these.  [default: all]")
@click.option(
    "--run", "run", type=NUMBER, default=None, help="As seen from which run.  [default: the latest that has it]"
)
@database_option
def command(scenario: str, engines: tuple[str, ...], metrics: tuple[str, ...], run: int | None, database: str) -> None:
    """Show the metrics of one scenario over the stored runs.

    Steps with the first commit of the new level, slow drift, and what has accumulated since the last acceptance; how
    they are found stands in docs/judging.md. Of runs of the same engine and overrides, on the run's branch and the main
    one; times of steps only of the same machine.

    \b
    upright history stack:n=10 --engine pymunk
    upright history stack:n=10 --engine pymunk --metric step_time
    """
    from validation.records.names import engine_name, metric_name
    from validation.report.terminal import history_lines
    from validation.running.selection import stored_cases
    from validation.store import open_store

    with open_store(database) as store:
        found = stored_cases(store, scenario, engines, run)
        if found is None:
            again = shlex.join(["upright", "run", scenario, *(word for e in engines for word in ("--engine", e))])
            raise click.ClickException(f"no stored run has it; run it first: {again}{database_arguments(database)}")
        for result in found[1]:
            has = [m.metric for m in result.measurements]
            typed = {metric_name(name, result.case): name for name in has}
            asked = [typed.get(name, name) for name in metrics]
            for name in asked:
                if name not in has:
                    raise click.ClickException(
                        f"--metric: {name!r} is not measured in {result.case.label} × {engine_name(result.case)}"
                        f"{near_miss(name, has)} (it has: {', '.join(has) or 'none'})"
                    )
            for line in history_lines(store, result, asked or has):
                click.echo(line)
