"""upright scenarios, upright schema"""

import json

import click

from validation.cli.arguments import complete_scenario


@click.command()
@click.argument("name", required=False, metavar="[SCENARIO]", shell_complete=complete_scenario)
@click.option("--json", "as_json", is_flag=True, help="Print the scene as JSON, or the list, one object per line.")
@click.option("--cite", is_flag=True, help="Print what the truth says and where it comes from.")
def command(name: str | None, as_json: bool, cite: bool) -> None:
    """List the scenarios with their parameters, or show one: what it probes, its truth and where that is from.

    \b
    upright scenarios
    upright scenarios stack:n=20,mass_ratio=100
    upright scenarios stack:n=3 --json > my_scene.json
    """
    from scenarios.catalogue import cite as citation
    from scenarios.catalogue import scenario_of
    from scenarios.scene import write_scene
    from validation.report.listing import scenario_lines, scenario_list, scenario_list_json

    if name is None:
        click.echo(scenario_list_json() if as_json else scenario_list())
        return
    scenario = scenario_of(name)
    if as_json:
        click.echo(write_scene(scenario.scene))
    elif cite:
        click.echo(citation(scenario))
    else:
        click.echo(scenario_lines(scenario))


@click.command()
def schema() -> None:
    """Print the JSON Schema of scene files, for editors and for programs that write scenes.

    \b
    upright schema > scene.schema.json
    """
    from scenarios.schema import scene_schema

    click.echo(json.dumps(scene_schema(), indent=1))
