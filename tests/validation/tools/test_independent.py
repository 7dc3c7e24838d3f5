"""The second computation agrees with what we measure with, and sees what is wrong with either."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios import mass
from scenarios.boundaries import Bowl, HalfPlane, HalfSpace
from scenarios.catalogue import scenario_of
from scenarios.catalogue.shared.bodies import rectangle
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.forces import Spring
from scenarios.joints import Revolute, SpatialRope
from scenarios.scene import PlanarBody, PlanarScene, Scene, SpatialBody, SpatialScene, parse_scene
from scenarios.shapes import ArcPolygon, Box, Cylinder, Disc, Sphere
from scenarios.strategies import EXAMPLES, forced, planar_scenes, spatial_scenes
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.metrics import impact, measure, proximity, rest
from validation.metrics.observation import Observation
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory, SpatialTrajectory, Trajectory
from validation.tools.fuzzing.drawing import draw
from validation.tools.fuzzing.independent import laws, shapes
from validation.tools.fuzzing.scattered import Scattered, crept

STEP = 1.0 / 240.0
SCENES = 12


def drawn(strategy: Any, seed: int = 1) -> list[Scene]:
    found: list[Scene] = []
    draw(strategy, seed, lambda scene, dt: found.append(scene), SCENES)
    return found


def values(scene: Scene, motion: Trajectory) -> dict[str, float]:
    return {m.metric: m.value for m in measure(scenario_from_scene("fuzzed", scene), motion)}


def faults(scene: Scene, motion: Trajectory, engine: str, measured: dict[str, float] | None = None) -> set[str]:
    own = values(scene, motion) if measured is None else measured
    return {oracle for oracle, _, _ in laws.own_faults(scene, motion, engine, own)}


@functools.cache
def motions() -> list[tuple[Scene, PlanarTrajectory]]:
    """Of the reference engine in the plane."""
    engine, found = Reference(), []
    for scene in drawn(planar_scenes()):
        motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
        assert isinstance(motion, PlanarTrajectory)
        found.append((scene, motion))
    return found


def found_in_motions(change: Callable[[PlanarTrajectory], PlanarTrajectory]) -> Iterator[str]:
    """The laws that each breaks, one motion after the other."""
    return (oracle for scene, motion in motions() for oracle in faults(scene, change(motion), "reference", {}))


@pytest.mark.parametrize("strategy", [planar_scenes(), spatial_scenes(), forced.outlines(), forced.compliant()])
def test_what_is_measured_of_scattered_bodies_is_what_is_worked_out_a_second_time(strategy: Any) -> None:
    engine = Scattered()
    for scene in drawn(strategy):
        motion = engine.simulate(scene, STEP, {})
        assert faults(scene, motion, laws.SCATTERED) == set()
        assert faults(scene, motion, laws.SCATTERED, values(scene, motion) | {"energy_gain": -1.0}) == {
            "measured wrong"
        }


def test_a_drift_at_rest_over_another_window_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some scattered bodies creep at rest; those of an engine that holds them exactly have no drift to measure."""
    monkeypatch.setattr(rest, "TENTH", 0.2)
    scene = scenario_of("stack").scene
    motion = crept(scene, STEP, np.random.default_rng(1))
    assert faults(scene, motion, laws.SCATTERED) == {"measured wrong"}


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_shape_weighs_what_its_points_do(kind: str) -> None:
    """Points at random in its bounding box, those outside left out: the mean of their squares, to 2 per cent."""
    shape = EXAMPLES[kind]
    radius = shapes.bounding_radius(shape)
    points = np.random.default_rng(1).uniform(-radius, radius, (400_000, 3))
    inside = points[shapes.outside(shape, points) == 0.0]
    assert (inside**2).mean(axis=0) == pytest.approx(shapes.second_moments(shape), rel=0.02)


def test_a_cone_a_lag_and_a_truth_that_are_measured_otherwise_are_seen() -> None:
    """Scattered bodies have contacts that explain their last step, and some motions are flights with a lag."""
    seen = set()
    for scene in drawn(planar_scenes(), 3):
        motion = Scattered().simulate(scene, STEP, {})
        own = values(scene, motion)
        name = "energy_drift" if motion.velocity_lag else "cone_violation"
        if name in own:
            seen.add(name)
            changed = own | {name: own[name] + 1e-6 * (1.0 + own[name])}
            assert faults(scene, motion, laws.SCATTERED, changed) == {"measured wrong"}
    assert seen == {"energy_drift", "cone_violation"}


def test_springs_thrusters_and_damping_are_worked_out_as_the_reference_engine_has_them() -> None:
    """Springs of half the stiffness are seen in most scenes: between two samples stiff ones leave much in doubt."""
    engine, seen, moving = Reference(), 0, 0
    for scene in drawn(forced.sprung(planar=True)):
        motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
        assert faults(scene, motion, "reference") == set()
        half = {"springs": tuple(s.model_copy(update={"stiffness": 0.5 * s.stiffness}) for s in scene.springs)}
        weaker = scene.model_copy(update=half)
        moving += not np.allclose(motion.velocity, motion.velocity[0])
        seen += bool(faults(weaker, motion, "reference") & {"forces off balance", "energy gained", "energy lost"})
    assert seen >= moving / 2 > 0


def test_a_gap_that_is_off_by_a_hundred_millionth_or_a_pair_that_is_missing_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = proximity.proximities
    scene, motion = motions()[0]

    def changed(change: Callable[[Any], Any]) -> set[str]:
        monkeypatch.setattr(proximity, "proximities", lambda o: change(whole(o)))
        return faults(scene, motion, "reference", {})

    assert changed(lambda near: near) == set()
    assert "measured wrong" in changed(lambda near: dataclasses.replace(near, gap=near.gap + 1e-8))
    assert "measured wrong" in changed(without_first_pair)


def without_first_pair(near: Any) -> Any:
    others = (near.a != near.a[0]) | (near.b != near.b[0])
    return type(near)(**{field.name: getattr(near, field.name)[others] for field in dataclasses.fields(near)})


def test_the_reference_engine_obeys_every_law() -> None:
    assert set(found_in_motions(lambda motion: motion)) == set()


def test_reported_forces_and_impulses_that_are_a_tenth_off_are_seen() -> None:
    def lighter(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.contacts is not None
        contacts: Contacts = dataclasses.replace(motion.contacts, impulse=0.9 * motion.contacts.impulse)
        return dataclasses.replace(motion, contacts=contacts)

    def weaker(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.impacts is not None
        impacts: Impacts = dataclasses.replace(motion.impacts, impulse=0.9 * motion.impacts.impulse)
        return dataclasses.replace(motion, impacts=impacts)

    assert "forces off balance" in found_in_motions(lighter)
    assert "impulses off balance" in found_in_motions(weaker)


def test_a_normal_that_is_stale_by_a_hundredth_of_a_radian_is_seen() -> None:
    def stale(motion: PlanarTrajectory) -> PlanarTrajectory:
        assert motion.contacts is not None
        c, s = np.cos(0.01), np.sin(0.01)
        turned = motion.contacts.normal @ np.array(((c, s), (-s, c)))
        return dataclasses.replace(motion, contacts=dataclasses.replace(motion.contacts, normal=turned))

    assert "against the contact law" in found_in_motions(stale)


def test_a_millionth_of_the_energy_that_comes_from_nowhere_is_seen() -> None:
    def faster(motion: PlanarTrajectory) -> PlanarTrajectory:
        twist = motion.twist * np.linspace(1.0, 1.0 + 1e-5, len(motion.time))[:, None, None]
        return dataclasses.replace(motion, twist=twist)

    assert "energy gained" in found_in_motions(faster)


def hovering(velocity: Any, contact_tolerance: float = 0.0, height: float = 0.508) -> tuple[Scene, PlanarTrajectory]:
    """Two samples of a disc of radius 0.5 m, 8 mm above the ground or higher."""
    body = PlanarBody(name="disc", shape=Disc(radius=0.5), mass=1.0, position=(0.0, height))
    scene = PlanarScene(duration=0.01, bodies=(body,), boundaries=(HalfPlane(name="ground"),))
    twist = np.array([[[0.0, v, 0.0]] for v in velocity])
    pose = np.array([[[0.0, height, 0.0]], [[0.0, height + 0.001 * velocity[0], 0.0]]])
    motion = PlanarTrajectory(
        time=np.array((0.0, 0.001)), dt=0.001, velocity_lag=0.0, pose=pose, twist=twist,
        contact_tolerance=contact_tolerance,
    )  # fmt: skip
    return scene, motion


def test_what_contactsim_carries_at_its_gap_does_not_have_to_fall() -> None:
    """It stands still 8 mm above the ground: right where the engine declares contacts at 10 mm, else not."""
    assert faults(*hovering((0.0, 0.0), 0.01), "contactsim", {}) == set()
    assert faults(*hovering((0.0, 0.0)), "contactsim", {}) == {"forces off balance"}


def test_eulers_method_is_no_fault_of_contactsim() -> None:
    """By it a body moves at the speed at the start of a step: g h^2 / 2 astray, and no further."""
    scene, motion = hovering((0.0, -9.81 * 0.001), height=5.0)
    assert faults(scene, motion, "contactsim", {}) == set()
    further = motion.pose - np.array([[[0.0, 0.0, 0.0]], [[0.0, 2.0 * 9.81e-6, 0.0]]])
    assert faults(scene, dataclasses.replace(motion, pose=further), "contactsim", {}) == {"forces off balance"}


def test_an_outline_reaches_as_far_as_the_points_of_its_arcs() -> None:
    for shape in forced.OUTLINES[:2]:
        furthest = np.hypot(*mass.arc_outline(shape.vertices, shape.bulges, 2000).T).max()
        assert shapes.bounding_radius(shape) == pytest.approx(furthest, rel=1e-6)
        assert mass.bounding_radius(shape) == pytest.approx(shapes.bounding_radius(shape), rel=1e-14)


def test_the_energy_of_a_rod_that_spins_about_its_axis_is_as_exact_as_its_orientation() -> None:
    """Turned off its axis by round-off it has I w^2 eps more, I across it: many times the round-off of what it has."""
    rod = SpatialBody(name="rod", shape=Box(size=(0.01, 0.01, 4.0)), mass=30.0, position=(0.0, 0.0, 0.0))
    scene = SpatialScene(duration=1.0, bodies=(rod,), gravity=(0.0, 0.0, 0.0))
    spin = np.array([[[0.0, 0.0, 0.0]], [[300.0, 0.0, 3e5]]])
    q = np.array([[(1.0, 0.0, 0.0, 0.0)], [(0.6, 0.48, 0.0, 0.64)]])
    motion = SpatialTrajectory(
        time=np.array((0.0, 1.0)), dt=1.0, velocity_lag=0.0, position=np.zeros((2, 1, 3)), orientation=q,
        velocity=np.zeros((2, 1, 3)), spin=spin,
    )  # fmt: skip
    own = values(scene, motion)
    off = own["energy_drift"] + 1e-15 * 40.0 * 3e5 * 3e5
    assert faults(scene, motion, laws.SCATTERED, own | {"energy_drift": off}) == set()


def simulated(scene: Scene, profile: str = "fair", step: float = STEP) -> PlanarTrajectory:
    engine = Reference()
    motion = engine.simulate(scene, step, resolve_settings(engine, profile, {}, scene, step))
    assert isinstance(motion, PlanarTrajectory)
    return motion


def test_an_impact_of_one_corner_beside_another_in_a_bowl_is_counted() -> None:
    """Normals of the two corners differ by 0.125 rad; that of the struck one has not turned."""
    size = 0.125
    at = -math.sqrt(1.0 - size**2 / 4.0) + size / 2.0
    box = PlanarBody(
        name="box", shape=rectangle(size, size), mass=1.0, position=(0.0, at), velocity=(1.0, 0.0), restitution=1.0,
        friction=0.2,
    )  # fmt: skip
    bowl = Bowl(name="bowl", radius=1.0, friction=0.2, restitution=1.0)
    scene = PlanarScene(duration=0.5, bodies=(box,), boundaries=(bowl,))
    motion = simulated(scene)
    assert faults(scene, motion, "reference") == set()
    o = Observation(scenario=scenario_from_scene("fuzzed", scene), trajectory=motion)
    assert impact.impacts(o).interval[0] == 0


@pytest.mark.slow
def test_a_chain_that_is_taut_between_two_pins_sags_by_the_root_of_its_round_off() -> None:
    """Six links of 0.25 m between pins 1.5 m apart: a gap of 1e-13 m lets them sag by 1e-7 m."""
    angle, count, width = 0.5, 6, 0.25
    along = np.array((math.sin(angle), -math.cos(angle)))
    links = [
        PlanarBody(
            name=f"link {i}", shape=rectangle(width / 8.0, width), mass=1.0, angle=angle, group=1,
            position=tuple(((i + 0.5) * width * along).tolist()),
        )
        for i in range(count)
    ]  # fmt: skip
    ends = {"anchor_a": (0.0, -width / 2.0), "anchor_b": (0.0, width / 2.0)}
    pins = [Revolute(name=f"pin {i}", a=f"link {i}", b=f"link {i + 1}", **ends) for i in range(count - 1)]
    first = Revolute(name="first", a="link 0", anchor_a=(0.0, width / 2.0), anchor_b=(0.0, 0.0))
    last_at = tuple((count * width * along).tolist())
    last = Revolute(name="last", a=f"link {count - 1}", anchor_a=(0.0, -width / 2.0), anchor_b=last_at)
    scene = PlanarScene(duration=0.5, bodies=tuple(links), joints=(*pins, first, last))
    assert faults(scene, simulated(scene), "reference") == set()


@pytest.mark.parametrize(("at", "length", "damping"), [((0.0, 0.0), 1.0, 0.0), ((-0.125, 0.25), 0.0, 1.0)])
def test_a_spring_whose_ends_start_together_has_no_direction_at_first(
    at: tuple[float, float], length: float, damping: float
) -> None:
    body = PlanarBody(
        name="body", shape=Disc(radius=0.5), mass=0.5, position=(0.0, 0.0), velocity=(0.375, 0.375), spin=0.375
    )
    spring = Spring(a="body", anchor_a=at, anchor_b=at, stiffness=10.0, rest_length=length, damping=damping)
    scene = PlanarScene(duration=1.0, bodies=(body,), springs=(spring,))
    assert faults(scene, simulated(scene), "reference") == set()


def test_boxes_that_stand_flush_on_one_another_have_a_level_face_between_them() -> None:
    """Corner over corner to 1e-15 m: the direction from one corner to the other is round-off."""
    boxes = tuple(
        PlanarBody(name=f"box {i}", shape=rectangle(4.0, 4.0), mass=0.1, position=(0.0, 2.0 + 4.0 * i))
        for i in range(2)
    )
    scene = PlanarScene(duration=1.0, bodies=boxes)
    pose = np.array([[(-6.567e-16, 5.3991374999999984, 8.927e-17), (-2.508e-16, 9.3991375000000001, 4.12e-17)]] * 2)
    motion = PlanarTrajectory(time=np.array((0.0, 1.0)), dt=1.0, velocity_lag=0.0, pose=pose, twist=np.zeros((2, 2, 3)))
    o = Observation(scenario=scenario_from_scene("fuzzed", scene), trajectory=motion)
    near = proximity.proximities(o)
    assert len(near.gap) == 4
    assert near.normal == pytest.approx(np.tile((0.0, 1.0), (4, 1)), abs=1e-12)


@pytest.mark.parametrize("law", ["poisson", "newton"])
@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_impacts_of_two_contacts_obey_a_law_of_impact_and_no_other_restitution(law: str, order: str) -> None:
    """A ball strikes one that is in contact with a second: each law and order allows it, and none with e^2."""
    balls = tuple(
        PlanarBody(
            name=f"ball {i}", shape=Disc(radius=0.5), mass=1.0 + i, position=(1.0 * i, 0.0), restitution=0.6,
            friction=0.3, velocity=(20.0 * (i == 0), 0.0),
        )
        for i in range(2)
    )  # fmt: skip
    third = PlanarBody(
        name="ball 2", shape=Disc(radius=0.5), mass=0.5, position=(1.6, 0.8), restitution=0.6, friction=0.3
    )
    scene = PlanarScene(duration=0.5, bodies=(*balls, third), gravity=(0.0, 0.0))
    engine = Reference()
    settings = resolve_settings(engine, "default", {"impact_law": law, "impact_order": order}, scene, STEP)
    motion = engine.simulate(scene, STEP, settings)
    assert isinstance(motion, PlanarTrajectory)
    assert faults(scene, motion, "reference") == set()
    other = tuple(body.model_copy(update={"restitution": 0.36}) for body in scene.bodies)
    assert "against the impact law" in faults(scene.model_copy(update={"bodies": other}), motion, "reference")


def test_friction_at_a_wheel_that_carries_links_changes_by_its_pins_how_fast_it_parts_by_poissons_law() -> None:
    """By Poisson's law e is of the impulses: pins tie what friction does to the speed along the normal."""
    half = 0.25
    x = half * math.sqrt(0.5)
    moves: dict[str, Any] = {"velocity": (1.0, -1.0), "restitution": 0.9, "friction": 0.5, "group": 1}
    wheel = PlanarBody(name="wheel", shape=Disc(radius=half), mass=0.1, position=(0.0, 0.3), **moves)
    link = PlanarBody(
        name="link", shape=rectangle(2.0 * half, 0.0625), mass=30.0, position=(2.0 * x, 0.3 + 2.0 * x),
        angle=0.25 * math.pi, **moves,
    )  # fmt: skip
    pin = Revolute(name="pin", a="wheel", b="link", anchor_a=(x, x), anchor_b=(-half, 0.0))
    ground = HalfPlane(name="ground", friction=0.5, restitution=0.9)
    scene = PlanarScene(duration=0.1, bodies=(wheel, link), boundaries=(ground,), joints=(pin,))
    engine = Reference()
    motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
    impacts, first = motion.impacts, int(np.flatnonzero(np.diff(motion.time) == 0.0)[0])
    assert impacts is not None and np.sum(impacts.time == impacts.time[0]) == 1
    parts, meets = motion.velocity[first + 1, 0, 1], motion.velocity[first, 0, 1]
    assert abs(parts + 0.9 * meets) > 1e-3  # not as alone
    assert faults(scene, motion, "reference") == set()


def test_rates_whose_squares_are_less_than_any_number_are_as_exact_as_others() -> None:
    engine, slow = Scattered(), 1e-185
    for scene in drawn(planar_scenes()):
        motion = engine.simulate(scene, STEP, {})
        assert isinstance(motion, PlanarTrajectory)
        crawling = dataclasses.replace(motion, twist=slow * motion.twist)
        wrong = [message for _, message, _ in laws.own_faults(scene, crawling, laws.SCATTERED, {})]
        assert not any("rate of a gap" in message for message in wrong), wrong


def test_a_sphere_that_flies_past_another_has_not_bounced() -> None:
    """Its second time past, from below: the normal turns, so that the gap's rate rises by more than half a bounce. A
    ball that lies beside them has the scene simulated by steps."""
    flying = SpatialBody(
        name="a", shape=Sphere(radius=0.5), mass=1.0, position=(-0.98, -1.03, 0.5), velocity=(0.0, 10.0, 20.0),
        restitution=0.9,
    )  # fmt: skip
    fixed = SpatialBody(
        name="b", shape=Sphere(radius=1.140625), fixed=True, position=(-1.0, -0.03, 2.64), restitution=0.9
    )
    lying = SpatialBody(name="c", shape=Sphere(radius=0.5), mass=1.0, position=(0.7, 0.0, 0.6), restitution=0.9)
    ground = HalfSpace(name="ground", restitution=0.9)
    engine, scene = Reference(), SpatialScene(duration=0.25, bodies=(flying, fixed, lying), boundaries=(ground,))
    motion = engine.simulate(scene, STEP, resolve_settings(engine, "default", {}, scene, STEP))
    late = motion.time > 0.13
    gap = np.linalg.norm(motion.position[late, 0] - motion.position[late, 1], axis=1) - 1.640625
    assert 0.05 < gap.min() < min(gap[0], gap[-1])
    assert faults(scene, motion, "reference") == set()


def test_forces_between_two_samples_may_grow_without_limit_up_to_where_a_wedge_locks() -> None:
    """Found by fuzzing: squares on their corners, a heavy one on top. One that turns is wedged in by friction: forces
    grow from 100 N to 3,500 N, and are 140 N once it sticks."""
    square, standing = rectangle(0.25, 0.25), math.pi / 4.0
    base = PlanarBody(name="base", shape=rectangle(0.5, 0.25), mass=10.0, position=(0.0, 0.125), friction=0.5)
    upper = [
        PlanarBody(name=f"body {i}", shape=square, mass=mass, angle=standing, position=(0.0, y), friction=0.5)
        for i, mass, y in ((1, 1.0, 0.42677669529663687), (2, 1.0, 0.7803300858899107), (3, 10.0, 1.1338834764831844))
    ]
    scene = PlanarScene(duration=0.5, bodies=(base, *upper), boundaries=(HalfPlane(name="ground", friction=0.5),))
    assert faults(scene, simulated(scene), "reference") == set()


def test_what_rolls_over_an_arc_turns_by_more_than_the_mean_of_its_spins() -> None:
    """Found by fuzzing: the arm of the floor's force changes sides between two samples, and its torque with it."""
    corners = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    body = PlanarBody(
        name="body", shape=ArcPolygon(vertices=corners, bulges=(0.2,) * 4), mass=1.0, position=(-0.88, 1.75), angle=0.3,
        spin=-0.125, friction=0.0, restitution=0.5,
    )  # fmt: skip
    ground = HalfPlane(name="ground", friction=0.0, restitution=0.5)
    scene = PlanarScene(duration=1.0, bodies=(body,), boundaries=(ground,))
    assert faults(scene, simulated(scene, "default"), "reference") == set()


def test_time_goes_on_as_bodies_do_while_one_corner_of_a_limb_rests_and_the_other_bounces() -> None:
    """Found by fuzzing: the corner at rest, by round-off over round-off, moved the time of the other's next touch by
    1e-5 s, and the state stayed where it was. Nothing is near the sixth limb: it goes on as it goes."""
    scene = parse_scene(json.loads((Path(__file__).parents[2] / "data" / "one_corner_rests.json").read_text("utf-8")))
    motion = simulated(scene, "default", 1e-3)
    way = motion.position[:, 6, 0] - motion.position[0, 6, 0]
    assert way == pytest.approx(motion.velocity[0, 6, 0] * motion.time, abs=1e-12)


def test_forces_jump_where_a_body_that_rolls_comes_off_an_arc() -> None:
    """Found by fuzzing: a long shape rolls over the arc of another, and from its end on over the corner there."""
    sides = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    below = PlanarBody(
        name="below", fixed=True, position=(-0.875, 1.625), angle=1.2,
        shape=ArcPolygon(vertices=sides, bulges=(0.2,) * 4), friction=1.0,
    )  # fmt: skip
    flat = tuple((x, 0.5 * y) for x, y in sides)
    above = PlanarBody(
        name="above", mass=0.1, position=(-1.0, 3.625), angle=0.3, velocity=(0.5, 0.0), spin=0.75,
        shape=ArcPolygon(vertices=flat, bulges=(0.0, 1.0, 0.0, 1.0)), friction=1.0,
    )  # fmt: skip
    scene = PlanarScene(duration=0.6, bodies=(below, above))
    motion = simulated(scene, "default", 1.0 / 60.0)
    assert faults(scene, motion, "reference") == set()
    dropped = dataclasses.replace(
        motion, contacts=dataclasses.replace(motion.contacts, impulse=0.5 * motion.contacts.impulse)
    )
    assert "forces off balance" in faults(scene, dropped, "reference")


def test_a_disc_that_turns_over_from_one_side_of_its_rim_to_the_other_is_pressed_between_two_samples() -> None:
    """All but flat: in 20 ms its contact goes round by 130 degrees, and it rises as fast as it came down."""
    disc = SpatialBody(
        name="disc", shape=Cylinder(radius=0.5, length=0.03125), mass=0.5, friction=1.0, restitution=0.9,
        position=(0.5, 2.0, 0.06640625), velocity=(4.875, 3.375, -0.625),
        orientation=(0.9987502603949663, 0.03534060950936696, 0.03534060950936696, 0.0),
    )  # fmt: skip
    ground = HalfSpace(name="ground", friction=1.0, restitution=0.9)
    scene = SpatialScene(bodies=(disc,), boundaries=(ground,), duration=1.6)
    engine = Reference()
    motion = engine.simulate(scene, 0.02, resolve_settings(engine, "fair", {}, scene, 0.02))
    assert faults(scene, motion, "reference") == set()


def test_a_rope_in_space_that_goes_taut_takes_the_speed_along_it_and_no_other_energy_is_lost() -> None:
    """Found by fuzzing: a bead falls beside the point that its slack rope hangs from."""
    bead = SpatialBody(name="bead", shape=Sphere(radius=0.125), mass=1.0, position=(0.14, 0.0, 0.99))
    rope = SpatialRope(name="rope", a="bead", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), length=1.25)
    engine, scene = Reference(), SpatialScene(duration=1.0, bodies=(bead,), joints=(rope,))
    motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
    assert isinstance(motion, SpatialTrajectory)
    assert faults(scene, motion, "reference") == set()
    late = motion.time > 0.8
    slower = dataclasses.replace(motion, velocity=np.where(late[:, None, None], 0.99, 1.0) * motion.velocity)
    assert "energy lost" in faults(scene, slower, "reference")


@pytest.mark.parametrize(
    "word", ["moving-plate", "moving-plate:moved=shaken", "moving-plate:moved=cart", "turning-plate"]
)
def test_on_a_plate_of_given_motion_energy_is_judged_by_the_work_of_that_motion(word: str) -> None:
    """The belt gives the block 1.1 J, the turning plate 40 J: no fault; a ten-thousandth more in the end is one, and
    without friction a ten-thousandth less is, too."""
    scene, engine = scenario_of(word).scene, Reference()
    motion = engine.simulate(scene, STEP, resolve_settings(engine, "fair", {}, scene, STEP))
    assert isinstance(motion, PlanarTrajectory)
    assert faults(scene, motion, "reference") == set()
    for factor, oracle in ((1.0 + 1e-4, "energy gained"), (1.0 - 1e-4, "energy lost")):
        twist = motion.twist.copy()
        twist[len(motion.time) // 2 :, 0] *= factor
        off = faults(scene, dataclasses.replace(motion, twist=twist), "reference", {})
        assert off and (oracle in off or word != "turning-plate")
