"""upright run"""

from __future__ import annotations

import sys

import click

from validation.cli.words import database_option, execution_options, selection_options, time_step


@click.command()
@selection_options
@execution_options
@click.option("--resume", is_flag=True, help="Finish the run that was stopped or killed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per case on standard output, nothing else.")
@database_option
def command(
    scenarios: tuple[str, ...],
    engines: tuple[str, ...],
    profile: str | None,
    dt: str | None,
    timing: bool,
    alias: str,
    workers: int | None,
    time_limit: float,
    memory_limit: int,
    strict: bool,
    resume: bool,
    as_json: bool,
    database: str,
) -> None:
    """Simulate scenarios on engines, measure and store them.

    Without a SCENARIO the canonical suite, without --engine every engine present. Exit status 0 whatever the figures
    say (`check` judges), unless --strict.

    \b
    upright run
    upright run stack:n=10,mass_ratio=100 --engine pymunk --engine mujoco
    upright run upright-block --engine pymunk:iterations=5 --engine pymunk@default --json
    """
    from validation.cli.session import Options, make_limits, resume_session, run_session
    from validation.cli.views import show_session
    from validation.judge import exit_status
    from validation.store import open_store

    options = Options(
        scenarios=scenarios,
        engines=engines,
        profile=profile,
        dt=time_step(dt),
        alias=alias,
        limits=make_limits(workers, time_limit, memory_limit, timing=timing),
        quiet=as_json,
    )
    if resume and (scenarios or engines or profile or dt or timing or alias):
        raise click.UsageError(
            "--resume goes on with the stored run as it was started; leave all but limits and --db out"
        )
    with open_store(database) as store:
        said = " ".join(["upright", *sys.argv[1:]])
        session = resume_session(store, options) if resume else run_session(store, options, said)
    show_session(session, database, as_json=as_json)
    if strict and exit_status(session.verdicts, strict=True):
        raise SystemExit(1)
