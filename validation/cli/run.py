"""upright run"""

import click

from validation.cli.arguments import command_line, database_arguments, session_options
from validation.running.options import Options


@click.command()
@session_options
@click.option("--resume", is_flag=True, help="Finish the run that was stopped or killed.")
def command(options: Options, strict: bool, resume: bool) -> None:
    """Simulate scenarios on engines, measure and store them.

    Without a SCENARIO the canonical suite, without --engine every engine present. Exit status 0 whatever the results
    are (`check` judges), unless --strict; 2 where nothing could be run, also because every case was declined.

    \b
    upright run
    upright run stack:n=10,mass_ratio=100 --engine pymunk --engine mujoco
    upright run upright-block --engine pymunk:iterations=5 --engine pymunk@default --json
    upright run pile --engine pymunk --ensemble 20
    """
    from dataclasses import replace

    from validation.cli.views import must_have_run, resumable, show_session
    from validation.judging.judge import exit_status
    from validation.running.session import resume_session, run_session
    from validation.store import open_store

    options = replace(options, ensemble_as_accepted=False)
    given = (
        *(options.scenarios, options.engines, options.profile, options.dt, options.limits.timing, options.alias),
        options.ensemble,
        options.order,
        options.fresh,
    )
    if resume and any(given):
        raise click.UsageError(
            "--resume goes on with the stored run as it was started; leave all but limits and --db out"
        )
    with open_store(options.database) as store, resumable(options.database):
        store.must_be_writable()
        if resume and store.unfinished_run() is None:
            start = f"upright run{database_arguments(options.database)}"
            raise click.ClickException(f"no unfinished run is stored; start one with: {start}")
        session = resume_session(store, options) if resume else run_session(store, options, command_line())
    show_session(session, options)
    if strict and (status := exit_status(session.verdicts, strict=True)):
        raise SystemExit(status)
    must_have_run(session)
