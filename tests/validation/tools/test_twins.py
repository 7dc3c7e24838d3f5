"""A scene and its twin move alike in an exact engine; each relation finds the engine that breaks it, and only it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene, Polygon, Scene, SpatialScene, write_scene
from tests.effort import few
from tests.validation.command import kept_servers, upright
from validation import engines
from validation.engines import engine_of
from validation.engines.answers import declined
from validation.engines.engine import DOUBLE, SINGLE, resolve_settings
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.reference.adapter import Reference
from validation.engines.relations import NAMES, Change, Relation, unchanged_when
from validation.engines.shared.replay import one_step
from validation.judging.relations import run_limits
from validation.records.simulation import Simulation
from validation.running.processes.pool import Pool
from validation.store import open_store
from validation.tools.fuzzing.comparison import Asked, Compared, driven, is_of_a_pair, oracle_of
from validation.tools.fuzzing.drawing import Given, draw
from validation.tools.fuzzing.pairs import PROPERTIES, Relations, compare_by_steps, compare_with_twin
from validation.tools.fuzzing.search import Fuzzer
from validation.tools.fuzzing.twins import nearby, twin_of

PLUGINS = Path(__file__).parents[2] / "plugins"
DT = 1.0 / 240.0
SQUARE = Polygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
SCENE = PlanarScene(
    duration=0.5,
    bodies=(
        PlanarBody(name="box", shape=SQUARE, mass=1.0, position=(0.0, 0.9), spin=1.0),
        PlanarBody(name="disc", shape=Disc(radius=0.25), mass=2.0, position=(2.0, 0.75), velocity=(0.5, 0.0), spin=3.0),
    ),
    boundaries=(HalfPlane(name="ground"),),
)
"""A spinning box and a disc that fall on smooth ground."""
APART = PlanarScene(
    duration=0.5,
    bodies=(
        PlanarBody(name="disc", shape=Disc(radius=0.5), mass=1.0, velocity=(1.0, 0.0)),
        PlanarBody(name="other", shape=Disc(radius=0.5), mass=1.0, position=(9.0, 0.0)),
    ),
)
"""Two discs that fall and meet nothing."""


@pytest.fixture(autouse=True)
def servers() -> Iterator[None]:
    with kept_servers():
        yield


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(PLUGINS))
    engines._registered.cache_clear()
    yield
    engines._registered.cache_clear()


def hello_of(engine: Any) -> dict[str, Any]:
    return {"relations": [asdict(one) for one in engine.relations], "round_off": engine.round_off}


def simulator(engine: Any, **settings: Any) -> Callable[[list[Asked]], list[Simulation]]:
    """In this process."""

    def simulate(asked: Asked) -> Simulation:
        resolved = resolve_settings(engine, "fair", {**settings, **asked.settings}, asked.scene, asked.dt)
        if asked.before is not None:
            engine.simulate(asked.before, asked.dt, resolved)
        if reason := declined(engine, asked.scene):
            return Simulation(outcome="declined", reason=reason)
        if asked.states is not None:
            after = one_step(engine, asked.scene, asked.dt, resolved, asked.states)
            return Simulation(outcome="completed", trajectory=after)
        return Simulation(outcome="completed", trajectory=engine.simulate(asked.scene, asked.dt, resolved))

    return lambda several: [simulate(one) for one in several]


def compared(engine: Any, change: Change, scene: Scene, **settings: Any) -> Compared | None:
    simulate, relations = simulator(engine, **settings), Relations.of(hello_of(engine), engine.name)
    (relation,) = [one for one in (*relations.promised_of(scene), *PROPERTIES) if one.change == change][:1]
    (own,) = simulate([Asked(scene=scene, dt=DT, settings={})])
    return driven(compare_with_twin(relation, scene, DT, own, relations), simulate)


@pytest.mark.parametrize("change", NAMES)
def test_the_exact_engine_moves_a_scene_and_its_twin_alike(change: Change) -> None:
    found = compared(Reference(), change, SCENE)
    assert found is not None and found.in_a_step and found.in_the_run and found.violation is None


@pytest.mark.parametrize("change", NAMES)
def test_an_engine_that_sees_a_change_of_its_scene_breaks_that_relation(change: Change) -> None:
    from twisted_engine import Twisted

    engine = Twisted()
    honest = compared(engine, change, SCENE, fault="none")
    assert honest is not None and honest.violation is None
    found = compared(engine, change, SCENE, fault=change)
    assert found is not None and found.violation is not None and not found.in_the_run
    assert found.violation.oracle == f"differs when {change}"
    assert f"when {change}, " in found.violation.message and " by " in found.violation.message
    assert set(found.violation.bodies) <= {"box", "disc"} and found.violation.bodies


def test_what_nobody_promises_is_measured_and_is_no_fault() -> None:
    from twisted_engine import Twisted

    simulate = simulator(Twisted(), fault="turned")
    nothing = Relations(promised=())
    turned = next(one for one in (nothing.chosen(SCENE, i) for i in range(len(NAMES))) if one.change == "turned")
    (own,) = simulate([Asked(scene=SCENE, dt=DT, settings={})])
    found = driven(compare_with_twin(turned, SCENE, DT, own, nothing), simulate)
    assert found is not None and not found.in_the_run and found.violation is None
    assert nothing.by_oracle(oracle_of(turned), SCENE) is None


def test_settings_are_promised_to_agree_beside_no_others_and_a_turned_scene_whatever_is_set() -> None:
    agree = Relation(name="a and b agree", one={"way": "a"}, other={"way": "b"}, agree="bits", promise="a test")
    (turned,) = unchanged_when("turned", agree="bits", promise="a test")
    relations = Relations(promised=(agree, turned))
    assert relations.promised_of(SCENE) == (agree, turned)
    assert relations.promised_of(SCENE, {"solver": "pgs"}) == (turned,)
    assert relations.by_oracle(oracle_of(agree), SCENE, {"solver": "pgs"}) is None


def test_where_round_off_decides_what_happens_nothing_is_a_fault() -> None:
    """A disc that falls on the very top of another one leaves it to the side that the last bit says."""
    bodies = (
        PlanarBody(name="below", shape=Disc(radius=0.5), fixed=True, position=(0.0, 0.5)),
        PlanarBody(name="above", shape=Disc(radius=0.5), mass=1.0, position=(0.0, 1.7)),
    )
    scene = PlanarScene(duration=10.0, bodies=bodies)
    engine = Reference()
    simulate, relations = simulator(engine), Relations.of(hello_of(engine), engine.name)
    (turned,) = [one for one in relations.promised if one.change == "turned"]
    (own,) = simulate([Asked(scene=scene, dt=DT, settings={})])
    rounds = []

    def counted(asked: list[Asked]) -> list[Simulation]:
        rounds.append(len(asked))
        return simulate(asked)

    found = driven(compare_with_twin(turned, scene, DT, own, relations), counted)
    assert found is None or found.violation is None
    assert len(rounds) > 1, "the turned scene does move otherwise, beyond what round-off alone explains"


@pytest.mark.parametrize("other, agree", [({"iterations": 50}, True), ({"iterations": 40}, False)])
def test_two_settings_that_agree_are_tried_in_a_step_from_each_of_many_states(
    other: dict[str, Any], agree: bool
) -> None:
    """Three boxes on one another: fewer sweeps move them otherwise."""
    boxes = tuple(
        PlanarBody(name=f"box {i}", shape=SQUARE, mass=3.0**i, position=(0.1 * i, 0.5 + 1.01 * i)) for i in range(3)
    )
    scene = PlanarScene(duration=1.0, bodies=boxes, boundaries=(HalfPlane(name="ground"),))
    law = Relation(name="sweeps", one={"iterations": 50}, other=other, agree="round-off", promise="a test")
    relations, simulate = Relations(promised=(law,), sets_state=True), simulator(Pymunk())
    (own,) = simulate([Asked(scene=scene, dt=DT, settings={})])
    found = driven(compare_with_twin(law, scene, DT, own, relations), simulate)
    assert found is not None and found.in_a_step == agree
    if not agree:
        assert found.violation is not None and "in one step from the state at" in found.violation.message
        assert "with iterations=50 and with iterations=40, box" in found.violation.message
        begun = found.violation.begun
        assert begun is not None and begun != scene and begun.duration < scene.duration
        (later,) = simulate([Asked(scene=begun, dt=DT, settings={})])
        again = driven(compare_by_steps(law, begun, DT, later, relations), simulate)
        assert again is not None and again.violation is not None and again.after == 1
        assert "in one step from its start" in again.violation.message and again.violation.begun == begun


def test_of_two_ways_that_agree_one_cannot_break_and_the_other_not() -> None:
    law = Relation(
        name="both ways end", one={"way": 1}, other={"way": 2}, agree="round-off", promise="a test", cheap=False
    )
    motion = Reference().simulate(SCENE, DT, resolve_settings(Reference(), "fair", {}, SCENE, DT))
    whole, broken = Simulation(outcome="completed", trajectory=motion), Simulation(outcome="not_finite", reason="NaN")
    for ends, faulty in (((whole, broken), True), ((broken, whole), True), ((broken, broken), False)):
        left = list(ends)
        comparison = compare_with_twin(law, SCENE, DT, whole, Relations(promised=(law,)))
        found = driven(comparison, lambda asked, left=left: [left.pop(0) for _ in asked])  # type: ignore[misc]
        assert (found is not None) == faulty
        assert found is None or (found.violation is not None and "with way=1 and with way=2" in found.violation.message)


@pytest.mark.parametrize("unit", [DOUBLE, SINGLE])
def test_a_limit_grows_with_the_precision_the_largest_coordinate_the_speed_the_steps_and_the_spread(
    unit: float,
) -> None:
    steps, ones = np.arange(1, 5), np.ones(4)

    def limits(size: float = 1.0, speed: float = 1.0, spread: float | None = None) -> Any:
        others = None if spread is None else spread * ones
        return run_limits(steps, size * ones, speed * ones, unit, DT, others)

    assert (np.diff(limits()) > 0.0).all()
    assert limits()[0] == pytest.approx(unit * (2.0 / DT + 4.0))
    assert limits(size=1e3)[0] == pytest.approx(unit * (2e3 / DT + 4.0))
    assert limits(speed=1e3)[0] == pytest.approx(unit * (2.0 / DT + 4e3))
    assert limits(spread=0.5) == pytest.approx(limits() + 0.5 * (1.0 + steps))


def test_nothing_fixed_can_be_boosted_and_nothing_is_far_away_in_a_bowl() -> None:
    motion = Reference().simulate(SCENE, DT, resolve_settings(Reference(), "fair", {}, SCENE, DT))
    rough = SCENE.model_copy(update={"boundaries": (HalfPlane(name="ground", friction=0.5),)})
    rough = rough.model_copy(update={"bodies": tuple(b.model_copy(update={"friction": 0.5}) for b in SCENE.bodies)})
    assert twin_of("boosted", SCENE, DT, motion) is not None and twin_of("boosted", rough, DT, motion) is None
    far = twin_of("joined by a body far away", SCENE, DT, motion)
    assert far is not None and len(far.scene.bodies) == 3 and far.scene.bodies[-1].position[1] > 500.0
    bowl = PlanarScene.model_validate(
        SCENE.model_dump() | {"boundaries": [{"kind": "bowl", "name": "bowl", "radius": 9.0, "center": (0.0, 5.0)}]}
    )
    assert twin_of("joined by a body far away", bowl, DT, motion) is None


def test_a_nearby_start_keeps_joints_met_and_what_is_fixed_where_it_is() -> None:
    scene = SpatialScene.model_validate(
        {
            "duration": 1.0,
            "bodies": [
                {"name": "post", "shape": {"kind": "sphere", "radius": 0.1}, "fixed": True},
                {"name": "a", "shape": {"kind": "sphere", "radius": 0.1}, "mass": 1.0, "position": (2.0, 0.0, 0.0)},
                {"name": "b", "shape": {"kind": "sphere", "radius": 0.1}, "mass": 1.0, "position": (3.0, 0.0, 0.0)},
                {"name": "c", "shape": {"kind": "sphere", "radius": 0.1}, "mass": 1.0, "position": (5.0, 0.0, 0.0)},
            ],
            "joints": [
                {"kind": "ball", "name": "ab", "a": "a", "b": "b", "anchor_a": (0.5, 0, 0), "anchor_b": (-0.5, 0, 0)}
            ],
        }
    )  # fmt: skip
    other = nearby(scene, 1e-3, 5.0, 2.0, seed=1)
    assert other is not None
    moved = [np.array(b.position) - np.array(a.position) for a, b in zip(scene.bodies, other.bodies)]
    assert (moved[0] == 0.0).all() and (moved[1] == moved[2]).all() and 0.0 < np.abs(moved[1]).max() <= 5e-3
    assert (moved[1] != moved[3]).all() and other.bodies[1].orientation == scene.bodies[1].orientation
    assert other.bodies[3].orientation != scene.bodies[3].orientation
    assert nearby(scene, 1e-3, 0.0, 2.0, seed=1).bodies[3].position == scene.bodies[3].position


# --- in a search ----------------------------------------------------------------------------------------------------


@pytest.fixture
def every_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets a twin, a batch has few, and a fault is shrunk for a moment."""
    monkeypatch.setattr("validation.tools.fuzzing.comparing.EVERY", 1)
    monkeypatch.setattr("validation.tools.fuzzing.search.MOST_TRIES", 60)
    monkeypatch.setattr("validation.tools.fuzzing.search.draw", partial(draw, count=12))


@pytest.mark.usefixtures("every_scene")
@pytest.mark.parametrize(
    "word, oracle",
    few(
        0,
        [
            ("TwistedPymunk:fault=run after another scene", "differs when run after another scene"),
            ("TwoWays", "does not hold: it is as if there was a fault or not"),
            ("TwistedPymunk:fault=moved", "differs when moved"),
        ],
    ),
)
def test_a_search_finds_it_and_shrinks_the_scene_with_its_twin(word: str, oracle: str) -> None:
    with Pool() as pool:
        engine = engine_of(f"twisted_engine.{word}")
        search = Fuzzer(pool, engine, None, 90.0, given=Given(only=(APART,))).run(1, enough=1)
    (found,) = search.faults
    assert found.oracle == oracle
    assert len(found.scene.bodies) == 1 and found.scene.bodies[0].velocity == (0.0, 0.0)
    assert sum(counts.scenes for counts in search.related.values()) > 0


@pytest.mark.usefixtures("every_scene")
@pytest.mark.slow
def test_a_find_of_a_pair_is_listed_replayed_refused_as_a_script_and_gone_when_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, whole = ("--db", "fuzz.db"), Fuzzer.run
    monkeypatch.setattr(Fuzzer, "run", lambda *given: whole(*given, enough=1))
    (tmp_path / "apart.json").write_text(write_scene(APART))
    words = ("--engine", "twisted_engine.TwistedPymunk:fault=run after another scene", "--from", "apart.json")
    done = upright("fuzz", *words, "--minutes", "1", "--seed", "1", *place, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "differs when run after another scene with 1 body" in done.stdout
    assert "moves alike when" in done.stdout and "in the run" in done.stdout
    again = upright("finds", "1", "--replay", *place, folder=tmp_path)
    assert again.returncode == 1 and "when run after another scene, disc" in again.stdout, again.stderr
    script = upright("finds", "1", "--script", *place, folder=tmp_path)
    assert script.returncode == 2 and "there are no scripts for twisted_engine" in script.stderr
    with open_store(str(tmp_path / "fuzz.db")) as store:
        find = store.find(1)
        fields = ("engine_version", "profile", "seed", "dt", "oracle", "message", "scene", "bodies")
        mended = {name: getattr(find, name) for name in fields}
        store.add_find(engine="twisted_engine.TwistedPymunk:fault=none", **mended)
    gone = upright("finds", "2", "--replay", *place, folder=tmp_path)
    assert gone.returncode == 0 and "breaks no law here any more" in gone.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("every_scene")
def test_the_exact_engine_breaks_no_relation_in_a_search() -> None:
    with Pool() as pool:
        search = Fuzzer(pool, engine_of("reference"), None, 60.0).run(1)
    assert [fault for fault in search.faults if is_of_a_pair(fault.oracle)] == []
    assert sum(counts.scenes for counts in search.related.values()) >= 20
