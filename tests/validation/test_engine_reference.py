"""The reference engine behind the seam."""

import dataclasses
import math

import numpy as np
import pytest

from reference_engine import ContactForceError, PainleveError, UnresolvedContact
from reference_engine.geometry import planar_proximity
from reference_engine.planar import run
from reference_engine.planar.layout import Model
from reference_engine.planar_model.shape import twice_area
from scenarios.catalogue import scenario_of
from scenarios.mass import planar_mass
from scenarios.scene import (
    ArcPolygon,
    Bowl,
    ContactLaw,
    Damping,
    HalfPlane,
    PairLaw,
    PlanarBody,
    Polygon,
    Revolute,
    Rod,
    Rope,
    Spring,
    Thruster,
)
from tests.validation.engines.planar_scenes import DT, G, ball, box, ground, scene, simulated
from tests.validation.metrics.motions import values
from validation.engines.engine import SettingError, resolve_settings
from validation.engines.reference.adapter import Reference
from validation.engines.shared import planar_model as reference_world
from validation.engines.shared.recorder import collected_step_times

WEIGHTLESS = (0.0, 0.0)
ANGLE = Polygon(vertices=((-1.0, -1.0), (1.0, -1.0), (1.0, -0.5), (-0.5, -0.5), (-0.5, 1.0), (-1.0, 1.0)))
LENS = ArcPolygon(vertices=((-1.0, 0.0), (1.0, 0.0)), bulges=(0.5, 0.5))


def pair(*joints, **given):
    bodies = ball("p", radius=0.1), ball("q", radius=0.1, position=(1.0, 0.0), velocity=(0.0, 1.0))
    return scene(*bodies, joints=joints, gravity=WEIGHTLESS, duration=1.0, **given)


def falling(restitution: float, make=ball, duration=3.0):
    return scene(make(position=(0.0, 1.5), restitution=restitution), ground=ground(), duration=duration)


def at_impact(trajectory):
    """The samples just before and just after the first impact."""
    before, after = np.flatnonzero(trajectory.time == trajectory.impacts.time[0])
    assert after == before + 1
    return before, after


@pytest.mark.parametrize(
    "what, word",
    [
        (scene(box(position=(0.0, 0.49)), ground=ground(), duration=1.0), "'box' and 'ground' overlap at the start"),
        (scene(*(ball(f"b{i}", position=(2.0 * i, 0.0)) for i in range(301)), duration=1.0), "this one has 301"),
        (pair(Revolute(name="j", a="p", b="q", anchor_a=(1, 0), anchor_b=(0, 0), collide=True)), "'j'"),
        (pair(Revolute(name="j", a="p", b="q", anchor_a=(0.9, 0), anchor_b=(0, 0))), "'j': its ends are 0.1 m apart"),
        (pair(Rod(name="j", a="p", b="q", anchor_a=(0, 0), anchor_b=(0, 0), length=0.9)), "allowed: 0.9 m"),
        (pair(Rope(name="j", a="p", b="q", anchor_a=(0, 0), anchor_b=(0, 0), length=0.9)), "allowed: at most 0.9 m"),
    ],
)
def test_what_it_cannot_represent_it_declines_with_the_reason(what, word):
    assert word in (Reference().declines(what) or "")


def test_a_leaning_block_at_rest_reports_forces_and_friction_that_carry_its_weight():
    """On an incline of 0.2 rad: m g cos along the normal, m g sin against the slope, on the block, over one step."""
    slope = 0.2
    normal = (-math.sin(slope), math.cos(slope))
    start = (0.5 * normal[0], 0.5 * normal[1])
    plane = HalfPlane(name="slope", normal=normal, friction=0.5)
    what = scene(box(position=start, angle=slope, friction=0.5), boundaries=(plane,), duration=1.0)
    trajectory = simulated(Reference(), what)
    assert np.abs(trajectory.pose - trajectory.pose[0]).max() <= 1e-15
    contacts = trajectory.contacts
    on_block = np.where(contacts.b == 0, 1.0, -1.0)[:, None] * contacts.impulse
    total = np.zeros((len(trajectory.time), 2))
    np.add.at(total, contacts.sample, on_block)
    assert total == pytest.approx(np.tile((0.0, G * DT), (len(total), 1)), abs=1e-12 * G * DT)
    assert contacts.gap == pytest.approx(np.zeros(len(contacts.gap)), abs=1e-15)


@pytest.mark.parametrize("make", [ball, box])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9, 1.0])
def test_an_impact_is_where_the_fall_ends_with_a_sample_just_before_and_one_just_after(make, e):
    trajectory = simulated(Reference(), falling(e, make))
    first = trajectory.impacts.time[0]
    assert first == pytest.approx(math.sqrt(2.0 / G), abs=1e-15)
    before, after = at_impact(trajectory)
    assert trajectory.twist[after, 0, 1] == pytest.approx(-e * trajectory.twist[before, 0, 1], rel=1e-12, abs=1e-12)
    now = trajectory.impacts.time == first
    jump = trajectory.twist[after, 0, 1] - trajectory.twist[before, 0, 1]
    upward = np.where(trajectory.impacts.b[now] == 0, 1.0, -1.0) * trajectory.impacts.impulse[now, 1]
    assert upward.sum() == pytest.approx(jump, rel=1e-12)


def test_friction_and_restitution_reach_the_engine_pair_by_pair():
    """A ball without spin lands at 45 degrees: u_n = -0.3 of the fall, and mu (1 + e) of it off the slip."""
    law = ContactLaw(pairs=(PairLaw(a="ball", b="ground", friction=0.1, restitution=0.3),))
    fall = math.sqrt(2.0 * G)
    thrown = ball(position=(0.0, 1.5), velocity=(fall, 0.0), restitution=1.0, friction=1.0)
    trajectory = simulated(Reference(), scene(thrown, ground=ground(friction=1.0), duration=1.0, contact=law))
    _, after = at_impact(trajectory)
    slid = 0.1 * 1.3 * fall
    spin = -slid * 0.5 / (0.5 * 0.25)  # I = m r^2 / 2
    assert trajectory.twist[after, 0] == pytest.approx([fall - slid, 0.3 * fall, spin], rel=1e-12)
    struck = trajectory.impacts
    on_ball = np.where(struck.b == 0, 1.0, -1.0)[:, None] * struck.impulse
    assert on_ball[0] == pytest.approx([-slid, 1.3 * fall], rel=1e-12)


def test_damping_and_tilted_ground_arrive():
    """A frictionless slide down 30 degrees: a = g sin 30; with damping k: v = (m g sin / k) (1 - e^{-k t / m})."""
    normal = (-0.5, math.sqrt(3.0) / 2.0)
    slope = HalfPlane(name="slope", normal=normal)
    start = (normal[0] * 0.5, normal[1] * 0.5)
    for k in (0.0, 2.0):
        what = scene(
            box(position=start, angle=math.pi / 6), boundaries=(slope,), duration=1.0, damping=Damping(linear=k)
        )
        v = np.linalg.norm(simulated(Reference(), what).velocity[-1, 0])
        exact = G / 2.0 if k == 0.0 else G / 2.0 / k * (1.0 - math.exp(-k))
        assert v == pytest.approx(exact, rel=1e-11)


def test_damping_of_spin_arrives():
    """I w' = -k w, I = m r^2 / 2 = 1/8."""
    what = scene(ball(spin=3.0), gravity=WEIGHTLESS, damping=Damping(angular=0.15), duration=1.0)
    assert simulated(Reference(), what).spin[-1, 0] == pytest.approx(3.0 * math.exp(-8.0 * 0.15), rel=1e-12)


def test_springs_bands_and_thrusters_arrive():
    """x'' = -k x from 1 m; a band of rest length 2 m is slack; a ramp of 1 to 0 N in 1 s leaves v = 1/2, x = 1/3."""
    spring = Spring(a="ball", anchor_a=(0, 0), anchor_b=(0, 0), stiffness=4.0)
    slack = Spring(a="ball", anchor_a=(0, 0), anchor_b=(0, 0), stiffness=9.0, rest_length=2.0, tension_only=True)
    what = scene(ball(position=(1.0, 0.0)), springs=(spring, slack), gravity=WEIGHTLESS, duration=1.0)
    motion = simulated(Reference(), what)
    assert motion.pose[:, 0, 0] == pytest.approx(np.cos(2.0 * motion.time), abs=1e-12)
    ramp = Thruster(body="ball", anchor=(0.0, 0.0), force=(1.0, 0.0), profile=((0.0, 1.0), (1.0, 0.0)))
    pushed = simulated(Reference(), scene(ball(angle=math.pi / 2), thrusters=(ramp,), gravity=WEIGHTLESS, duration=1.0))
    assert pushed.velocity[-1, 0] == pytest.approx([0.0, 0.5], abs=1e-12)
    assert pushed.pose[-1, 0, :2] == pytest.approx([0.0, 1.0 / 3.0], abs=1e-12)


@pytest.mark.parametrize(
    "joint",
    [
        Revolute(name="j", a="p", b="q", anchor_a=(1.0, 0.0), anchor_b=(0.0, 0.0)),
        Rod(name="j", a="p", b="q", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=1.0),
        Rope(name="j", a="q", b="p", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=1.0),
    ],
    ids=lambda joint: joint.kind,
)
def test_joints_arrive(joint):
    """Two balls of 1 kg, 1 m apart, one thrown across: rod and rope let them turn about their middle at 1 rad/s; a pin

    that is fixed to the first takes its spin along: I = m d^2 / 2 + m r^2 / 2 about their centre.
    """
    motion = simulated(Reference(), pair(joint))
    rate = 0.5 / (0.5 + 0.005) if joint.kind == "revolute" else 1.0
    apart = motion.pose[:, 1, :2] - motion.pose[:, 0, :2]
    angle = rate * motion.time
    assert apart == pytest.approx(np.stack([np.cos(angle), np.sin(angle)], axis=1), abs=1e-11)
    assert len(motion.contacts.gap) == 0 and len(motion.impacts.time) == 0  # joints press no surfaces


def test_a_rope_goes_taut_without_bounce_whatever_the_body_is_made_of():
    """Thrown at 2 m/s up a rope of 1 m, at rest at its end."""
    tied = ball(velocity=(0.0, 2.0), radius=0.1, restitution=1.0)
    rope = Rope(name="rope", a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=1.0)
    motion = simulated(Reference(), scene(tied, joints=(rope,), gravity=WEIGHTLESS, duration=1.0))
    assert motion.pose[-1, 0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    assert motion.twist[-1, 0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_bowls_and_concave_polygons_arrive():
    """A ball let go 1 rad up in a bowl comes back after T = 4 sqrt(L/g) K; one that falls into an angle iron stays."""
    L, period = 1.75, 2.829813055612857
    start = (L * math.sin(1.0), -L * math.cos(1.0))
    rolling = scene(
        ball(radius=0.25, position=start), boundaries=(Bowl(name="bowl", radius=2.0),), duration=2.0 * period
    )
    motion = simulated(Reference(), rolling, dt=period / 240.0)
    assert motion.pose[-1, 0, :2] == pytest.approx(start, abs=1e-11)
    iron = PlanarBody(name="iron", shape=ANGLE, position=(0.0, 1.0), fixed=True)
    inside = ball(position=(0.25, 1.5), radius=0.25, velocity=(-1.0, 0.0))
    motion = simulated(Reference(), scene(iron, inside, ground=ground(), duration=2.0))
    assert motion.pose[-1, 1, :2] == pytest.approx([-0.25, 0.75], abs=1e-12)


def test_arcs_arrive_bulging_out_and_in():
    """The outline that the engine gets encloses the area of the scene's shape."""
    for bulges in ((0.5, 0.5, 0.0, 1.0), (0.0, -0.3, 0.2, 0.0)):
        shape = ArcPolygon(vertices=((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)), bulges=bulges)
        area = sum(twice_area(edge) for edge in reference_world.shape_of(shape).edges) / 2.0
        assert area == pytest.approx(planar_mass(shape).area, rel=1e-12)


def test_a_lens_rocks_on_its_arc():
    """Arcs of R = 1.25 m over a chord of 2 m, 0.5 m high: the centre of mass is a = 0.75 m below that of the lower arc.

    It rolls: the centre of the arc goes by -R theta, and small swings have w^2 = m g a / (I + m (R - a)^2).
    """
    radius, a, inertia, tilt = 1.25, 0.75, 0.2, 1e-3
    start = (-radius * tilt + a * math.sin(tilt), radius - a * math.cos(tilt))
    lens = PlanarBody(name="lens", shape=LENS, mass=1.0, inertia=inertia, position=start, angle=tilt, friction=0.5)
    what = scene(lens, ground=ground(friction=0.5), duration=2.0)
    motion = simulated(Reference(), what)
    rate = math.sqrt(G * a / (inertia + (radius - a) ** 2))
    assert motion.angle[:, 0] == pytest.approx(tilt * np.cos(rate * motion.time), abs=1e-8)


def test_bodies_of_one_group_pass_through_each_other():
    both = [ball("p", group=1, velocity=(1.0, 0.0)), ball("q", group=1, position=(1.5, 0.0))]
    trajectory = simulated(Reference(), scene(*both, duration=2.0, gravity=WEIGHTLESS))
    assert trajectory.pose[-1, 0, 0] == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("dt", [1.0 / 240.0, 1.0 / 60.0, 0.1])
def test_at_most_60_samples_a_second_where_nothing_happens_and_pairs_one_step_apart(dt):
    trajectory = simulated(Reference(), scene(ball(), duration=5.0), dt=dt)
    assert len(trajectory.time) <= 5.0 * 60.0 + 1.0
    assert trajectory.time[0] == 0.0 and trajectory.time[-1] == pytest.approx(5.0, abs=1e-12)
    assert np.isclose(np.diff(trajectory.time), dt, rtol=1e-9).sum() >= min(5.0 / dt, 45)


def test_the_same_scene_gives_the_same_hash_and_another_ball_another():
    one, two, other = (simulated(Reference(), falling(e)).state_hash for e in (0.5, 0.5, 0.6))
    assert one == two != other


def test_the_times_of_all_steps_are_the_share_of_the_whole():
    with collected_step_times() as times:
        simulated(Reference(), falling(0.5, duration=1.0))
    assert len(times) == 240 and len(set(times)) == 1 and times[0] > 0.0


def test_settings_are_checked_by_name_range_and_choice_and_reach_the_engine():
    engine, touching = (
        Reference(),
        [
            ball(name, radius=0.5, position=(x, 0.0), velocity=(v, 0.0), restitution=1.0)
            for name, x, v in (("p", -0.5, 1.0), ("q", 1.0, 0.0), ("r", 2.0, 0.0))
        ],
    )
    what = scene(*touching, gravity=WEIGHTLESS, duration=1.0)
    with pytest.raises(SettingError, match="did you mean 'tolerance'"):
        resolve_settings(engine, "fair", {"tolerence": "1e-9"}, what, DT)
    with pytest.raises(SettingError, match=r"allowed: newton \| poisson"):
        resolve_settings(engine, "fair", {"impact_law": "stronge"}, what, DT)
    assert resolve_settings(engine, "fair", {"max_events": "7"}, what, DT)["max_events"] == 7
    shared, handed_on = (
        simulated(engine, what, impact_order=order).velocity[-1, :, 0] for order in ("simultaneous", "sequential")
    )
    assert handed_on == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert shared == pytest.approx([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], abs=1e-12)
    with pytest.raises(UnresolvedContact, match="max_events = 3 events"):
        simulated(engine, falling(0.9), max_events=3)


def test_fair_gains_no_energy_where_newtons_law_of_impact_with_friction_does():
    """Kane 1984: a unit box falls on a unit disc, beside its middle; e = 1, mu = 1/2."""
    law = {"friction": 0.5, "restitution": 1.0}
    disc, block = ball(position=(0.203125, 0.5625), **law), box(position=(0.0, 2.5625), **law)
    what = scene(disc, block, ground=ground(**law), duration=2.0)
    default, fair = (values(what, simulated(Reference(), what, profile)) for profile in ("default", "fair"))
    assert default["energy_gain"] > 1.0
    assert fair["energy_gain"] <= 1e-12 * 31.0


def test_where_no_forces_exist_it_says_which_bodies_and_why_and_declines_nothing():
    """Painleve's rod: slid ahead of its centre at 1.1 rad from the floor, mu 1.4."""
    angle, spin = 1.1, 2.0
    foot = (0.5 * math.cos(angle), 0.5 * math.sin(angle))
    sharp = Polygon(vertices=((-0.5, 0.0), (0.0, -2.5e-4), (0.5, 0.0), (0.0, 2.5e-4)))
    rod = PlanarBody(
        name="rod", shape=sharp, mass=1.0, inertia=1.0 / 12.0, position=foot, angle=angle, spin=spin,
        velocity=(-1.0 - spin * foot[1], spin * foot[0]), friction=1.4,
    )  # fmt: skip
    what = scene(rod, ground=ground(friction=1.4), duration=0.1)
    with pytest.raises(PainleveError, match="'rod' and 'ground'"):
        simulated(Reference(), what)
    assert issubclass(PainleveError, ContactForceError)


# --- two witnesses: its gaps and those that measure it share no line ----------------------------------------------


def test_a_wrong_sign_in_its_own_gaps_is_seen_by_its_check_and_without_it_by_the_metric(monkeypatch):
    """Edges whose outward normals point inwards: the box falls into the other."""
    right, fields = run.model_in_numbers, list(Model.__dataclass_fields__)

    def inside_out(world):
        numbers = list(right(world))
        for k in (fields.index("normals"), fields.index("offsets")):
            numbers[k] = [-x for x in numbers[k]]
        return numbers

    what = scene(box("base", mass=None, fixed=True), box(position=(0.1, 1.2)), duration=0.4)
    law = 1e-3
    assert values(what, simulated(Reference(), what))["penetration_max"] <= law
    monkeypatch.setattr(run, "model_in_numbers", inside_out)
    settings = resolve_settings(Reference(), "fair", {}, what, DT)
    with pytest.raises(UnresolvedContact, match="overlap"):
        Reference().simulate(what, DT, settings)
    monkeypatch.setattr("reference_engine.planar.simulate.penetration", lambda world, poses, times: 0.0)
    assert values(what, Reference().simulate(what, DT, settings))["penetration_max"] > law


def test_a_wrong_sign_in_the_gaps_that_measure_it_turns_the_metric_red(monkeypatch):
    """Let go 5 mm up: the exact motion is seen 5 mm deep."""
    what = scene(box(position=(0.0, 0.505)), ground=ground(), duration=0.5)
    motion = simulated(Reference(), what)
    assert values(what, motion)["penetration_max"] <= 1e-12
    right = planar_proximity.sweep

    def faulty(*arguments):
        total = right(*arguments)
        arguments[-1][:total, 0] *= -1.0
        return total

    monkeypatch.setattr(planar_proximity, "sweep", faulty)
    assert values(what, motion)["penetration_max"] == pytest.approx(0.005, abs=1e-12)


def test_a_shape_that_it_gets_wrong_turns_the_metric_red(monkeypatch):
    right = reference_world.world_of

    def smaller(what):
        world = right(what)
        bodies = list(world.bodies)
        bodies[0] = dataclasses.replace(bodies[0], shape=reference_world.library.box(0.99, 0.99))
        return dataclasses.replace(world, bodies=tuple(bodies))

    what = falling(0.0, box)
    assert values(what, simulated(Reference(), what))["penetration_max"] <= 1e-12
    monkeypatch.setattr("validation.engines.reference.adapter.world_of", smaller)
    assert values(what, simulated(Reference(), what))["penetration_max"] == pytest.approx(0.005, abs=1e-12)


BITS = {
    ("pile:n=10", "fair"): "0032ad2f211b",
    ("pile:n=10", "default"): "b11f9cf42ea0",
    ("chain", "fair"): "3aa5e4d7f199",
    ("ellipsoids-in-sphere:friction=0.4", "fair"): "45f4a4931f1c",
    ("three-ellipsoids", "default"): "cbee42edb8cd",
    ("compliant-bounce", "default"): "2eabe4a4cde1",
}
"""The first twelve digits of the hash of each motion. An edit that moves one is marked **[results]** in CHANGELOG.md,
which says why; `ci/recorded/moved.json` has the cases of the canonical suite."""


@pytest.mark.parametrize(("name", "profile"), BITS)
def test_motions_have_the_bits_that_they_had(name: str, profile: str) -> None:
    scene = scenario_of(name).scene
    motion = Reference().simulate(scene, 1 / 240, resolve_settings(Reference(), profile, {}, scene, 1 / 240))
    assert motion.state_hash[:12] == BITS[name, profile]


@pytest.mark.slow
def test_the_canonical_pile_runs_to_its_end() -> None:
    """58,000 impacts, most of which accumulate: what lets bounces go must not make events without end."""
    scene = scenario_of("pile").scene
    motion = Reference().simulate(scene, 1 / 240, resolve_settings(Reference(), "fair", {}, scene, 1 / 240))
    assert motion.time[-1] == scene.duration
