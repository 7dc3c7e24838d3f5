"""upright probe"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, get_args

import click

from scenarios.native import ProbeKind
from validation.cli import arguments
from validation.cli.progress import Shown
from validation.judging.policy import STARTS
from validation.running.options import ModelOptions, Options

if TYPE_CHECKING:
    from validation.judging.comparison import Sign


@click.command()
@click.argument("file", metavar="MODEL")
@arguments.engine_option
@click.option(
    "--probe",
    "probes",
    multiple=True,
    type=click.Choice(get_args(ProbeKind)),
    help="What is done to the model; as often as wanted.  [default: all]",
)
@arguments.model_options
@arguments.dt_option
@click.option(
    "--ensemble",
    type=arguments.StartCount(),
    default=STARTS,
    show_default=True,
    metavar="N",
    help="Perturbed initial states on both sides, of cases that moved by a chaotic metric; 0 for none.",
)
@arguments.workers_option
@arguments.time_limit_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per probe on standard output, nothing else.")
@arguments.database_option
def command(
    file: str,
    engines: tuple[str, ...],
    probes: tuple[ProbeKind, ...],
    model: ModelOptions,
    dt: float | None,
    ensemble: int,
    workers: int | None,
    time_limit: float,
    as_json: bool,
    database: str,
) -> None:
    """Try a model of your own on versions of an engine: settle, hold, drop, push, tip, separation.

    \b
    settle      let go from where it starts
    hold        position servos are given the positions that they have at the start
    drop        every free body from a little above
    push        each free body by a known impulse
    tip         each free body set down aslant
    separation  each free body moved away from what it is near, 10 um at a time: where contact begins

    With several engines each is compared with the one before, and stored as `compare` does; with one the probes are run
    and stored, as `run` does. Exit status 0: nothing worse. 1: something is worse. 2: could not run.

    \b
    upright probe cell.xml --engine mujoco==3.3.7 --engine mujoco==3.4.0
    upright probe cell.xml --from grip --from lift --probe settle -e mujoco==3.3.7 -e mujoco==3.4.0
    upright probe my_level:build_space --engine pymunk==6.11.1 --engine pymunk==7.3.1
    """
    from dataclasses import replace

    from validation.running.function_files import is_function
    from validation.running.model_files import is_model

    if not (is_model(file) or is_function(file)):
        raise click.BadParameter(f"{file!r} is no model; give the path of a .xml or .urdf file, or MODULE:FUNCTION")
    options = Options(
        scenarios=(file,),
        engines=engines,
        dt=dt,
        model=replace(model, probes=probes or get_args(ProbeKind)),
        ensemble=ensemble,
        limits=arguments.make_limits(workers, time_limit),
        quiet=as_json,
        progress=Shown(quiet=as_json),
        database=database,
    )
    if len(engines) < 2:
        _run(replace(options, ensemble=0))
        return
    signs = [sign for pair in pairwise(engines) for sign in _compare(pair, options)]
    raise SystemExit(1 if {"worse", "mixed"} & {*signs} else 2 if "not compared" in signs else 0)


def _run(options: Options) -> None:
    from validation.cli.views import must_have_run, resumable, show_session
    from validation.running.session import run_session
    from validation.store import open_store

    with open_store(options.database) as store, resumable(options.database):
        store.must_be_writable()
        session = run_session(store, options, arguments.command_line())
    show_session(session, options)
    must_have_run(session)


def _compare(sides: tuple[str, str], options: Options) -> list[Sign]:
    """The signs of all probes, which are printed and stored."""
    from validation.cli.views import store_comparison
    from validation.report.probes import render_probes
    from validation.running.comparing import compare_engines
    from validation.store import open_store
    from validation.store.connection import uninterrupted

    with open_store(options.database) as store:
        store.must_be_writable()
        try:
            done = compare_engines(
                sides,
                options.scenarios,
                profile=None,
                dt=options.dt,
                limits=options.limits,
                starts=options.ensemble,
                progress=options.progress,
                model=options.model,
            )
        except KeyboardInterrupt:
            raise click.ClickException("stopped before anything was compared") from None
        with uninterrupted():
            number, lines = store_comparison(store, done, arguments.command_line())
    if options.quiet:
        click.echo("\n".join(lines))
    else:
        named = arguments.database_arguments(options.database)
        click.echo(render_probes(done, number=number, database=named))
        click.echo(f"Stored as comparison {number} in {arguments.named(options.database)}.")
    return [one.sign for one in done.comparisons]
