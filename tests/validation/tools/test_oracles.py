"""Laws without a reference hold also where numbers end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_engine import (
    ContactForceError,
    DocumentedLimit,
    EndlessEventsError,
    PainleveError,
    SingularPositionError,
    UnresolvedContact,
)
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import (
    Box,
    Disc,
    HalfPlane,
    HalfSpace,
    PlanarBody,
    PlanarScene,
    Polygon,
    Revolute,
    SpatialBody,
    SpatialScene,
    parse_scene,
)  # fmt: skip
from tests.validation.metrics.motions import DT, block, columns, disc, planar, plane, times
from validation.engines import engine_of
from validation.engines.engine import resolve_settings
from validation.engines.faults import failure
from validation.engines.reference.adapter import Reference
from validation.metrics.equilibrium import starts_in_equilibrium
from validation.records.simulation import Simulation
from validation.records.trajectory import Contacts, SpatialTrajectory
from validation.running.processes.executor import Reply
from validation.running.processes.received import reply_of
from validation.running.runner import simulation_of
from validation.tools.fuzzing.oracles import GIVES_UP, cone_excess, energy_scale, is_resolved, judge_scene, stands_well
from validation.tools.fuzzing.search import Fuzzer, Search

FACTS = {"keeps moving", "never rested"}
APART = plane(disc("a"), disc("b", position=(5.0, 0.0)), gravity=(0.0, 0.0))


def judged(speed: float) -> dict[str, str]:
    """Two discs at rest, of which one has this speed (m/s) from the middle on."""
    t = times(0.1)
    pose = np.tile([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]], (len(t), 1, 1))
    twist = np.zeros_like(pose)
    twist[len(t) // 2 :, 0, 0] = speed
    return judge_scene(APART, 0.01, Simulation(outcome="completed", trajectory=planar(t, pose, twist)))


def test_what_rests_breaks_no_law():
    assert judged(0.0) == {}


@pytest.mark.parametrize("speed", [1.0, 1e160, 1e300, 1.7e308])
def test_a_speed_from_nowhere_breaks_both_laws_however_large_it_is(speed):
    assert {"energy gained", "momentum not kept"} <= judged(speed).keys()


def test_what_falls_about_a_joint_is_resolved_by_a_finer_step_than_what_falls() -> None:
    """A disc gets less far than half its width in a step of a fall, but turns by more than a tenth of a radian."""
    free = plane(disc("a"))
    pin = Revolute(name="pin", a="a", anchor_a=(0.5, 0.0), anchor_b=(0.5, 0.0))
    tied = free.model_copy(update={"joints": (pin,)})
    steps = np.geomspace(1e-4, 0.1, 60)
    tied_step, free_step = (max(dt for dt in steps if is_resolved(one, dt)) for one in (tied, free))
    assert tied_step < 0.5 * free_step
    assert energy_scale(tied) == energy_scale(free), "one body is spread over nothing"


def test_what_is_afloat_at_rest_does_not_blow_up_by_round_off() -> None:
    box = SpatialBody(name="box", shape=Box(size=(1.0, 1.0, 1.0)), mass=1.0)
    scene = SpatialScene(duration=0.5, gravity=(0.0, 0.0, 0.0), bodies=(box,))
    time = np.array([0.0, 0.5])
    velocity = np.array([[[0.0, 0.0, 0.0]], [[1e-9, 0.0, 0.0]]])
    motion = SpatialTrajectory(
        time=time, dt=0.5, velocity_lag=0.0, position=np.zeros((2, 1, 3)), velocity=velocity,
        orientation=np.tile((1.0, 0.0, 0.0, 0.0), (2, 1, 1)), spin=np.zeros((2, 1, 3)),
    )  # fmt: skip
    assert judge_scene(scene, 1.0 / 240.0, Simulation(outcome="completed", trajectory=motion)) == {}


def test_what_starts_deep_in_the_ground_may_be_pushed_out_and_what_does_not_may_not() -> None:
    """Up by a quarter of its height, 5 % of which would be tolerated of a start in contact."""
    for depth, broken in ((0.25, set()), (0.0, {"energy gained"})):
        box = SpatialBody(name="box", shape=Box(size=(1.0, 1.0, 1.0)), mass=1.0, position=(0.0, 0.0, 0.5 - depth))
        scene = SpatialScene(duration=0.5, bodies=(box,), boundaries=(HalfSpace(name="ground"),))
        position = np.array([[[0.0, 0.0, 0.5 - depth]], [[0.0, 0.0, 0.75 - depth]]])
        motion = SpatialTrajectory(
            time=np.array([0.0, 0.5]), dt=0.5, velocity_lag=0.0, position=position, velocity=np.zeros((2, 1, 3)),
            orientation=np.tile((1.0, 0.0, 0.0, 0.0), (2, 1, 1)), spin=np.zeros((2, 1, 3)),
        )  # fmt: skip
        found = judge_scene(scene, 1.0 / 240.0, Simulation(outcome="completed", trajectory=motion))
        assert {oracle for oracle in found if oracle in ("energy gained", "blew up")} == broken


def test_what_bounces_for_ever_from_a_little_above_the_ground_keeps_moving_rightly() -> None:
    """From a gap of a quarter of a thousandth of its size, with restitution 1."""
    t, gap, g = times(1.0), 0.001, 9.81
    flight = 2.0 * np.sqrt(2.0 * gap / g)
    late = (t + 0.5 * flight) % flight - 0.5 * flight
    pose = columns(0.0, 0.5 + gap - 0.5 * g * late**2, 0.0)
    for restitution, wrong in ((1.0, set()), (0.0, {"keeps moving", "never rested"})):
        body = block(width=4.0, position=(0.0, 0.5 + gap), friction=0.5, restitution=restitution)
        ground = HalfPlane(name="ground", friction=0.5, restitution=restitution)
        scene = plane(body, boundaries=(ground,))
        motion = planar(t, pose, columns(0.0, -g * late, 0.0))
        assert judge_scene(scene, DT, Simulation(outcome="completed", trajectory=motion)).keys() & FACTS == wrong


@pytest.mark.parametrize(("fall", "rise", "broken"), [(10.0, 10.3, set()), (0.0, 0.3, {"energy gained"})])
def test_energy_counts_against_what_is_in_play(fall: float, rise: float, broken: set[str]) -> None:
    """A ball that falls by 10 m and rises by 10.3 m has gained 3 % of it; one that rises by 0.3 m from rest, all."""
    t, g = times(1.5 if fall else 0.4), 9.81  # on the way up
    since, up = t - (np.sqrt(2.0 * fall / g) or 0.1), np.sqrt(2.0 * g * rise)
    before = g if fall else 0.0
    y = 0.5 + np.where(since < 0.0, fall - 0.5 * before * t**2, up * since - 0.5 * g * since**2)
    motion = planar(t, columns(0.0, y, 0.0), columns(0.0, np.where(since < 0.0, -before * t, up - g * since), 0.0))
    scene = plane(disc(position=(0.0, 0.5 + fall)), boundaries=(HalfPlane(name="ground"),))
    found = judge_scene(scene, DT, Simulation(outcome="completed", trajectory=motion))
    assert found.keys() & {"energy gained"} == broken


def test_friction_without_any_normal_force_is_outside_the_cone_and_one_step_of_it_is_not() -> None:
    t = times(1.0)
    scene = plane(block(position=(0.0, 0.5), friction=0.5), boundaries=(HalfPlane(name="ground", friction=0.5),))
    steps = np.arange(1, len(t))
    for at_fault, broken in ((slice(None), True), (slice(0, 1), False)):
        impulse = np.tile([0.0, -9.81 * DT], (len(steps), 1))
        impulse[at_fault] = [9.81 * DT, 0.0]
        normal = np.tile([0.0, -1.0], (len(steps), 1))
        contacts = Contacts(
            sample=steps, a=0 * steps, b=1 + 0 * steps, point=np.zeros((len(steps), 2)), normal=normal,
            gap=np.zeros(len(steps)), impulse=impulse,
        )  # fmt: skip
        motion = planar(t, columns(0.0, 0.5 + 0.0 * t, 0.0), columns(0.0 * t, 0.0, 0.0), contacts=contacts)
        assert (cone_excess(scene, motion) == pytest.approx(1.0)) is broken


def test_a_documented_limit_of_the_reference_engine_is_no_find() -> None:
    """Its class says so, through the reply of the engine's process; its words do not."""
    where: dict[str, Any] = {"time": 1.0, "bodies": ("ball", "ground"), "gap": 0.0}
    for error, limit, expected in (
        (EndlessEventsError("more than max_events = 10 events", **where), "given up", set()),
        (PainleveError(time=1.0, bodies=("ball", "ground"), p=-1.0, b=-1.0), "proven", set()),
        (SingularPositionError(time=1.0, bodies=("ball", "ground"), breach=1.0), "proven", set()),
        (UnresolvedContact("bodies overlap: a touch was missed", **where), "", {"broken"}),
        (ContactForceError("more than max_events = 10 events", residual=1.0), "", {"broken"}),
    ):
        header = reply_of(failure(error, None))
        ended = simulation_of(Reply(None, 1, header, b""))  # type: ignore[arg-type]  # no server is asked
        assert (ended.outcome, ended.limit) == ("crashed", limit)
        assert set(judge_scene(bouncing(), 1.0 / 240.0, ended, "reference")) == expected


def test_an_engine_that_gives_up_in_many_scenes_is_found() -> None:
    """Of a hundred scenes six may; the seventh is a find with the reason, and none of those that are proven is."""
    fuzzer = Fuzzer.__new__(Fuzzer)
    fuzzer.search, fuzzer.engine, fuzzer._verdicts, fuzzer._shrunk = Search(tried=94), engine_of("reference"), {}, None
    trial = (bouncing(), 1.0 / 240.0, ())
    where: dict[str, Any] = {"time": 1.0, "bodies": ("ball", "ground"), "gap": 0.0}
    proven = PainleveError(time=1.0, bodies=("ball", "ground"), p=-1.0, b=-1.0)
    found = []
    for error in (*7 * [EndlessEventsError("more than max_events = 10 events", **where)], proven):
        fuzzer._simulated(trial, Reply(None, 1, reply_of(failure(error, None)), b""))  # type: ignore[arg-type]
        (broken,) = fuzzer._verdicts.values()
        found.append([(one.oracle, one.message.rpartition("; ")[0]) for one in broken.values()])
    assert found[:6] == 6 * [[]] and found[7] == []
    ((oracle, reason),) = found[6]
    assert oracle == GIVES_UP and "7 of 101 scenes end so; 5 and 1 % may" in str(fuzzer._gives_up_too_often())
    assert "max_events = 10" in reason and (fuzzer.search.given_up, fuzzer.search.declined) == (7, 8)


def bouncing() -> PlanarScene:
    ball = PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0, position=(0.0, 1.0), restitution=1.0)
    return PlanarScene(duration=10.0, bodies=(ball,), boundaries=(HalfPlane(name="ground", restitution=1.0),))


def test_the_reference_engine_ends_by_an_error_of_its_documented_limits() -> None:
    engine, scene = Reference(), bouncing()
    settings = resolve_settings(engine, "default", {"max_events": "10"}, scene, 1.0 / 240.0)
    with pytest.raises(DocumentedLimit, match="max_events = 10"):
        engine.simulate(scene, 1.0 / 240.0, settings)


def test_what_is_thrown_further_than_its_energy_carries_it_blew_up_and_did_not_crash() -> None:
    """A planar adapter ends there, for its ground does; the message of a find has no word of that."""
    reason = (
        "OffTheSlabError: body 'a' moved 9e+03 m along half-plane 'ground', which this engine has for 276 m: twice as "
        "far as all the energy of the scene could carry it"
    )
    thrown = Simulation(outcome="crashed", reason=reason)
    (violation,) = judge_scene(APART, DT, thrown).values()
    assert violation.oracle == "blew up"
    assert violation.message == (
        "body 'a' moved 9e+03 m along half-plane 'ground': twice as far as all the energy of the scene could carry it"
    )
    (crash,) = judge_scene(APART, DT, Simulation(outcome="crashed", reason="SIGSEGV")).values()
    assert crash.oracle == "broken"


@pytest.mark.parametrize(("beside", "stands"), [(0.0, False), (0.05, True), (0.3, True)])
def test_a_plate_whose_centre_is_above_the_edge_that_bears_it_may_tip(beside: float, stands: bool) -> None:
    """A box of 1 m, 31 mm thick, on a cylinder of 30 mm; found by fuzzing, where Rapier was blamed. The statics call
    it balanced on the very rim, too."""
    box = {"kind": "box", "size": [1.0, 1.0, 0.031]}
    plate = {"name": "plate", "shape": box, "mass": 300.0, "friction": 0.2, "position": [beside, 0.0, 0.0455]}
    cylinder = {"kind": "cylinder", "radius": 0.5, "length": 0.03}
    base = {"name": "base", "shape": cylinder, "mass": 30.0, "friction": 0.2, "position": [0.5, 0.0, 0.015]}
    data = {"dimension": 3, "duration": 1.0, "gravity": [0.0, 0.0, -9.81]}
    scene = parse_scene(
        data | {"bodies": [base, plate], "boundaries": [{"kind": "half-space", "name": "ground", "friction": 0.2}]}
    )
    assert starts_in_equilibrium(scenario_from_scene("test", scene))
    assert stands_well(scene) == stands


def test_what_stands_in_a_corner_stands_well() -> None:
    """Beside a wall a body cannot be nearer to it, which is no tipping."""
    walls = (HalfPlane(name="ground"), HalfPlane(name="wall", point=(-0.5, 0.0), normal=(1.0, 0.0)))
    square = Polygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
    body = PlanarBody(name="box", shape=square, mass=1.0, position=(0.0, 0.5))
    assert stands_well(PlanarScene(duration=1.0, gravity=(0.0, -9.81), bodies=(body,), boundaries=walls))
