"""What people read of finds: in a list, in a line, and what became of them."""

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from validation.records.quantities import time_step
from validation.records.simulation import Simulation
from validation.records.stored import StoredFind
from validation.records.text import one_line
from validation.report.table import text_of


def state_of(find: StoredFind) -> str:
    """new; known (#31); fixed in 3.4.0"""
    if find.fixed_in:
        return f"fixed in {one_line(find.fixed_in)}"
    if not find.known:
        return "new"
    return f"known ({one_line(find.link)})" if find.link else "known"


def render_finds(finds: Sequence[StoredFind]) -> str:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for name in ("find", "engine", "state", "bodies", "seed"):
        table.add_column(name)
    table.add_column("what", ratio=1)
    for find in finds:
        engine = Text(f"{find.engine}@{find.profile}\n{find.engine_version}", overflow="fold")
        bodies = str(len(find.scene.bodies))
        why = f"\n{one_line(find.known)}" if find.known else ""
        message = f"{find.cause}: {one_line(find.message)} (dt {time_step(find.dt)}){why}"
        table.add_row(str(find.number), engine, Text(state_of(find)), bodies, str(find.seed), Text(message))
    return text_of(table)


def find_line(find: StoredFind) -> str:
    count = len(find.scene.bodies)
    bodies = f"{count} {'body' if count == 1 else 'bodies'}"
    state = "" if state_of(find) == "new" else f" [{state_of(find)}]"
    what = f"{find.oracle} with {bodies} at dt = {find.dt:.6g} s: {one_line(find.message)}"
    return f"find {find.number}{state}: {find.engine}: {what}"


def search_line(engine: str, seed: int, found: int, tried: int, declined: int, wall: float) -> str:
    """What a search for finds did; `wall`: s."""
    rate = tried / wall if wall else 0.0
    return (
        f"{engine}: {tried} scenes in {wall:.0f} s ({rate:.0f} a second) "
        f"from seed {seed}, {declined} declined, {found or 'nothing'} found"
    )


def replay_line(find: StoredFind, now: Simulation | None, broken: Mapping[str, str]) -> str:
    """What became of a find; `broken`: the message of each law that is. `now` is None where its engine is not here."""
    about = f"find {find.number}: {find.engine}"
    if now is None:
        return f"{about} is not here: not replayed"
    if now.outcome == "declined":
        return f"{about} does not run it any more: {one_line(now.reason)}"
    if not broken:
        return f"{about} breaks no law here any more (it did: {one_line(find.message)})"
    oracle = find.oracle if find.oracle in broken else next(iter(broken))
    state = " [known]" if find.known else f" [again, after it was {state_of(find)}]" if find.fixed_in else ""
    return f"{about}{state}: {oracle}: {one_line(broken[oracle])}"


def finds_line(replayed: int, failing: int, known: int, fixed: int) -> str:
    """finds: 12 simulated again, 1 breaks its law and is not known, 10 known, 1 fixed"""
    breaks = "1 breaks its law and is not known" if failing == 1 else f"{failing} break their law and are not known"
    return f"finds: {replayed} simulated again, {breaks}, {known} known, {fixed} fixed"
