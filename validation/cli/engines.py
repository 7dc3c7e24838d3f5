"""upright engines"""

import click

from validation.cli.arguments import complete_engine

TEST = "test"


@click.command()
@click.argument("words", nargs=-1, metavar="[[test] ENGINE]", shell_complete=complete_engine)
@click.option("--json", "as_json", is_flag=True, help="One object per line.")
def command(words: tuple[str, ...], as_json: bool) -> None:
    """List the engines that are present, with version and profiles; of one, every setting; or test one.

    `test` runs small scenes with known motions and checks that the engine keeps the protocol (docs/protocol.md). Exit
    status 0: it does. 1: it does not. 2: it could not be run.

    \b
    upright engines
    upright engines pymunk
    upright engines test ./my_engine
    """
    from validation.engines import engine_of
    from validation.report.listing import engine_json, engine_lines, engine_list

    if not words:
        click.echo(engine_list(as_json=as_json))
        return
    if words[0] == TEST and len(words) == 2:
        raise SystemExit(_test(words[1], as_json=as_json))
    if len(words) > 1 or words[0] == TEST:
        raise click.UsageError(f"{' '.join(words)!r}: give nothing, an ENGINE, or {TEST} ENGINE")
    choice = engine_of(words[0])
    click.echo(engine_json(choice) if as_json else engine_lines(choice))


def _test(word: str, *, as_json: bool) -> int:
    """1 where a check fails."""
    from validation.cli.progress import Shown
    from validation.engines import engine_of
    from validation.records.text import one_line
    from validation.report.jsonl import json_line
    from validation.running.environments import commands_of, environments_of
    from validation.running.session import warm_kernels
    from validation.tools.conformance import conformance, counts

    choice = engine_of(word)
    commands = commands_of(environments_of([choice], Shown()))
    warm_kernels(Shown())
    checks = conformance(choice, commands)
    for check in checks:
        about, summary = f"{check.about}:", one_line(check.summary)
        line = json_line(about=check.about, status=check.status, told=check.summary) if as_json else ""
        click.echo(line or f"{check.status:8} {about:17} {summary}")
    if not as_json:
        click.echo(f"{word}: {counts(checks)}")
    return int(any(check.status == "fails" for check in checks))
