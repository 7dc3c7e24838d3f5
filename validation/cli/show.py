"""upright show"""

import tempfile
import webbrowser
from pathlib import Path

import click

from validation.cli.arguments import NUMBER, OutputFile, command_line, complete_scenario, database_option, written
from validation.cli.progress import Shown
from validation.running.options import Options


@click.command()
@click.argument("scenario", metavar="SCENARIO", shell_complete=complete_scenario)
@click.option("-e", "--engine", "engines", multiple=True, metavar="ENGINE", help="Only these; as often as wanted.")
@click.option("--run", "run", type=NUMBER, default=None, help="Of which run.  [default: the latest that has it]")
@click.option("--comparison", type=NUMBER, default=None, help="Both sides of it in this stored comparison.")
@click.option("--html", type=OutputFile(".html", ".htm"), help="Write the motion as a page that plays it.")
@click.option("--gif", type=OutputFile(".gif"), help="Write the motion as an animated GIF.")
@click.option("--png", type=OutputFile(".png"), help="Write a still picture.")
@click.option("--at", type=float, default=None, help="Time of the still picture, s.  [default: the end]")
@click.option("--no-open", is_flag=True, help="Do not open a page in the browser.")
@database_option
def command(
    scenario: str,
    engines: tuple[str, ...],
    run: int | None,
    comparison: int | None,
    html: Path | None,
    gif: Path | None,
    png: Path | None,
    at: float | None,
    no_open: bool,
    database: str,
) -> None:
    """Show one case: its numbers, engine by engine, and its motion, engines side by side.

    Of the latest run that has it; what no run has is run first. Below the numbers stand the verdicts, and where the
    motion first differs from the accepted one. Contact forces are red where an engine reports them.
    Without --html, --gif or --png a page is written to a temporary folder and opened.

    \b
    upright show stack:n=10
    upright show upright-block:start=rock --engine reference --engine pymunk
    upright show bouncing-ball --gif ball.gif
    upright show stack:n=10 --comparison 3
    """
    from scenarios.frames import are_moved
    from validation.cli.views import resumable
    from validation.report.listing import frames_text
    from validation.report.motion_files import absent_motions, tracks_of, tracks_of_comparison
    from validation.report.pictures import motion_gif, motion_png
    from validation.report.player import motion_html
    from validation.report.table import render_case
    from validation.running.runner import Limits
    from validation.running.session import stored_or_run
    from validation.store import open_store

    with open_store(database) as store:
        asked = Options(scenarios=(scenario,), engines=engines, limits=Limits(), database=database, progress=Shown())
        if comparison is not None:
            label, of, table, absent = scenario, f"comparison {comparison}", "", list[str]()
            scene, tracks = tracks_of_comparison(store, comparison, scenario)
        else:
            with resumable(database):
                number, results = stored_or_run(store, asked, run, command_line())
            label, of = results[0].case.label, f"run {number}"
            named = [(result.case.engine_label, result) for result in results]
            absent = absent_motions(named)
            scene, tracks = tracks_of(store, named)
            table = render_case(results, store.verdicts(number))
        if at is not None and not 0.0 <= at <= scene.duration:
            raise click.UsageError(f"--at: {at:g} is out of range; allowed: 0 to {scene.duration:g} s")
    if table:
        click.echo(table)
    if are_moved(scene):
        click.echo(frames_text(scene))
    if not tracks:
        still = f"no engine completed {label} in {of}; nothing moves"
        if html or gif or png:
            raise click.ClickException(f"{still}; nothing was written")
        click.echo(still)
        return
    if gif:
        with written(gif):
            motion_gif(scene, tracks, gif)
    if png:
        with written(png):
            motion_png(scene, tracks, png, at=at)
    page = html
    if not (html or gif or png):
        page = Path(tempfile.mkdtemp(prefix="upright-")) / "motion.html"
    if page:
        with written(page):
            page.write_text(motion_html(scene, tracks, f"{label}, {of}", absent=absent), encoding="utf-8")
    for path in filter(None, (gif, png, page)):
        click.echo(f"wrote {path}")
    if page and page != html and not no_open:
        webbrowser.open(page.resolve().as_uri())
