"""Ellipsoids moved by any mobility: rigid bodies', a matrix, a function of a fluid solver's. Order 1, one solve a step.

    V = M F,  where forces make speeds: a viscous fluid, no inertia;  V = v + h M F,  where impulses change them
    u = V + M J^T p,  (gap - barrier) / h + J u >= 0  perp  p_n >= 0,  friction on the slip of u
    poses moved by h u

Anitescu & Potra 1997 (Nonlinear Dynamics 14); Oltman & Hur 2017, (17) and (54) to (60), with the barrier's sign of
(55). Gaps are made linear again about the poses that come out until none is off its aim by a fifth of the tolerance,
and what has come too near there unseen becomes a contact; with `once` neither, as in Oltman & Hur. Without
`friction_torque` friction has no moment and slip no spin in it, as in their (50) to (53): a thrown sphere then stops
dead instead of rolling. No gyroscopic term, as in their (12): of a mobility of one's own no moment of momentum is
known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.contact_problems.cone_problem import ConeProblem, contact_jacobian, rigid_mobility
from reference_engine.contact_problems.cone_solve import solve_cones
from reference_engine.dense import mul
from reference_engine.errors import ContactForceError, SpatialWorldError, UnresolvedStepError
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities
from reference_engine.heaps.world import FLOOR, MISS, MOST_HALVINGS, EllipsoidWorld, HalvedSteps, SpatialSettings
from reference_engine.rotation import exponential, matrices, product, tangents

Apply = Callable[[Array], Any]
Mobility = Any
"""A (6 B, 6 B) matrix, dense or sparse, of loads (force, torque of each body in turn) to speeds (velocity, spin), world
axes; or a function of position (B, 3) and orientation (B, 4) that gives such a matrix or a function that applies it."""

NEAR = 0.2  # of the shortest semi-axis: gaps below it are contacts, whatever approaches
MOST_REPEATS = 30
SYMMETRIC = 1e-6  # of the largest entry: a fluid solver's own tolerance
SOLVED = 1e-12  # of the law, over the largest speed: the finest that is asked for


@dataclass(frozen=True, eq=False)
class Near:
    """C candidates where bodies touch, or may soon."""

    body: Indices  # (C, 2) a and b; B + i is container i
    gap: Array  # (C,) m
    frame: Array  # (C, 3, 3) the normal from a to b and two tangents, rows
    arm: Array  # (C, 2, 3) m, from the bodies' centres to the two points
    friction: Array  # (C,)

    def of(self, rows: Indices | Flags) -> Near:
        return Near(*(value[rows] for value in vars(self).values()))

    def and_also(self, other: Near) -> Near:
        return Near(*(np.concatenate(two) for two in zip(vars(self).values(), vars(other).values())))


class MobilityStepper(HalvedSteps):
    """A world in motion: time, position (B, 3), orientation (B, 4), twist (B, 6).

    Of the last step, or of its last part where it was taken in parts: repeats, of the linearisation; body (C, 2), its
    contacts, B + i for container i; impulse (C, 3) N s on the second, world axes.
    """

    def __init__(
        self,
        world: EllipsoidWorld,
        dt: float,
        mobility: Mobility = None,
        *,
        of: Literal["forces", "impulses"] = "impulses",
        edges: int = 0,
        friction_torque: bool = True,
        once: bool = False,
        gap_tolerance: float | None = None,
    ) -> None:
        """dt s. mobility: see above; none: the rigid bodies' own, 1/m and R I^-1 R^T. of: what it makes speeds of,
        "forces" [m/s/N] or "impulses" [m/s/(N s)]. edges: of the friction pyramid; 0: the cone. gap_tolerance m [1e-4
        of the shortest semi-axis].

        Raises SpatialWorldError for what is wrong, here and, where a function gives it, in steps.
        """
        if of not in ("forces", "impulses"):
            raise SpatialWorldError(f"of: {of!r}; 'forces' or 'impulses'")
        if mobility is None and of == "forces":
            raise SpatialWorldError("mobility: None of forces; rigid bodies' own is of impulses, give one")
        if world.restitution.any():
            raise SpatialWorldError(f"restitution: {world.restitution.max()}; 0, speeds here come with the poses")
        settings = SpatialSettings(order=1, edges=edges, gap_tolerance=gap_tolerance)  # looks at them
        super().__init__(world, dt, gap_tolerance)
        self.edges, self.once, self.friction_torque = settings.edges, once, friction_torque
        self.position, self.orientation = world.position.copy(), world.orientation.copy()
        self.twist = np.hstack([world.velocity, world.spin])
        self.of = of
        self._given = mobility
        self._moving = np.repeat(~world.fixed, 6)
        self._immobile = np.append(world.fixed, [True] * len(world.containers))
        self.body, self.impulse, self.repeats = np.zeros((0, 2), np.int64), np.zeros((0, 3)), 0
        overlaps = self._near(self.position, self.orientation, -self.gap_tolerance)
        self._check_start(overlaps.body, overlaps.gap)
        self._apply()  # raises for a wrong shape at once

    def step(self) -> None:
        """On by dt, in shorter steps where one does not come to within its tolerances.

        Raises UnresolvedStepError, if those do not help; the world is at the last time that was reached.
        """
        self._advance(self.dt, 0 if self.once else MOST_HALVINGS)

    def _take(self, h: float) -> None:
        apply, barrier = self._apply(), self.gap_tolerance
        free = apply(self._loads()[:, None])[:, 0]
        if self.of == "impulses":
            free = self.twist.ravel() + h * free
        per_impulse = (lambda loads: apply(loads) / h) if self.of == "forces" else apply
        near = self._near(self.position, self.orientation, self._margin(free, h))
        aim = np.minimum(barrier, np.maximum(near.gap, FLOOR * barrier)) if not self.once else barrier + 0.0 * near.gap
        bias, impulse, twist = (near.gap - aim) / h, np.zeros((len(aim), 3)), free
        J, response, W = self._problem(near, per_impulse)
        for self.repeats in range(1, MOST_REPEATS + 1):
            if len(aim):
                b = (mul(J, free)).reshape(-1, 3)
                b[:, 0] += bias
                problem = ConeProblem(W, b, near.friction, self.edges)
                tolerance = max(SOLVED, min(1e-10, 0.1 * MISS * barrier / h / problem.scale))
                try:
                    impulse = solve_cones(problem, tolerance=tolerance, start=impulse).impulse
                except ContactForceError as error:
                    raise UnresolvedStepError(f"t = {self.time:.9g} s: {error}") from None
                twist = free + mul(response, impulse.ravel())
            ahead = moved(self.position, self.orientation, twist.reshape(-1, 6), h)
            if self.once:
                break
            found, missed = self._query(near, *ahead)
            off = np.abs(np.minimum(found - aim, h * W.diagonal()[::3] * impulse[:, 0])).max(initial=0.0)
            if off <= MISS * barrier and not len(missed.gap):
                break
            if len(missed.gap):
                near = near.and_also(missed)
                found, aim = np.append(found, missed.gap), np.append(aim, np.full(len(missed.gap), FLOOR * barrier))
                impulse = np.concatenate([impulse, np.zeros((len(missed.gap), 3))])
                J, response, W = self._problem(near, per_impulse)
            bias = (found - aim) / h - (mul(J, twist)).reshape(-1, 3)[:, 0]
        else:
            raise UnresolvedStepError(
                f"t = {self.time:.9g} s: gaps are off by {off:.3g} m after {MOST_REPEATS} repeats; "
                f"promised: {MISS * barrier:.3g} m"
            )
        self.body, self.impulse = near.body, np.einsum("ci,cij->cj", impulse, near.frame)
        self.position, self.orientation = ahead
        self.twist, self.time = twist.reshape(-1, 6), self.time + h

    # --- what a step is made of ---

    def _problem(self, near: Near, per_impulse: Apply) -> tuple[sparse.csr_array, Array, sparse.csr_array]:
        """J (3 C, 6 B), the speeds (6 B, 3 C) that impulses along its rows give, and W = J M J^T."""
        turning = self.friction_torque
        J = contact_jacobian(near.frame, near.arm, near.body, len(self.position), slip_turns=turning)
        response = per_impulse(J.T.toarray()) if len(near.gap) else np.zeros(J.T.shape)
        W = sparse.csr_array(mul(J, response))
        if not (W.diagonal() > 0.0).all():
            k = int(np.argmin(W.diagonal())) // 3
            raise SpatialWorldError(
                f"mobility: gives bodies {near.body[k].tolist()} no speed from an impulse between them"
            )
        if (off := abs(W - W.T).max() if len(near.gap) else 0.0) > SYMMETRIC * W.diagonal().max(initial=0.0):
            raise SpatialWorldError(f"mobility: J M J^T and its transpose differ by {off:.3g}; a symmetric one")
        return J, response, 0.5 * (W + W.T)

    def _loads(self) -> Array:
        """(6 B,) N, N m: gravity and the world's own force."""
        world = self.world
        loads = np.hstack([world.mass[:, None] * world.gravity, np.zeros((len(world.mass), 3))])
        own = world.applied_loads(self.time, self.position, self.orientation, self.twist)
        return (loads if own is None else loads + own).ravel()

    def _apply(self) -> Apply:
        """Loads (6 B, K) to speeds, of the bodies that move, at the present poses."""
        size, moving, given = len(self._moving), self._moving[:, None], self._given
        if given is None:
            R, world = matrices(self.orientation), self.world
            inverse_inertia = np.einsum("bik,bk,bjk->bij", R, 1.0 / world.inertia, R)
            given = rigid_mobility(1.0 / world.mass, inverse_inertia)
        elif is_function(given):
            given = given(self.position.copy(), self.orientation.copy())

        def checked(speeds: Any, loads: Array) -> Array:
            speeds = np.asarray(speeds, np.float64)
            if speeds.shape != loads.shape or not np.isfinite(speeds).all():
                raise SpatialWorldError(
                    f"mobility: speeds of shape {speeds.shape} at t = {self.time:.6g} s; {loads.shape}, finite"
                )
            return speeds

        def by_columns(loads: Array) -> Array:
            return np.stack([checked(given(column), column) for column in loads.T], axis=1).reshape(size, -1)

        if is_function(given):
            return lambda loads: moving * by_columns(moving * loads)
        if getattr(given, "shape", None) != (size, size):
            shape = getattr(given, "shape", type(given).__name__)
            raise SpatialWorldError(f"mobility: {shape}; ({size}, {size}) for {size // 6} bodies, or a function")
        return lambda loads: moving * checked(mul(given, moving * loads), loads)

    def _margin(self, free: Array, h: float) -> float:
        """m: gaps that count as contacts from the start; what comes from further away `_query` finds."""
        v = free.reshape(-1, 6)
        point_speed = np.linalg.norm(v[:, :3], axis=1) + np.linalg.norm(v[:, 3:], axis=1) * self.world.semi_axes.max(
            axis=1
        )
        return NEAR * float(self.world.semi_axes.min()) + 3.0 * h * float(point_speed.max())

    def _near(self, position: Array, orientation: Array, cutoff: float) -> Near:
        """All candidates with gaps below the cutoff, m, but those of two that are fixed."""
        world, count = self.world, len(position)
        around = world.semi_axes.max(axis=1, keepdims=True) + max(0.0, 0.5 * cutoff)
        pairs = overlapping_boxes(np.ascontiguousarray(position - around), np.ascontiguousarray(position + around))
        arrays = [
            (ellipsoid_proximities(world.semi_axes, position, orientation, pairs), pairs, world.coefficients_of(pairs))
        ]
        for i, container in enumerate(world.containers):
            rows = container.proximities(world.semi_axes, position, orientation)
            arrays.append(
                (rows, np.stack([rows.a, np.full(len(rows.a), count + i)], axis=1), world.coefficients_with(i)[rows.a])
            )
        gap, normal, first, second = (
            np.concatenate([getattr(rows, name) for rows, _, _ in arrays])
            for name in ("gap", "normal", "point_a", "point_b")
        )
        body, coefficients = (np.concatenate([array[k] for array in arrays]) for k in (1, 2))
        centre = np.concatenate([position, np.zeros((len(world.containers), 3))])
        arm = np.stack([first, second], axis=1) - centre[body]
        found = Near(body.astype(np.int64), gap, frames(normal), arm, np.ascontiguousarray(coefficients[:, 0]))
        return found.of((gap < cutoff) & ~self._immobile[body].all(axis=1))

    def _query(self, near: Near, position: Array, orientation: Array) -> tuple[Array, Near]:
        """(C,) m, gaps of contacts at other poses; and what else is below the floor there.

        Of a body's several points in a hollow sphere each contact has the one along its normal.
        """
        count, body = len(position), near.body
        gap, of_pair = np.empty(len(body)), body[:, 1] < count
        gap[of_pair] = ellipsoid_proximities(self.world.semi_axes, position, orientation, body[of_pair]).gap
        low = self._near(position, orientation, (FLOOR - MISS) * self.gap_tolerance)
        new = ~(low.body[:, None] == body[of_pair]).all(axis=2).any(axis=1)
        for i, container in enumerate(self.world.containers):
            rows = container.proximities(self.world.semi_axes, position, orientation)
            for k in np.flatnonzero(body[:, 1] == count + i):
                own = np.flatnonzero(rows.a == body[k, 0])
                at = own[np.argmax(mul(rows.normal[own], near.frame[k, 0]))]
                gap[k] = rows.gap[at]
                new &= (low.body != body[k]).any(axis=1) | (low.frame[:, 0] != rows.normal[at]).any(axis=1)
        return gap, low.of(new)


def is_function(given: Any) -> bool:
    """Not a matrix, which may be called too."""
    return callable(given) and not hasattr(given, "shape")


def frames(normal: Array) -> Array:
    """(C, 3, 3) normal and two tangents as rows."""
    return np.stack([normal, *tangents(normal)], axis=1)


def moved(position: Array, orientation: Array, twist: Array, h: float) -> tuple[Array, Array]:
    new = product(exponential(h * twist[:, 3:]), orientation)
    new /= np.sqrt(np.einsum("bi,bi->b", new, new))[:, None]
    return position + h * twist[:, :3], new
