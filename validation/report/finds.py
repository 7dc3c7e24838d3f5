"""What people read of finds: in a list, in a line, and what became of them."""

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from scenarios.scene import Scene
from validation.records.names import with_profile
from validation.records.quantities import time_step
from validation.records.simulation import Simulation
from validation.records.stored import StoredFind
from validation.records.text import one_line
from validation.report.hints import step_name
from validation.report.table import text_of
from validation.running.planning import STEP

FindState = Literal["fails", "known", "fixed", "passes", "not simulated"]
"""Of a find in a job. fails: its law is broken and nobody has marked it as known, or another law is; fixed: it is
broken no more since this job; passes: likewise, as before."""

MOST_OTHERS = 6  # that a list names
EXPECTATIONS = {
    "broken": (
        "The scene is passive and its numbers are ordinary; a simulation of it ends, with finite numbers.",
        "The simulation goes on to the end with finite positions and speeds.",
    ),
    "went through": (
        "Both are solid, and no step takes a body further than half the width of the thinnest one.",
        "The two collide and part where they met.",
    ),
    "left": (
        "The wall is solid, and no step takes a body further than half the width of the thinnest one.",
        "The body stays inside.",
    ),
    "came apart": (
        "The joint is no spring: what it ties stays tied.",
        "The joint stays met, but for an error that is small against the bodies.",
    ),
    "blew up": (
        "Gravity alone acts on the scene: contacts, friction and restitution up to 1 can only take energy out of it.",
        "The total energy never rises, but for a discretisation error that is small against it.",
    ),
    "hangs": (
        "Gravity acts on it and it is in contact with nothing that could carry it.",
        "It falls.",
    ),
    "keeps moving": (
        "It lies where friction holds it against gravity, so friction takes its speed away.",
        "It slows down and stops.",
    ),
    "moved": (
        "The scene starts at rest in an equilibrium that friction holds with some in hand.",
        "Nothing moves.",
    ),
    "fell over": (
        "The scene starts at rest in an equilibrium that friction holds with some in hand.",
        "It stays upright.",
    ),
    "never rested": (
        "The scene starts at rest in an equilibrium that friction holds with some in hand.",
        "It stays at rest, or comes to rest.",
    ),
    "outside the friction cone": (
        "Coulomb's law: contact forces press, and friction is at most its coefficient times the normal force. A "
        "pyramid in place of the cone would explain less than half of this.",
        "The reported force lies in the friction cone.",
    ),
    "momentum not kept": (
        "Nothing outside pushes along these axes, so the momentum along them is constant (Newton's third law).",
        "The momentum stays what it is at the start, but for round-off.",
    ),
}
EXPECTATIONS["does not hold: bodies move as they must"] = (
    "Nothing bounces, and one body meets one other, or joints alone tie bodies: the laws of Newton and Coulomb leave "
    "no choice, and finer steps do not bring the simulation to the motion that they have.",
    "The simulation is near the exact motion, the nearer the finer its steps.",
)
EXPECTATIONS["energy gained"] = EXPECTATIONS["blew up"]
"""Of each oracle that a script shows: the law that is broken, and what is expected in place of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFind:
    """What became of a find in a job: simulated again, or found by its search."""

    find: StoredFind
    state: FindState
    line: str  # what became of it, for people
    oracle: str = ""  # the law that is broken now, where it is another than its own
    wall_time: float = 0.0  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFinds:
    """Those of a job's engines: first what was simulated again, then what is new."""

    finds: tuple[JobFind, ...] = ()
    new: int = 0  # of them, found by the job's own search
    searched: bool = False
    stopped: bool = False  # the search, by Ctrl-C

    def of(self, state: FindState) -> list[JobFind]:
        return [one for one in self.finds if one.state == state]

    def causes(self, state: FindState) -> list[tuple[JobFind, list[StoredFind]]]:
        """Those of one state, as `grouped`: the first of each cause, and the others."""
        ones = {one.find.number: one for one in self.of(state)}
        now = {number: one.oracle for number, one in ones.items() if one.oracle}
        return [(ones[first.number], others) for first, others in grouped([one.find for one in ones.values()], now)]

    @property
    def summary(self) -> str:
        """12 simulated again, 1 breaks its law and is not known, 10 known, 1 fixed; "" where there is none."""
        if not self.finds and not self.searched:
            return ""
        counts = Counter(one.state for one in self.finds)
        failing = counts["fails"]
        breaks = "1 breaks its law and is not known" if failing == 1 else f"{failing} break their law and are not known"
        again = len(self.finds) - self.new
        return f"{again} simulated again, {breaks}, {counts['known']} known, {counts['fixed']} fixed"


NO_FINDS = JobFinds()


def run_command(find: StoredFind) -> str:
    """What runs its scene, saved as find3.json, with the engine's settings and the step that it was found with."""
    engine = shlex.quote(with_profile(find.engine, find.profile))
    step = "" if find.dt == STEP else f" --dt {step_name(find.dt)}"
    return f"upright run find{find.number}.json --engine {engine}{step}"


def since_of(find: StoredFind) -> str:
    """since 3.2.0, not in 3.1.7; since 2.5.0 at least; "" where nobody has asked."""
    if not find.since:
        return ""
    before = f", not in {one_line(find.not_in)}" if find.not_in else " at least"
    return f"since {one_line(find.since)}{before}"


def since_line(find: StoredFind, left_out: Sequence[str]) -> str:
    """`left_out`: releases that could not be run."""
    what = f"find {find.number}: {find.engine}: {find.oracle} {since_of(find)}"
    every = "" if find.not_in else ": every release that could be run breaks the law"
    unknown = f"; could not be run: {', '.join(left_out)}" if left_out else ""
    return f"{what}{every}{unknown}"


def state_of(find: StoredFind) -> str:
    """new; known (#31); fixed in 3.4.0"""
    if find.fixed_in:
        return f"fixed in {one_line(find.fixed_in)}"
    if not find.known:
        return "new"
    return f"known ({one_line(find.link)})" if find.link else "known"


def standing_of(find: StoredFind) -> str:
    """new, known, fixed"""
    return "fixed" if find.fixed_in else "known" if find.known else "new"


def grouped(
    finds: Sequence[StoredFind], now: Mapping[int, str] = MappingProxyType({})
) -> list[tuple[StoredFind, list[StoredFind]]]:
    """Those that are one cause for a person: the same law, broken by the same engine with other values of the same
    settings, whatever shapes break it. Of each group the find with the fewest bodies and joints, then the others; what
    is known or fixed is no group with what is new. `now`: by number, the law that a find breaks now, where that is
    another than its own; such finds are one cause only with each other."""
    groups: dict[Any, list[StoredFind]] = {}
    for find in finds:
        engine, _, settings = find.engine.partition(":")
        names = tuple(sorted(setting.partition("=")[0] for setting in settings.split(",")))
        laws = _expectation(find.oracle), _expectation(now.get(find.number, find.oracle))
        key = engine, find.engine_version, find.profile, names, laws, standing_of(find)
        groups.setdefault(key, []).append(find)
    ordered = [sorted(found, key=lambda one: (*_size(one.scene), one.number)) for found in groups.values()]
    return [(first, others) for first, *others in ordered]


def _expectation(oracle: str) -> str:
    return EXPECTATIONS.get(oracle, (oracle,))[0]


def _size(scene: Scene) -> tuple[int, int]:
    return len(scene.bodies), len(scene.joints)


def also_line(others: Sequence[StoredFind], shown: Callable[[StoredFind], str] | None = None) -> str:
    """also seen: energy gained: box, half-space (find 4); blew up: 2 box (find 5); "" where there are none. `shown`:
    one of them, where it is not to be text."""
    names = [(shown or also_name)(find) for find in others[:MOST_OTHERS]]
    more = f" and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
    return f"also seen: {'; '.join(names)}{more}" if others else ""


def also_name(find: StoredFind) -> str:
    return f"{find.cause} (find {find.number})"


def render_finds(finds: Sequence[StoredFind]) -> str:
    """A row of each group."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for name in ("find", "engine", "state", "bodies", "seed"):
        table.add_column(name)
    table.add_column("what", ratio=1)
    for find, others in grouped(finds):
        engine = Text(f"{find.engine}@{find.profile}\n{find.engine_version}", overflow="fold")
        bodies = str(len(find.scene.bodies))
        why = f"\n{one_line(find.known)}" if find.known else ""
        why += f"\n{since_of(find)}" if find.since else ""
        why += f"\n{also_line(others)}" if others else ""
        message = f"{find.cause}: {one_line(find.message)} (dt {time_step(find.dt)}){why}"
        table.add_row(str(find.number), engine, Text(state_of(find)), bodies, str(find.seed), Text(message))
    return text_of(table)


def find_line(find: StoredFind) -> str:
    count = len(find.scene.bodies)
    bodies = f"{count} {'body' if count == 1 else 'bodies'}"
    state = "" if state_of(find) == "new" else f" [{state_of(find)}]"
    what = f"{find.oracle} with {bodies} at dt = {find.dt:.6g} s: {one_line(find.message)}"
    return f"find {find.number}{state}: {find.engine}: {what}"


def search_line(engine: str, seed: int, found: int, tried: int, declined: int, wall: float, given_up: int = 0) -> str:
    """What a search for finds did; `wall`: s. given_up: of those declined, at a documented limit of our own engine."""
    rate, ended = tried / wall if wall else 0.0, f" ({given_up} given up)" if given_up else ""
    return (
        f"{engine}: {tried} scenes in {wall:.0f} s ({rate:.0f} a second) "
        f"from seed {seed}, {declined} declined{ended}, {found or 'nothing'} found"
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


def job_lines(finds: JobFinds, db_option: str) -> list[str]:
    """Which finds fail a job, which are fixed, how many there are, and what to do next; of what is known the count."""
    lines = [line for _, line in news_lines(finds)]
    lines += [f"finds: {finds.summary}"] if finds.summary else []
    if failing := finds.causes("fails"):
        again, mark = commands_of(failing[0][0].find, db_option)
        lines.append(f"Next: {again} · {mark}")
    return lines


def news_lines(finds: JobFinds) -> list[tuple[JobFind, str]]:
    """What fails a job, then what is fixed, a line for each cause: of its find with the fewest bodies, with the others
    after it."""
    causes = [*finds.causes("fails"), *finds.causes("fixed")]
    return [(one, "; ".join(filter(None, (one.line, also_line(others))))) for one, others in causes]


def commands_of(find: StoredFind, db_option: str) -> tuple[str, str]:
    """To simulate it again, and to mark it as known."""
    return f"upright finds {find.number} --replay{db_option}", f"upright finds {find.number} --known REASON{db_option}"


def render_relations(rows: Mapping[tuple[str, bool], tuple[int, int, int, int]]) -> str:
    """Of a scene and its twin, by relation and whether the engine promises it: in how many scenes it was tried, in how
    many it holds until the first sample, how many of them were compared over the whole run, and in how many it holds
    there."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("moves alike when")
    for name in ("promised", "scenes", "in a step", "in the run"):
        table.add_column(name, justify="right")
    for (relation, promised), (scenes, in_a_step, runs, in_the_run) in sorted(rows.items()):
        counts = (in_a_step, scenes), (in_the_run, runs)
        shares = (f"{100.0 * count / of:.0f} %" if of else "" for count, of in counts)
        table.add_row(relation, "yes" if promised else "no", str(scenes), *shares)
    return text_of(table)
