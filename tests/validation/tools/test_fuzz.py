"""Fuzzing finds what breaks a law, shrinks it, keeps it, and finds nothing in an engine that breaks none."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import itertools
import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scenarios.scene import HalfPlane, PlanarBody, PlanarScene, Polygon, Scene
from scenarios.strategies import planar_scenes
from tests.effort import few
from tests.validation.command import call, kept_servers, upright
from validation import engines
from validation.cli.stopping import stop_again, stop_as_with_ctrl_c, stopped_status
from validation.engines import engine_of
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.records.simulation import Simulation
from validation.records.trajectory import PlanarTrajectory
from validation.running.processes.pool import Pool
from validation.store import StoredFind, open_store
from validation.tools.fuzzing import search as fuzzing
from validation.tools.fuzzing.drawing import BATCH, draw
from validation.tools.fuzzing.fault import Fault, Trial
from validation.tools.fuzzing.finds import Replayed, corpus_of, is_found_by
from validation.tools.fuzzing.interrupt import ctrl_c_calls
from validation.tools.fuzzing.oracles import Violation, judge_scene, resolving
from validation.tools.fuzzing.search import Fuzzer, Search, was_starved

PLUGINS = Path(__file__).parents[2] / "plugins"

GHOST = '''
import numpy as np
from validation.records.trajectory import PlanarTrajectory

class Ghost:
    """Exact free flight: bodies pass through one another and the ground."""
    name, version = "ghost", "1.0"
    def declines(self, scene): return None if scene.dimension == 2 else "it is planar"
    def simulate(self, scene, dt, settings):
        t = np.linspace(0.0, scene.duration, 31)
        start = np.array([(*b.position, b.angle) for b in scene.bodies])
        twist = np.array([(*b.velocity, b.spin) for b in scene.bodies])
        g = np.array([*scene.gravity, 0.0])
        return PlanarTrajectory(
            time=t, dt=dt, velocity_lag=0.0,
            pose=start + twist * t[:, None, None] + 0.5 * g * t[:, None, None] ** 2,
            twist=twist + g * t[:, None, None],
        )

class Short(Ghost):
    """Forgets the last body."""
    def simulate(self, scene, dt, settings):
        whole = super().simulate(scene, dt, settings)
        pose, twist = whole.pose[:, :-1], whole.twist[:, :-1]
        return PlanarTrajectory(time=whole.time, dt=dt, velocity_lag=0.0, pose=pose, twist=twist)
'''


@pytest.fixture(autouse=True)
def servers() -> Iterator[None]:
    with kept_servers():
        yield


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The engine that breaks on purpose, and the ghosts, as a user's own engines are found."""
    (tmp_path / "ghost.py").write_text(GHOST)
    for folder in (PLUGINS, tmp_path):
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", f"{PLUGINS}:{tmp_path}")
    engines._registered.cache_clear()
    yield
    engines._registered.cache_clear()


def search(
    word: str, *, seconds: float, seed: int = 1, enough: int = 1, clock: Callable[[], float] = time.monotonic
) -> Search:
    with Pool() as pool:
        return Fuzzer(pool, engine_of(word), None, seconds, clock).run(seed, enough=enough)


@pytest.mark.usefixtures("plugins")
@pytest.mark.slow
def test_energy_that_two_bodies_gain_where_they_touch_is_found_and_shrunk_to_those_two() -> None:
    (fault,) = search("broken:fault=gain", seconds=180.0).faults
    assert fault.oracle in ("energy gained", "blew up", "hangs"), "which a person would see first"
    assert len(fault.scene.bodies) == 2


def test_a_hang_is_none_where_others_had_the_cores() -> None:
    for share, starved in ((0.0, False), (0.2, True), (0.9, False)):
        assert was_starved(Simulation(outcome="timed_out", wall_time=10.0, cpu_share=share)) is starved


def test_a_signal_to_end_in_the_background_is_noted_and_never_raised_in_a_callback() -> None:
    """There Ctrl-C is ignored."""
    noted: list[bool] = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, stop_as_with_ctrl_c)
    try:
        with ctrl_c_calls(lambda: noted.append(True)):
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
        assert noted == [True] and stopped_status() == 128 + signal.SIGTERM
        signal.signal(signal.SIGTERM, stop_as_with_ctrl_c)
        with ctrl_c_calls(lambda: noted.append(True)):
            pass
        assert signal.getsignal(signal.SIGTERM) is stop_as_with_ctrl_c
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_a_stop_that_a_callback_of_compiled_code_swallows_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As numba's are called when it compiles: an exception cannot leave them."""
    monkeypatch.setattr(sys, "unraisablehook", stop_again)
    with pytest.raises(KeyboardInterrupt):
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        time.sleep(5.0)


@pytest.mark.usefixtures("plugins")
def test_ctrl_c_before_a_search_begins_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the scenes are drawn of which the engine is asked what it takes."""
    taken, signals = Fuzzer._taken, iter([signal.SIGINT])

    def stopped_once(fuzzer: Fuzzer, scenes: Sequence[Scene]) -> list[bool]:
        for number in signals:
            signal.raise_signal(number)
        return taken(fuzzer, scenes)

    monkeypatch.setattr(Fuzzer, "_taken", stopped_once)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Pool() as pool:
            fuzzer = Fuzzer(pool, engine_of("broken:fault=gain"), None, 60.0)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            found = fuzzer.run(1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped and found.tried == 0


@pytest.mark.usefixtures("plugins")
@pytest.mark.slow
def test_ctrl_c_ends_a_search_with_what_it_has() -> None:
    """Raised in one of hypothesis's callbacks it would be printed, and the search would go on."""
    calls = iter(range(10**6))

    def clock() -> float:
        if next(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return time.monotonic()

    before = signal.getsignal(signal.SIGINT)
    done = search("broken:fault=none", seconds=60.0, clock=clock)
    assert done.stopped and done.wall < 30.0
    assert done.next_seed == 1, "its first batch was not searched to its end"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("plugins")
def test_a_body_without_which_the_law_is_broken_all_the_same_is_taken_out() -> None:
    """Taking it out of the drawn heap would let the others down; out of the scene, it moves nothing."""
    bodies = tuple(box(name, mass=1.0, position=(x, 0.0)) for name, x in (("p", 0.0), ("q", 3.0), ("r", 6.0)))
    scene = PlanarScene(duration=0.5, bodies=bodies)
    with Pool() as pool:
        fuzzer = Fuzzer(pool, engine_of("broken:fault=raise"), None, 30.0)
        whole = Fault(oracle="broken", message="", scene=scene, dt=1.0 / 240.0, seed=1)
        assert len(fuzzer.shrunk(whole).scene.bodies) == 1


@pytest.mark.usefixtures("plugins")
def test_what_is_shrunk_breaks_the_law_at_least_half_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one body it would be only just a fault."""
    sizes = {3: 4.0, 2: 2.5, 1: 1.1}

    def judged(fuzzer: Fuzzer, trials: Sequence[Trial]) -> list[dict[str, Violation]]:
        broken = (Violation(oracle="energy gained", message="", size=sizes[len(scene.bodies)]) for scene, *_ in trials)
        return [{one.oracle: one} for one in broken]

    monkeypatch.setattr(Fuzzer, "judge", judged)
    bodies = tuple(box(name, mass=1.0, position=(x, 0.0)) for name, x in (("p", 0.0), ("q", 3.0), ("r", 6.0)))
    whole = Fault(
        oracle="energy gained", message="", scene=PlanarScene(bodies=bodies, duration=0.5), dt=0.01, seed=1, size=4.0
    )
    with Pool() as pool:
        assert len(Fuzzer(pool, engine_of("broken:fault=raise"), None, 30.0).shrunk(whole).scene.bodies) == 2


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("other", "counts"), [("broken", True), ("broken:fault=raise", False), ("broken:fault=gain", True)]
)
def test_what_another_release_breaks_as_well_is_not_of_this_one(other: str, counts: bool) -> None:
    """An engine without the fault stands for the other release."""
    body = box("p", mass=1.0, position=(0.0, 0.0))
    fault = Fault(oracle="broken", message="", scene=PlanarScene(duration=0.5, bodies=(body,)), dt=1.0 / 240.0, seed=1)
    with Pool() as pool:
        fuzzer = Fuzzer(pool, engine_of("broken:fault=raise"), None, 30.0, without=engine_of(other))
        fuzzer.deadline = time.monotonic() + 30.0
        assert fuzzer.is_of_release(fault) == counts


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("oracle", "message", "finer", "is_found"),
    [
        ("energy gained", "", 3.0, True),
        ("energy gained", "", 1.0, False),  # of the first order in the step
        ("broken", "not_finite: it warned", None, False),
        ("broken", "timed_out", None, True),
    ],
)
def test_what_a_finer_step_mends_is_no_find(
    monkeypatch: pytest.MonkeyPatch, oracle: str, message: str, finer: float | None, is_found: bool
) -> None:
    asked: list[Trial] = []

    def judged(fuzzer: Fuzzer, trials: Sequence[Trial]) -> list[dict[str, Violation]]:
        asked.extend(trials)
        return [{} if finer is None else {oracle: Violation(oracle=oracle, message="", size=finer)} for _ in trials]

    monkeypatch.setattr(Fuzzer, "judge", judged)
    scene = PlanarScene(bodies=(box("p", mass=1.0, position=(0.0, 0.0)),), duration=0.5)
    whole = Fault(oracle=oracle, message=message, scene=scene, dt=0.01, seed=1, size=4.0)
    with Pool() as pool:
        assert Fuzzer(pool, engine_of("broken:fault=raise"), None, 30.0).stays(whole) == is_found
    assert [dt for _, dt, _ in asked] in ([], [0.0025])


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    "word, outcome",
    few(
        1,
        [
            ("broken:fault=segfault", "crashed: SIGSEGV"),
            ("broken:fault=nan", "not_finite"),
            ("broken:fault=raise", "crashed: ValueError: the contact graph has a cycle"),
            ("ghost.Short", "all of the scene's"),
        ],
    ),
)
def test_an_engine_that_breaks_is_found_within_a_batch_and_shrunk_to_one_body(word: str, outcome: str) -> None:
    found = search(word, seconds=20.0)
    (fault,) = found.faults
    assert fault.oracle == "broken" and outcome in fault.message
    assert len(fault.scene.bodies) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("plugins")
def test_a_hang_is_a_fault_but_the_end_of_the_time_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search has two seconds: a scene that would have hung for longer is not held against the engine."""
    started = time.monotonic()
    assert search("broken:fault=hang", seconds=2.0).faults == []
    assert time.monotonic() - started < 30.0
    monkeypatch.setattr(fuzzing, "SCENE_LIMIT", 0.5)
    (fault,) = search("broken:fault=hang", seconds=4.0).faults
    assert fault.oracle == "broken" and "timed_out: killed after 0.5 s" in fault.message


@pytest.mark.usefixtures("plugins")
@pytest.mark.slow
def test_a_body_that_goes_through_the_ground_is_found_and_shrunk_to_a_unit_box_at_rest() -> None:
    """What a person sees first is what is found, although others go through one another as well."""
    (fault,) = search("ghost.Ghost", seconds=60.0).faults
    assert fault.oracle == "went through" and "ground" in fault.message
    (body,) = fault.scene.bodies
    assert (body.velocity, body.spin, body.friction, fault.scene.duration, fault.dt) == (
        (0.0, 0.0),
        0.0,
        0.0,
        0.5,
        1 / 240,
    )


@pytest.mark.slow
def test_an_engine_that_breaks_no_law_is_tried_until_the_time_is_over() -> None:
    """By a clock that goes on by a thirtieth of a second whenever somebody asks it."""
    times = itertools.count()
    found = search("reference", seconds=3.0, clock=lambda: next(times) / 30.0)
    assert found.faults == [] and found.tried >= 10 and found.declined == 0
    assert 3.0 <= found.wall < 3.0 + BATCH / 30.0, "as soon as the drawing of a batch has come to its end"


def test_the_scenes_of_a_seed_are_the_same_every_time_and_steps_vary() -> None:
    def drawn(seed: int) -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []
        draw(planar_scenes(), seed, lambda scene, dt: seen.append((scene.model_dump_json(), dt)))
        return seen

    first = drawn(7)
    assert first == drawn(7) != drawn(8)
    assert len({dt for _, dt in first}) == 3


# --- the power of the oracles ---------------------------------------------------------------------------------


def box(name: str, *, mass: float, **given: object) -> PlanarBody:
    square = Polygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
    return PlanarBody.model_validate({"name": name, "shape": square, "mass": mass} | given)


@functools.cache
def honest_motions() -> list[tuple[PlanarScene, float, PlanarTrajectory]]:
    """The first scenes of a seed on the reference engine, which gains and loses nothing in them."""
    motions: list[tuple[PlanarScene, float, PlanarTrajectory]] = []
    engine = Reference()

    def simulate(scene: PlanarScene, dt: float) -> None:
        dt = resolving(scene, dt)
        if len(motions) < 80:
            motions.append((scene, dt, engine.simulate(scene, dt, resolve_settings(engine, "fair", {}, scene, dt))))

    draw(planar_scenes(friction=False), 1, simulate)
    return motions


def after_an_impact(change: Callable[[np.ndarray], None]) -> Callable[[PlanarTrajectory], PlanarTrajectory]:
    """What would have been recorded, had the first impact of two free bodies changed their twists (S, 2, 3) so."""

    def apply(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.impacts is not None
        bodies = motion.twist.shape[1]
        met = np.flatnonzero((motion.impacts.a < bodies) & (motion.impacts.b < bodies))
        if not len(met):
            return motion
        pair = [int(motion.impacts.a[met[0]]), int(motion.impacts.b[met[0]])]
        twist = np.array(motion.twist)
        later = twist[motion.time > motion.impacts.time[met[0]]][:, pair]
        change(later)
        twist[np.ix_(motion.time > motion.impacts.time[met[0]], pair)] = later
        return dataclasses.replace(motion, twist=twist, state_hash="")

    return apply


def faster(twist: np.ndarray) -> None:
    twist *= 1.03


def slower(twist: np.ndarray) -> None:
    twist[:, 0] *= 0.97


def verdicts(fault: Callable[[PlanarTrajectory], PlanarTrajectory]) -> set[str]:
    found = [judge_scene(s, dt, Simulation(outcome="completed", trajectory=fault(m))) for s, dt, m in honest_motions()]
    return {oracle for broken in found for oracle in broken}


def test_the_reference_breaks_no_law_in_eighty_scenes() -> None:
    assert verdicts(lambda motion: motion) == set()


def test_six_per_cent_of_energy_gained_at_an_impact_is_found_within_eighty_scenes() -> None:
    assert "energy gained" in verdicts(after_an_impact(faster))


def test_three_per_cent_of_momentum_lost_by_one_of_two_bodies_is_found_within_eighty_scenes() -> None:
    assert "momentum not kept" in verdicts(after_an_impact(slower))


def test_lifting_a_small_body_onto_a_declared_skin_is_tolerated_and_throwing_it_as_high_as_itself_is_not() -> None:
    """A box of 0.1 m: 5 % of its energy scale is 3.5 mm of height, a skin is 10 mm."""
    square = Polygon(vertices=((-0.05, -0.05), (0.05, -0.05), (0.05, 0.05), (-0.05, 0.05)))
    body = PlanarBody(name="box", shape=square, mass=1.0, position=(0.0, 0.05))
    scene = PlanarScene(duration=1.0, gravity=(0.0, -9.81), bodies=(body,), boundaries=(HalfPlane(name="ground"),))
    for height, tolerance, tolerated in ((0.01, 0.01, True), (0.01, 0.0, False), (0.1, 0.01, False)):
        pose = np.zeros((2, 1, 3))
        pose[:, 0, 1] = 0.05, 0.05 + height
        motion = PlanarTrajectory(
            time=np.array([0.0, 1.0]), dt=1.0, velocity_lag=0.0, contact_tolerance=tolerance,
            pose=pose, twist=np.zeros((2, 1, 3)),
        )  # fmt: skip
        assert (judge_scene(scene, 1.0 / 240.0, Simulation(outcome="completed", trajectory=motion)) == {}) == tolerated


# --- finds ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plugins")
@pytest.mark.slow
def test_what_is_found_is_stored_listed_replayed_and_printed_as_a_scene_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One find is enough, so that nobody waits for the end of the time."""
    place, whole = ("--db", "fuzz.db"), Fuzzer.run
    monkeypatch.setattr(Fuzzer, "run", lambda *given: whole(*given, enough=1))
    words = ("--engine", "broken:fault=raise", "--minutes", "1", "--seed", "1")
    done = upright("fuzz", *words, *place, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "find 1: broken:fault=raise: broken with 1 body" in done.stdout
    assert "1 found" in done.stdout and " scenes in " in done.stdout and "from seed 1" in done.stdout
    listed = upright("finds", *place, folder=tmp_path)
    assert listed.returncode == 0 and "cycle" in listed.stdout
    again = upright("finds", "1", "--replay", *place, folder=tmp_path)
    assert again.returncode == 1 and "cycle" in again.stdout
    printed = upright("finds", "1", "--scene", *place, folder=tmp_path)
    (tmp_path / "find1.json").write_text(printed.stdout)
    assert len(json.loads(printed.stdout)["bodies"]) == 1
    ran = upright("run", "find1.json", "--engine", "pymunk", *place, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    command = shlex.split(printed.stderr.partition("it runs by: ")[2])
    assert command[:3] == ["upright", "run", "find1.json"]
    as_found = upright(*command[1:], *place, folder=tmp_path)
    assert "the contact graph has a cycle" in as_found.stdout + as_found.stderr, "with its settings and its step"
    with open_store(str(tmp_path / "fuzz.db")) as store:
        find = store.find(1)
        assert store.results(2)[0].case.identity.dt == find.dt
    assert find.lacks.startswith("there are no scripts for broken") and find.script == find.issue == ""


@pytest.mark.usefixtures("plugins")
def test_a_find_that_breaks_no_law_any_more_says_so_and_exits_with_0(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "mended.db")) as store:
        number = store.add_find(
            engine="ghost.Ghost",
            engine_version="0.9",
            profile="default",
            seed=1,
            dt=1.0 / 240.0,
            oracle="energy gained",
            message="energy rose by 3 J without a source; tolerated: 0.1 J",
            scene=PlanarScene(duration=0.5, bodies=(box("box", mass=1.0, velocity=(1.0, 0.0)),)),
        )
    again = upright("finds", str(number), "--replay", "--db", "mended.db", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "breaks no law here any more (it did: energy rose by 3 J" in again.stdout
    unknown = upright("finds", "99", "--replay", "--db", "mended.db", folder=tmp_path)
    assert unknown.returncode == 2 and "99" in unknown.stderr and "Traceback" not in unknown.stderr


def test_of_what_is_known_another_broken_law_fails_and_its_own_does_not() -> None:
    find = StoredFind(
        number=1, when=datetime.now(UTC), engine="pymunk", engine_version="7", profile="fair", seed=1, dt=1.0 / 240.0,
        oracle="energy gained", message="energy rose", scene=PlanarScene(duration=0.5, bodies=(box("box", mass=1.0),)),
        known="documented",
    )  # fmt: skip

    def fails(*laws: str) -> bool:
        broken = {law: Violation(oracle=law, message=law) for law in laws}
        now = Simulation(outcome="completed")
        return Replayed(find=find, engine_version="7", simulation=now, broken=broken).fails

    assert not fails() and not fails("energy gained") and not fails("blew up", "energy gained") and fails("blew up")


def test_a_stopped_search_prints_the_command_that_goes_on_with_all_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped = Search(stopped=True, next_seed=12)
    monkeypatch.setattr("validation.tools.fuzzing.finds.fuzz_engine", lambda *given: (stopped, "fair", []))
    words = ["fuzz", "-e", "pymunk", "-e", "box2d:velocity_iterations=9", "--from", "stack:n=2", "--minutes", "3"]
    status, _, err = call(
        monkeypatch, capsys, *words, "--seed", "11", "--no-corpus", "--profile", "fair", "--db", "f.db"
    )
    assert status == 130
    again = err.partition("Go on: ")[2]
    assert shlex.split(again) == shlex.split(
        "upright fuzz --engine pymunk --engine box2d:velocity_iterations=9 --minutes 3 --seed 12 --from stack:n=2 "
        "--no-corpus --profile fair --db f.db"
    )


def test_the_corpus_of_an_engine_is_what_others_break_and_what_it_breaks_no_more() -> None:
    heap, pair, one = (PlanarScene(duration=float(1 + k), bodies=(box("box", mass=1.0),)) for k in range(3))
    finds = [
        SimpleNamespace(engine="pymunk:iterations=5", fixed_in="", scene=heap),
        SimpleNamespace(engine="box2d", fixed_in="", scene=pair),
        SimpleNamespace(engine="rapier", fixed_in="", scene=pair),
        SimpleNamespace(engine="pymunk", fixed_in="7.3", scene=one),
    ]
    store: Any = SimpleNamespace(finds=lambda: finds)
    assert corpus_of(store, engine_of("pymunk")) == (pair, one)
    assert corpus_of(store, engine_of("box2d")) == (heap, pair, one)


def test_what_a_search_found_with_options_of_its_own_is_a_find_of_that_engine() -> None:
    choice = engine_of("pymunk")
    with_options = SimpleNamespace(engine="pymunk:iterations=5")
    assert is_found_by(with_options, choice)
    assert not is_found_by(with_options, engine_of("pymunk:iterations=6"))
    assert not is_found_by(SimpleNamespace(engine="box2d"), choice)
