"""upright regressions"""

import click

from validation.cli.arguments import database_arguments, database_option, run_asked_for, run_option


@click.command()
@run_option
@click.option("--all", "everything", is_flag=True, help="Improvements too, and what is fixed or accepted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per group on standard output, nothing else.")
@database_option
def command(run: int | None, everything: bool, as_json: bool, database: str) -> None:
    """List what is worse: verdicts of one cause are one group.

    Each group has its first bad commit and the last good one before it, its mark, and for its worst cases the metric,
    old and new value, evidence, and what that means. Then follows what breaks a law of physics and always did. Exit
    status 1 where a check would fail for one of the groups.

    \b
    upright regressions
    upright regressions --run 12 --all --json
    """
    from validation.report.groups import describe_states, group_line, render_groups
    from validation.report.terminal import MOST_STANDING, standing_lines
    from validation.store import open_store

    db_option = database_arguments(database)
    with open_store(database) as store:
        number = run_asked_for(store, run, database)
        seen_from = store.run(number)
        groups = store.groups(number, closed=everything)
        wrong = store.standing(number)
    if not everything:
        groups = [group for group in groups if group.open and group.kind != "improved"]
    if as_json:
        for group in groups:
            click.echo(group_line(number, group))
    else:
        at = f"run {number}" + (f" at {seen_from.info.commit[:8]}" if seen_from.info.commit else "")
        if groups:
            click.echo(render_groups(groups))
            click.echo(f"{describe_states(groups)}, as seen from {at}")
            first, reason = groups[0].key[:6], f'--reason "..."{db_option}'
            accept = f"upright accept --group {first} --run {number} {reason}"
            click.echo(f"Next: upright mark acknowledge {first} {reason} · {accept} · upright mark --help")
        else:
            click.echo(f"nothing is worse, as seen from {at}")
        every = f"upright regressions --all --run {number}{db_option}"
        for line in standing_lines(wrong, most=len(wrong) if everything else MOST_STANDING, more=every):
            click.echo(line)
    raise SystemExit(int(any(group.fails for group in groups)))
