"""upright show"""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import OutputFile, command_line, complete_scenario, database_option
from validation.cli.progress import Shown

if TYPE_CHECKING:
    from validation.records.case import Result
    from validation.store import Store


@click.command()
@click.argument("scenario", metavar="SCENARIO", shell_complete=complete_scenario)
@click.option("-e", "--engine", "engines", multiple=True, metavar="ENGINE", help="Only these; as often as wanted.")
@click.option("--run", "run", type=int, default=None, help="Of which run.  [default: the latest that has it]")
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
    """
    from validation.report.motion import motion_gif, motion_png
    from validation.report.motion_files import tracks_of
    from validation.report.player import motion_html
    from validation.report.table import render_case
    from validation.store import open_store

    with open_store(database) as store:
        number, results = find_cases(store, scenario, engines, run, database)
        scene, tracks = tracks_of(store, [(result.case.engine_label, result) for result in results])
        if at is not None and not 0.0 <= at <= scene.duration:
            raise click.UsageError(f"--at: {at:g} is out of range; allowed: 0 to {scene.duration:g} s")
        click.echo(render_case(results, store.verdicts(number)))
    if not tracks:
        still = f"no engine completed {results[0].case.label} in run {number}; nothing moves"
        if html or gif or png:
            raise click.ClickException(f"{still}; nothing was written")
        click.echo(still)
        return
    if gif:
        motion_gif(scene, tracks, gif)
    if png:
        motion_png(scene, tracks, png, at=at)
    page = html
    if not (html or gif or png):
        page = Path(tempfile.mkdtemp(prefix="upright-")) / "motion.html"
    if page:
        title = f"{results[0].case.label}, run {number}"
        page.write_text(motion_html(scene, tracks, title), encoding="utf-8")
    for path in filter(None, (gif, png, page)):
        click.echo(f"wrote {path}")
    if page and page != html and not no_open:
        webbrowser.open(page.resolve().as_uri())


def find_cases(
    store: Store, word: str, engines: Sequence[str], run: int | None, database: str
) -> tuple[int, list[Result]]:
    """Run number and the cases of this scenario in it, in the order of the run; what no run has is run now."""
    from validation.cli.views import resumable
    from validation.running.options import Options
    from validation.running.runner import Limits
    from validation.running.session import run_session

    found = stored_cases(store, word, engines, run)
    if found is None:
        options = Options(
            scenarios=(word,), engines=tuple(engines), limits=Limits(), database=database, progress=Shown()
        )
        with resumable(database):
            session = run_session(store, options, command_line())
        found = session.run, store.results(session.run)
    return found


def stored_cases(store: Store, word: str, engines: Sequence[str], run: int | None) -> tuple[int, list[Result]] | None:
    """Of the latest run that has them all; None where none has. Raises ClickException where `run` has not."""
    from validation.running.selection import selection_of

    selection = selection_of(store, [word], engines)
    for number in [run] if run is not None else [stored.number for stored in store.runs()]:
        found = [result for result in store.results(number) if result.case in selection]
        lacking = selection.lacking(result.case for result in found)
        if not lacking:
            return number, found
        if run is not None:
            raise click.ClickException(f"run {run} has no {lacking[0]}; without --run the latest that has it is shown")
    return None
