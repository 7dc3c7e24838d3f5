"""Spheres, and half-spaces, in compliant contact: their motion by scipy, for truths.

The law is that of `scenarios.contact`, in the letters of its sources; force and friction act half-way between the two
surfaces. DOP853 from one change of the contact set to the next (Hairer, Norsett & Wanner 1993, II.5): at the tolerance
of 1e-12 two runs, the other at 1e-11, agree to `ERROR` (tests/scenarios/test_compliant_scenes.py). How a sphere has
turned is not worked out: its spin is, and nothing depends on the rest.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from reference_engine.elementary import power, squared
from scenarios.contact import CompliantContact, Material, MaterialPair, contact_radius, damping, stiffness
from scenarios.scenario import ParameterError
from scenarios.scene import HalfSpace, SpatialScene, Sphere, inertias, masses, spatial_start

ERROR = 1e-9  # relative
TOLERANCE = 1e-12
STILL = np.zeros(3)
NEAR = 1e-13  # m: in contact
DEEPEST = 1.5  # radii, of balls that meet: at two their centres do, and there is no normal
STRIDE = 0.2  # of the smallest radius, that nothing travels further than in a step: no contact is passed over


def rubber(
    young_modulus: float,
    restitution: float,
    sliding_friction: float = 0.0,
    rolling_resistance: float = 0.0,
    v_small: float = 0.01,
) -> CompliantContact:
    """A law of one material, named "rubber"."""
    pair = MaterialPair(
        a="rubber", b="rubber", restitution=restitution, sliding_friction=sliding_friction,
        rolling_resistance=rolling_resistance, v_small=v_small,
    )  # fmt: skip
    return CompliantContact(materials=(Material(name="rubber", young_modulus=young_modulus),), pairs=(pair,))


def check_depth(name: str, scene: SpatialScene, speed: float) -> None:
    """Raises ParameterError where the first two bodies, equal spheres that meet at `speed`, press centre on centre.

    Without damping (1/2) m/2 v^2 = (2/5) c depth^(5/2).
    """
    given, (a, b, *_) = scene.contact.compliant, scene.bodies
    assert given is not None and isinstance(a.shape, Sphere)
    depth = power(0.625 * masses(scene)[0] * squared(speed) / stiffness(given, a, b), 0.4)
    if depth > DEEPEST * a.shape.radius:
        raise ParameterError(
            f"{name}: speed {speed:g} m/s would press balls of radius {a.shape.radius:g} m by {depth:.3g} m; "
            "allowed: a lower speed or a greater young_modulus"
        )


class ContactState(NamedTuple):
    """Of spheres i and j at a gap; of a sphere and a plane j = -1. The normal points from i on."""

    gap: float
    normal: Array
    approach: float  # m/s, at which the gap closes
    slip: Array  # (3,) m/s, of the second surface over the first
    turning: Array  # (3,) rad/s, spin of the second relative to the first
    arm_i: Array  # (3,) m, from the centre
    arm_j: Array


class CompliantSpheres:
    """The motion of a scene whose bodies are free spheres and whose boundaries are half-spaces.

    State: of B bodies position (3), velocity (3), spin (3); last, the energy that contacts have taken out, J.
    """

    def __init__(self, scene: SpatialScene, tolerance: float = TOLERANCE) -> None:
        given = scene.contact.compliant
        assert given is not None
        self._given, self._gravity = given, np.array(scene.gravity)
        self._mass, self._moment = masses(scene), inertias(scene)[:, 0]
        self._radius = [body.shape.radius for body in scene.bodies if isinstance(body.shape, Sphere)]
        planes = [plane for plane in scene.boundaries if isinstance(plane, HalfSpace)]
        self._faces = [(-np.array(plane.normal), np.array(plane.point)) for plane in planes]
        members = (*scene.bodies, *planes)
        n = len(scene.bodies)
        self._pairs = [(i, j) for i in range(n) for j in range(i + 1, len(members))]
        self._c = [stiffness(given, members[i], members[j]) for i, j in self._pairs]
        self._r = [contact_radius(members[i], members[j]) for i, j in self._pairs]
        self._law = [given.law(members[i], members[j]) for i, j in self._pairs]
        position, self._orientation, velocity, spin = spatial_start(scene)
        start = np.append(np.stack([position, velocity, spin], axis=1).ravel(), 0.0)
        self.edges: list[float] = [0.0]  # s, where the contact set changes
        self._pieces: list[Any] = []
        self._integrate(start, scene.duration, tolerance)

    def state(self, time: Array) -> Array:
        """(S, B, 3, 3): position, velocity and spin of each."""
        return self._at(time)[:, :-1].reshape(len(time), -1, 3, 3)

    def dissipated(self, time: Array) -> Array:
        """(S,) J, that contacts have taken out."""
        return self._at(time)[:, -1]

    def pose(self, time: Array) -> Array:
        """(S, B, 7) as a truth has it; the orientation of what has a spin is NaN, that of the others stays."""
        state = self.state(np.asarray(time, np.float64))
        poses = np.tile(np.hstack([state[0, :, 0], self._orientation]), (len(time), 1, 1))
        poses[:, :, :3] = state[:, :, 0]
        turned = (np.abs(state[:, :, 2]).max(axis=2) > 0.0).any(axis=0)
        poses[:, turned, 3:] = np.nan
        return poses

    # --- inside -----------------------------------------------------------------------------------------

    def _at(self, time: Array) -> Array:
        piece = np.clip(np.searchsorted(self.edges, time, side="right") - 1, 0, len(self._pieces) - 1)
        return np.array([self._pieces[k](t) for k, t in zip(piece, time)])

    def _contact(self, state: Array, k: int) -> ContactState:
        i, j = self._pairs[k]
        (x, v, w), bodies = state[i], len(state)
        if j < bodies:
            away = state[j, 0] - x
            apart = float(np.sqrt(mul(away, away)))
            normal, gap = away / apart, apart - self._radius[i] - self._radius[j]
            velocity, spin, arm_j = state[j, 1], state[j, 2], -(self._radius[j] + 0.5 * gap) * normal
        else:
            plane = self._faces[j - bodies]
            normal, point = plane
            gap = float(mul(point - x, normal)) - self._radius[i]
            velocity, spin, arm_j = STILL, STILL, STILL
        arm_i = (self._radius[i] + 0.5 * gap) * normal
        relative = velocity + cross(spin, arm_j) - v - cross(w, arm_i)
        closing = -float(mul(relative, normal))
        return ContactState(gap, normal, closing, relative + closing * normal, spin - w, arm_i, arm_j)

    def _rate(self, y: Array, active: dict[int, float]) -> Array:
        state = y[:-1].reshape(-1, 3, 3)
        rate = np.zeros_like(state)
        rate[:, 0], rate[:, 1] = state[:, 1], self._gravity
        lost = 0.0
        for k, d in active.items():
            (i, j), contact, law = self._pairs[k], self._contact(state, k), self._law[k]
            if contact.gap >= 0.0:
                continue
            elastic = self._c[k] * -contact.gap * math.sqrt(-contact.gap)
            force = max(0.0, elastic * (1.0 + d * contact.approach))
            slip, turning = (
                float(np.sqrt(mul(contact.slip, contact.slip))),
                float(np.sqrt(mul(contact.turning, contact.turning))),
            )
            drag = law.sliding_friction * force / regularised(slip, law.v_small)
            resist = law.rolling_resistance * self._r[k] * force / regularised(turning, law.w_small)
            applied, couple = force * contact.normal - drag * contact.slip, -resist * contact.turning  # on the second
            lost += (force - elastic) * contact.approach + drag * squared(slip) + resist * squared(turning)
            rate[i, 1] -= applied / self._mass[i]
            rate[i, 2] -= (cross(contact.arm_i, applied) + couple) / self._moment[i]
            if j < len(state):
                rate[j, 1] += applied / self._mass[j]
                rate[j, 2] += (cross(contact.arm_j, applied) + couple) / self._moment[j]
        return np.append(rate.ravel(), lost)

    def _integrate(self, y: Array, end: float, tolerance: float) -> None:
        from scipy.integrate import solve_ivp  # only a truth that is asked for its poses pays for the import

        from reference_engine.ode import Dop853

        now, active = 0.0, self._met(y, {})
        while now < end:
            events = [self._crossing(k, leaving=k in active) for k in range(len(self._pairs))]
            found = solve_ivp(
                lambda _, state, active=active: self._rate(state, active), (now, end), y, Dop853, rtol=tolerance,
                atol=tolerance, events=events, dense_output=True, max_step=self._longest(y),
            )  # fmt: skip
            now, y = float(found.t[-1]), found.y[:, -1]
            self._pieces.append(found.sol)
            self.edges.append(now)
            active = {k: d for k, d in active.items() if not len(found.t_events[k])} | self._met(y, active)

    def _met(self, y: Array, active: dict[int, float]) -> dict[int, float]:
        """Damping of the pairs that come into contact, by number; of several at one time scipy names one."""
        near = {k: self._contact(y[:-1].reshape(-1, 3, 3), k) for k in range(len(self._pairs)) if k not in active}
        return {
            k: damping(self._given, self._law[k], contact.approach)
            for k, contact in near.items()
            if contact.gap <= NEAR and contact.approach >= 0.0
        }

    def _crossing(self, k: int, *, leaving: bool) -> Any:
        def gap(_: float, y: Array) -> float:
            return self._contact(y[:-1].reshape(-1, 3, 3), k).gap

        gap.terminal, gap.direction = True, 1.0 if leaving else -1.0  # type: ignore[attr-defined]  # as scipy wants it
        return gap

    def _longest(self, y: Array) -> float:
        """s"""
        fastest = float(np.linalg.norm(y[:-1].reshape(-1, 3, 3)[:, 1], axis=1).max())
        fall = float(norm(self._gravity))
        stride = STRIDE * min(self._radius)
        return min(stride / fastest if fastest else np.inf, math.sqrt(2.0 * stride / fall) if fall else np.inf, 1e3)


def cross(a: Array, b: Array) -> Array:
    """Of two vectors: ten times as fast as numpy's."""
    (p, q, r), (u, v, w) = a.tolist(), b.tolist()
    return np.array((q * w - r * v, r * u - p * w, p * v - q * u))


def regularised(x: float, small: float) -> float:
    """x, but at least small / 3: twice continuously differentiable where the two meet, at x = small."""
    return x if x >= small else small * (squared(x / small) * (1.0 - x / small / 3.0) + 1.0 / 3.0)
