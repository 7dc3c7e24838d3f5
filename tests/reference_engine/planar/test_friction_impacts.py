"""Impacts with friction by Newton's and by Poisson's law: rods, discs, and what they conserve."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference_engine import Body, Disc, Settings, World, box, energy, simulate
from tests.effort import tries
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import ground, rod

NEVER = (0.0, 0.0)  # no gravity: before and after the impact nothing happens


def struck_rod(lean: float, along: float, mu: float, e: float, *, down: float = 1.0, spin: float = 0.0) -> World:
    """A rod of 1 m that touches the ground with its lower end, coming down while it moves along the ground."""
    body = dataclasses.replace(rod(1.0, lean), velocity=(along, -down), spin=spin)
    return World(bodies=(ground(), body), gravity=NEVER, friction=mu, restitution=e)


def at_the_end(world: World) -> tuple[np.ndarray, np.ndarray]:
    """K and the velocity (normal, along x) at the lower end."""
    body = world.bodies[1]
    lever = -body.position[0], -body.position[1]
    speed = np.array([body.velocity[1] + body.spin * lever[0], body.velocity[0] - body.spin * lever[1]])
    return truths.collision_matrix(lever, float(body.inertia)), speed


def apply_impulses(world: World, impact_law: str):
    return simulate(world, 0.01, 0.01, Settings(impact_law=impact_law))


def impulse_on(motion, body: int) -> np.ndarray:
    """(normal up, along x) from the reported impulses, at the ground."""
    i = motion.impacts
    n, on_b = i.normal, i.pair[:, 1] == body
    total = i.impulse[:, None] * n + i.friction[:, None] * np.stack([-n[:, 1], n[:, 0]], axis=1)
    return np.where(on_b[:, None], total, -total).sum(axis=0)[::-1]


CASES = {
    "slides through": (0.6, -4.0, 0.2, 0.5),
    "sticks in compression": (0.5, 0.3, 0.9, 0.6),
    "sticks at once": (0.3, 0.0, 1.2, 0.7),
    "stops in restitution": (0.5, 1.5, 0.7, 0.9),
}


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_oblique_rod_gets_the_impulse_of_its_law(case, impact_law):
    """Slip that ends by sticking, or not at all: there Keller's equations and the laws in the whole impulse agree."""
    world = struck_rod(*CASES[case])
    K, u = at_the_end(world)
    mu, e = CASES[case][2:]
    j = truths.routh_impact(K, u, mu, e, impact_law)
    motion = apply_impulses(world, impact_law)
    assert motion.impacts.time[0] == 0.0
    assert impulse_on(motion, 1) == pytest.approx(j, abs=1e-12)
    after = world.bodies[1].velocity + j[::-1]
    assert motion.twist[-1, 1, :2] == pytest.approx(after, abs=1e-12)


def test_the_two_laws_differ_where_slip_stops_and_agree_where_it_does_not():
    for case, differ in (("slides through", False), ("sticks in compression", True)):
        one, other = (
            apply_impulses(struck_rod(*CASES[case]), impact_law).twist[-1, 1] for impact_law in ("newton", "poisson")
        )
        assert bool(np.abs(one - other).max() > 1e-3) is differ


def test_newtons_law_can_add_energy_with_friction_where_poissons_takes_it():
    """Slip stops early, what sticks then turns the rod into the ground, and e times the approach is too much to give

    (Kane 1984, Stanford Mechanics Alumni Club Newsletter; Brach 1989, J. Appl. Mech. 56).
    """
    world = struck_rod(0.6, -0.75, 0.9, 0.9)
    K, u = at_the_end(world)

    def gained(impact_law: str) -> float:
        motion = apply_impulses(world, impact_law)
        j = impulse_on(motion, 1)
        work = float(j @ (u + 0.5 * K @ j))
        total = energy(world, motion)
        assert total[-1] - total[0] == pytest.approx(work, abs=1e-12)
        return work

    assert gained("newton") > 0.0 > gained("poisson")


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", [0.05, 0.5])
def test_discs_that_collide_obliquely_stick_or_slip_as_their_reduced_mass_says(mu, impact_law):
    """J_n = (1 + e) M |v_n|, J_t = min(M |u_t|/3, mu J_n): discs have 1/m + r^2/I = 3/m, and no coupling."""
    e, r = 0.8, (0.1, 0.2)
    normal = np.array([0.6, 0.8])
    tangent = np.array([-0.8, 0.6])
    v, spins, m = np.array([[2.0, 1.0], [-1.0, 0.5]]), np.array([7.0, -3.0]), np.array([1.0, 2.0])
    bodies = tuple(
        Body(shape=Disc(r[i]), position=tuple(at), velocity=tuple(v[i]), spin=spins[i], mass=m[i])
        for i, at in enumerate(([0.0, 0.0], (r[0] + r[1]) * normal))
    )
    M = m[0] * m[1] / m.sum()
    u_n = (v[1] - v[0]) @ normal
    u_t = (v[1] - v[0]) @ tangent - r[1] * spins[1] - r[0] * spins[0]
    J_n = (1.0 + e) * M * -u_n
    J_t = -math.copysign(min(M * abs(u_t) / 3.0, mu * J_n), u_t)
    assert bool(mu * J_n < M * abs(u_t) / 3.0) is (mu == 0.05)
    motion = apply_impulses(World(bodies=bodies, gravity=NEVER, friction=mu, restitution=e), impact_law)
    J = J_n * normal + J_t * tangent
    assert motion.twist[-1, 0] == pytest.approx([*(v[0] - J / m[0]), spins[0] - J_t / (0.5 * m[0] * r[0])], abs=1e-12)
    assert motion.twist[-1, 1] == pytest.approx([*(v[1] + J / m[1]), spins[1] - J_t / (0.5 * m[1] * r[1])], abs=1e-12)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
@given(
    lean=st.floats(-1.2, 1.2),
    along=st.integers(-3000, 3000).map(lambda n: 1e-3 * n),
    spin=st.floats(-3.0, 3.0),
    mu=st.floats(0.0, 1.3),
    e=st.floats(0.0, 1.0),
)
@settings(max_examples=tries(40))
def test_every_impact_of_a_rod_obeys_the_cone_and_the_law_of_friction(impact_law, lean, along, spin, mu, e):
    """|J_t| <= mu J_n; with less it sticks; with all of it, against where it slides in the end. Newton: u_n+ = -e u_n-.

    Slip at the end of a law in the whole impulse; the incremental laws agree where slip does not turn round.
    """
    world = struck_rod(lean, along, mu, e, spin=spin)
    K, u = at_the_end(world)
    assume(u[0] < -0.05)
    j = impulse_on(apply_impulses(world, impact_law), 1)
    after = u + K @ j
    assert abs(j[1]) <= mu * j[0] + 1e-12
    if impact_law == "newton":
        assert after[0] == pytest.approx(-e * u[0], abs=1e-11)
    exact = truths.routh_impact(K, u, mu, e, impact_law)
    end = u + K @ exact
    if (abs(exact[1]) < mu * exact[0] - 1e-9 and abs(end[1]) < 1e-12) or end[1] * u[1] > 1e-9:
        assert j == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
def test_an_impact_knows_no_static_friction(impact_law):
    """Landing flat at v_n with mu v_n < v < mu_s v_n: the box goes on at v - mu v_n, it does not stop."""
    speed, mu = 1.5, 0.3
    block = Body(shape=box(1.0, 0.5), position=(0.0, 1.25), velocity=(speed, 0.0))
    world = World(bodies=(ground(), block), friction=mu, static_friction=0.9, restitution=0.0)
    motion = simulate(world, 0.46, 0.23, Settings(impact_law=impact_law))
    after = np.searchsorted(motion.time, motion.impacts.time[0], side="right") - 1
    assert motion.twist[after, 1, 0] == pytest.approx(speed - mu * math.sqrt(2.0 * 9.81), abs=1e-12)
