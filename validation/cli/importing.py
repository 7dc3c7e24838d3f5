"""upright import"""

from __future__ import annotations

import json
from pathlib import Path

import click

from validation.cli.arguments import OutputFile, complete_engine, make_limits, model_options, time_limit_option, written
from validation.cli.progress import Shown
from validation.running.options import ModelOptions


@click.command()
@click.argument("file", metavar="MODEL")
@click.option(
    "-e", "--engine", "engine", metavar="ENGINE", shell_complete=complete_engine,
    help="Which loads the model.  [default: the first that does]",
)  # fmt: skip
@click.option("-o", "--output", type=OutputFile(".json"), help="The scene's file.  [default: standard output]")
@model_options
@time_limit_option
def command(file: str, engine: str | None, output: Path | None, model: ModelOptions, time_limit: float) -> None:
    """Make a scene of ours out of an MJCF, a URDF or a function that builds a pymunk.Space, for runs across engines.

    An engine loads the model; bodies, shapes, joints, what acts along them and motors become a scene that stands alone.
    What does not carry over is listed by name on standard error. Exit status 0: written; 2: the model is not loaded, or
    makes no scene.

    \b
    upright import robot.xml --output robot.json
    upright import kuka.urdf --engine pybullet:fixed_base=true,motors=false --output kuka.json
    upright import my_level:build_space --output level.json
    upright run robot.json --engine mujoco --engine pybullet --engine rapier
    """
    from scenarios.scene import write_scene
    from validation.engines import engine_of
    from validation.running.function_files import is_function
    from validation.running.importing import import_model
    from validation.running.model_files import is_model
    from validation.running.models import engines_for, models_of
    from validation.running.session import running_engines

    if not (is_model(file) or is_function(file)):
        raise click.BadParameter(f"{file!r} is no model; give the path of a .xml or .urdf file, or module:function")
    given = models_of(file, model)
    if len(given) > 1:
        raise click.UsageError(f"--from: {len(given)} starts given; a scene has one")
    choice = engine_of(engine) if engine else engines_for(given)[0]
    with running_engines([choice], Shown(quiet=True), None) as (pool, _):
        found = import_model(pool, given[0], choice, make_limits(None, time_limit))
    text = json.dumps(json.loads(write_scene(found.scene, indent=None)), indent=1)
    if output is None:
        click.echo(text)
    else:
        with written(output):
            output.write_text(text + "\n", encoding="utf-8")
    bodies, joints = len(found.scene.bodies), len(found.scene.joints)
    click.echo(f"{given[0].name}: {bodies} bodies, {joints} joints, as {choice.label} has loaded it.", err=True)
    click.echo("Does not carry over:" if found.lost else "All of it carries over.", err=True)
    for line in found.lost:
        click.echo(f"  {line}", err=True)
