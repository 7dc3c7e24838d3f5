"""Of several impulses and forces that obey Coulomb's law one is taken that prefers no contact."""

from __future__ import annotations

import numpy as np
import pytest

from reference_engine.array_types import Array
from reference_engine.contact_problems.friction_continuation import forces_without_one, impartial_forces, stiffened
from reference_engine.contact_problems.multiple_impacts import multiple_impact
from reference_engine.dense import mul


def rows_at_random(seed: int, sliding: bool) -> tuple[Array, Array, Array, Array]:
    """Contacts of a few bodies on one another, as `impartial_forces` has them: more of them than the bodies can tell
    apart, pressed together."""
    rng = np.random.default_rng(seed)
    contacts, bodies = 8, 2
    J = rng.normal(size=(3 * contacts, 6 * bodies))
    slides = np.zeros((contacts, 2))
    if sliding:
        angle = rng.uniform(0.0, 2.0 * np.pi, contacts)
        slides[: contacts // 2] = np.stack([np.cos(angle), np.sin(angle)], axis=1)[: contacts // 2]
    b = mul(J, rng.normal(size=6 * bodies)).reshape(-1, 3)
    return mul(J, J.T), b, rng.uniform(0.1, 0.5, contacts), slides


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("sliding", [False, True])
def test_accelerations_do_not_depend_on_the_order_and_the_tangents_of_contacts(seed: int, sliding: bool) -> None:
    """All contacts in another order, with tangents turned and mirrored: a = A f + b in the same way."""
    A, b, friction, slides = rows_at_random(seed, sliding)
    rng, n, fine = np.random.default_rng(1000 + seed), len(b), 1e-12 * float(np.abs(b).max())
    order = rng.permutation(n)
    R = np.zeros((3 * n, 3 * n))  # to the new axes
    for new, old in enumerate(order):
        angle, sign = rng.uniform(0.0, 2.0 * np.pi), rng.choice([-1.0, 1.0])
        c, s = np.cos(angle), np.sin(angle)
        R[3 * new : 3 * new + 3, 3 * old : 3 * old + 3] = [[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -sign * s, sign * c]]
    wide = np.concatenate([np.zeros((n, 1)), slides], axis=1).ravel()
    turned = (
        mul(mul(R, A), R.T),
        mul(R, b.ravel()).reshape(n, 3),
        np.ascontiguousarray(friction[order]),
        np.ascontiguousarray(mul(R, wide).reshape(n, 3)[:, 1:]),
    )
    force, missed, _ = impartial_forces(A, b, friction, slides, fine)
    other, also, _ = impartial_forces(*turned, fine)
    if missed > fine:  # where no forces exist none are found from either side
        assert also > fine
        return
    assert also <= fine
    a, a_turned = mul(A, force.ravel()) + b.ravel(), mul(turned[0], other.ravel()) + turned[1].ravel()
    assert np.allclose(mul(R.T, a_turned), a, atol=1e-9 * float(np.abs(b).max()), rtol=0.0)


@pytest.mark.parametrize("seed", range(10))
def test_impulses_obey_coulombs_law_within_a_cone_to_round_off(seed: int) -> None:
    """0 <= p_n perp u_n >= 0, |p_t| <= mu p_n, and what slides afterwards has it against the slip."""
    A, b, friction, _ = rows_at_random(100 + seed, False)
    normal_last = np.arange(len(A)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    found = multiple_impact(A[np.ix_(normal_last, normal_last)], b[:, [1, 2, 0]], friction=friction, restitution=0.0)
    p, u, scale = found.impulse, found.velocity, float(np.abs(found.impulse).max())
    load, drag, slip = p[:, 2], np.hypot(p[:, 0], p[:, 1]), np.hypot(u[:, 0], u[:, 1])
    assert load.min() >= -1e-10 * scale
    assert (drag - friction * load).max() <= 1e-10 * scale
    assert u[:, 2].min() >= -1e-10
    work = p[:, 0] * u[:, 0] + p[:, 1] * u[:, 1]
    assert np.allclose(work, -friction * load * slip, atol=1e-9 * scale)
    assert np.allclose(load * u[:, 2], 0.0, atol=1e-9 * scale)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sliding", [False, True])
def test_forces_at_contacts_that_yield_ever_less_obey_coulombs_law(seed: int, sliding: bool) -> None:
    """0 <= f_n perp a_n >= 0; what slides has mu f_n against the slip, what does not at most that, and all of it
    against its acceleration."""
    A, b, friction, slides = rows_at_random(300 + seed, sliding)
    n, scale = len(b), float(np.abs(b).max())
    force, missed = stiffened(A, b, friction, slides, 1e-9 * scale)
    assert missed <= 1e-9 * scale
    a = mul(A, force.ravel()).reshape(n, 3) + b
    load, drag, pull = force[:, 0], force[:, 1:], a[:, 1:]
    most = float(load.max())
    assert load.min() >= -1e-9 * most and a[:, 0].min() >= -1e-9 * scale
    assert np.abs(load * a[:, 0]).max() <= 1e-9 * most * scale
    moves = slides.any(axis=1)
    assert np.allclose(drag[moves], -(friction * load)[moves, None] * slides[moves], atol=1e-9 * most)
    size = np.hypot(*drag.T)
    assert (size - friction * load).max() <= 1e-9 * most
    power = (drag * pull).sum(axis=1)[~moves]
    assert np.allclose(power, -(friction * load * np.hypot(*pull.T))[~moves], atol=1e-9 * most * scale)


def test_of_redundant_forces_those_at_contacts_that_yield_are_the_least() -> None:
    """A weight on five contacts at one point, which cannot slide: each carries a fifth."""
    J = np.tile(np.eye(3), (5, 1))
    weight = np.tile([-1.0, 0.0, 0.0], (5, 1))
    force, missed = stiffened(mul(J, J.T), weight, np.full(5, 0.5), np.zeros((5, 2)), 1e-12)
    assert missed <= 1e-12
    assert np.allclose(force, [[0.2, 0.0, 0.0]] * 5, atol=1e-9)


def test_where_pressing_harder_makes_a_slip_go_in_another_contact_lets_go() -> None:
    """Two contacts of a body, along n1 and n2; the first slides along t1 with mu = 1, so its force is along n1 - t1.

    With the second one closed the first has n1 . (n1 - t1) - (n1 . n2) (n2 . (n1 - t1)) / |n2|^2 = -0.2: harder goes in
    faster. With the second one open it has 1, and the second parts: f = (1, 0), a = (0, 0.5), the only solution.
    """
    n1, t1, across = np.eye(3)
    n2 = n1 - 0.5 * t1
    J = np.array([n1, t1, across, n2, across, 0.5 * n1 + t1])
    b = np.array([[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    friction, slides = np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 0.0]])
    A = mul(J, J.T)
    force = forces_without_one(A, b, friction, slides, 1e-12)
    assert force is not None
    assert np.allclose(force, [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]], atol=1e-12)
    assert (mul(A, force.ravel()) + b.ravel())[3] == pytest.approx(0.5, abs=1e-12)
