"""Ellipsoids moved by any mobility: rigid bodies', a matrix, a function of a fluid solver's. Order 1, one solve a step.

    V = M F,  where forces make speeds: a viscous fluid, no inertia;  V = v + h M F,  where impulses change them
    u = V + M J^T p,  (gap - barrier) / h + J u >= 0  perp  p_n >= 0,  friction on the slip of u
    poses moved by h u

Anitescu & Potra 1997 (Nonlinear Dynamics 14); Oltman & Hur 2017, (17) and (54) to (60), with the barrier's sign of
(55). Gaps are made linear again about the poses that come out until none is off its aim by a fifth of the tolerance;
with `once` they are not, as in Oltman & Hur. Without `friction_torque` friction has no moment and slip no spin in it,
as in their (50) to (53): a thrown sphere then stops dead instead of rolling. No gyroscopic term, as in their (12):
of a mobility of one's own no moment of momentum is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.transform import Rotation

from reference_engine.complementarity.cone_problem import ConeProblem
from reference_engine.complementarity.cone_solve import solve_cones
from reference_engine.complementarity.errors import ContactForceError
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_proximity import (
    ellipsoid_proximities,
    half_space_proximities,
    hollow_sphere_proximities,
)
from reference_engine.spatial.errors import SpatialWorldError, UnresolvedStepError
from reference_engine.spatial.world import EllipsoidWorld, HalfSpace

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Apply = Callable[[Array], Any]
Mobility = Any
"""A (6 B, 6 B) matrix, dense or sparse, of loads (force, torque of each body in turn) to speeds (velocity, spin), world
axes; or a function of position (B, 3) and orientation (B, 4) that gives such a matrix or a function that applies it."""

MISS = 0.2  # of the gap tolerance, by which a gap may end a step off its aim
NEAR = 0.2  # of the shortest semi-axis: gaps below it are contacts, whatever approaches
MOST_REPEATS = 30
SOLVED = 1e-12  # of the law, over the largest speed: the finest that is asked for


class MobilityStepper:
    """A world in motion: time, position (B, 3), orientation (B, 4), twist (B, 6).

    Of the last step: repeats, of the linearisation; body (C, 2), its contacts, B + i for container i; impulse (C, 3)
    N s on the second, world axes.
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
        if not 0.0 < dt < np.inf:
            raise SpatialWorldError(f"dt: {dt} s; positive and finite")
        if of not in ("forces", "impulses"):
            raise SpatialWorldError(f"of: {of!r}; 'forces' or 'impulses'")
        if mobility is None and of == "forces":
            raise SpatialWorldError("mobility: None of forces; rigid bodies' own is of impulses, give one")
        if edges and (edges < 4 or edges % 2):
            raise SpatialWorldError(f"edges: {edges}; 0, or an even number from 4 on")
        if world.restitution.any():
            raise SpatialWorldError(f"restitution: {world.restitution.max()}; 0, speeds here come with the poses")
        if gap_tolerance is not None and not 0.0 < gap_tolerance < np.inf:
            raise SpatialWorldError(f"gap_tolerance: {gap_tolerance} m; positive and finite")
        self.world, self.dt, self.time = world, float(dt), 0.0
        self.edges, self.once, self.friction_torque = edges, once, friction_torque
        self.gap_tolerance = 1e-4 * float(world.semi_axes.min()) if gap_tolerance is None else float(gap_tolerance)
        self.position, self.orientation = world.position.copy(), world.orientation.copy()
        self.twist = np.hstack([world.velocity, world.spin])
        self.of = of
        self._given = mobility
        self._moving = np.repeat(~world.fixed, 6)
        self.body, self.impulse, self.repeats = np.zeros((0, 2), np.int64), np.zeros((0, 3)), 0
        self._apply()  # raises for a wrong shape at once

    def step(self) -> None:
        """On by dt. Raises UnresolvedStepError where gaps or impulses do not come to within their tolerances."""
        h, world = self.dt, self.world
        apply = self._apply()
        free = apply(self._loads()[:, None])[:, 0]
        if self.of == "impulses":
            free = self.twist.ravel() + h * free
        per_impulse = (lambda loads: apply(loads) / h) if self.of == "forces" else apply
        gap, frame, arm, self.body, law = self._contacts(free)
        barrier = self.gap_tolerance
        aim = np.minimum(barrier, np.maximum(gap, 0.4 * barrier)) if not self.once else np.full(len(gap), barrier)
        J = jacobian(frame, arm, self.body, len(world.position), self.friction_torque)
        pushed = per_impulse(J.T.toarray()) if len(gap) else np.zeros(J.T.shape)
        W = sparse.csr_array(J @ pushed)
        if len(gap) and not (W.diagonal() > 0.0).all():
            k = int(np.argmin(W.diagonal())) // 3
            raise SpatialWorldError(
                f"mobility: gives bodies {self.body[k].tolist()} no speed from an impulse between them"
            )
        W = 0.5 * (W + W.T)
        u = (J @ free).reshape(-1, 3)
        bias, impulse, twist = (gap - aim) / h, np.zeros_like(u), free
        for self.repeats in range(1, MOST_REPEATS + 1):
            if len(gap):
                b = u.copy()
                b[:, 0] += bias
                problem = ConeProblem(W, b, law, self.edges)
                tolerance = max(SOLVED, min(1e-10, 0.1 * MISS * barrier / h / problem.scale))
                try:
                    impulse = solve_cones(problem, tolerance=tolerance, start=impulse).impulse
                except ContactForceError as error:
                    raise UnresolvedStepError(f"t = {self.time:.9g} s: {error}") from None
                twist = free + pushed @ impulse.ravel()
            position, orientation = moved(self.position, self.orientation, twist.reshape(-1, 6), h)
            if self.once or not len(gap):
                break
            found = self._gaps_of(frame[:, 0], position, orientation)
            missed = np.abs(np.minimum(found - aim, h * W.diagonal()[::3] * impulse[:, 0])).max()
            if missed <= MISS * barrier:
                break
            bias = (found - aim) / h - (J @ twist).reshape(-1, 3)[:, 0]
        else:
            raise UnresolvedStepError(
                f"t = {self.time:.9g} s: gaps are off by {missed:.3g} m after {MOST_REPEATS} repeats; "
                f"promised: {MISS * barrier:.3g} m"
            )
        self.impulse = np.einsum("ci,cij->cj", impulse, frame) if len(gap) else np.zeros((0, 3))
        self.position, self.orientation = position, orientation
        self.twist, self.time = twist.reshape(-1, 6), self.time + h

    # --- what a step is made of ---

    def _loads(self) -> Array:
        """(6 B,) N, N m: gravity and the world's own force."""
        world = self.world
        loads = np.hstack([world.mass[:, None] * world.gravity, np.zeros((len(world.mass), 3))])
        if world.force is not None:
            own = np.asarray(world.force(self.time, self.position, self.orientation, self.twist), np.float64)
            if own.shape != loads.shape or not np.isfinite(own).all():
                raise SpatialWorldError(f"force: shape {own.shape} at t = {self.time:.6g} s; ({len(loads)}, 6), finite")
            loads = loads + own
        return loads.ravel()

    def _apply(self) -> Apply:
        """Loads (6 B, K) to speeds, of the bodies that move, at the present poses."""
        size, given = len(self._moving), self._given
        if given is None:
            given = rigid_mobility(self.world, self.orientation)
        elif callable(given) and not hasattr(given, "shape"):
            given = given(self.position.copy(), self.orientation.copy())
        moving = self._moving[:, None]

        def checked(speeds: Any, loads: Array) -> Array:
            speeds = np.asarray(speeds, np.float64)
            if speeds.shape != loads.shape or not np.isfinite(speeds).all():
                raise SpatialWorldError(
                    f"mobility: speeds of shape {speeds.shape} at t = {self.time:.6g} s; {loads.shape}, finite"
                )
            return speeds

        if callable(given) and not hasattr(given, "shape"):
            function = given
            return lambda loads: (
                moving
                * np.stack([checked(function(column), column) for column in (moving * loads).T], axis=1).reshape(
                    size, -1
                )
            )
        if getattr(given, "shape", None) != (size, size):
            shape = getattr(given, "shape", type(given).__name__)
            raise SpatialWorldError(f"mobility: {shape}; ({size}, {size}) for {size // 6} bodies, or a function")
        return lambda loads: moving * checked(given @ (moving * loads), loads)

    def _contacts(self, free: Array) -> tuple[Array, Array, Array, Indices, Array]:
        """Gap (C,), frame (C, 3, 3), arms (C, 2, 3), bodies (C, 2), friction (C,) of what may touch in the step."""
        world, count = self.world, len(self.position)
        v = free.reshape(-1, 6)
        reach = np.linalg.norm(v[:, :3], axis=1) + np.linalg.norm(v[:, 3:], axis=1) * world.semi_axes.max(axis=1)
        cutoff = NEAR * float(world.semi_axes.min()) + 3.0 * self.dt * float(reach.max())
        around = world.semi_axes.max(axis=1, keepdims=True) + 0.5 * cutoff
        pairs = overlapping_boxes(
            np.ascontiguousarray(self.position - around), np.ascontiguousarray(self.position + around)
        )
        pairs = pairs[~world.fixed[pairs].all(axis=1)]
        parts = [(self._pair_rows(pairs, self.position, self.orientation), world.laws_of(pairs)[:, 0], pairs)]
        for i in range(len(world.containers)):
            rows = self._container_rows(i, self.position, self.orientation)
            body = np.stack([rows.a, np.full(len(rows.a), count + i)], axis=1)
            parts.append((rows, world.laws_with(i)[rows.a, 0], body))
        gap, normal, first, second = (
            np.concatenate([getattr(rows, name) for rows, _, _ in parts])
            for name in ("gap", "normal", "point_a", "point_b")
        )
        law, body = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        near = (gap < cutoff) & ~np.append(world.fixed, [True] * len(world.containers))[body].all(axis=1)
        place = np.concatenate([self.position, np.zeros((len(world.containers), 3))])
        arm = np.stack([first, second], axis=1) - place[body]
        return gap[near], frames(normal[near]), arm[near], body[near].astype(np.int64), np.ascontiguousarray(law[near])

    def _pair_rows(self, pairs: Indices, position: Array, orientation: Array) -> Any:
        return ellipsoid_proximities(self.world.semi_axes, position, orientation, pairs)

    def _container_rows(self, i: int, position: Array, orientation: Array) -> Any:
        container, axes = self.world.containers[i], self.world.semi_axes
        if isinstance(container, HalfSpace):
            return half_space_proximities(axes, position, orientation, point=container.point, normal=container.normal)
        return hollow_sphere_proximities(
            axes, position, orientation, radius=container.radius, centre=container.centre
        ).near

    def _gaps_of(self, normal: Array, position: Array, orientation: Array) -> Array:
        """(C,) m, of the contacts at other poses; of several in a hollow sphere each has that of its normal."""
        count, body = len(position), self.body
        gap = np.empty(len(body))
        of_pair = body[:, 1] < count
        gap[of_pair] = self._pair_rows(body[of_pair], position, orientation).gap
        for i in range(len(self.world.containers)):
            rows = self._container_rows(i, position, orientation)
            for k in np.flatnonzero(body[:, 1] == count + i):
                own = np.flatnonzero(rows.a == body[k, 0])
                gap[k] = rows.gap[own[np.argmax(rows.normal[own] @ normal[k])]]
        return gap


def jacobian(frame: Array, arm: Array, body: Indices, bodies: int, turning: bool) -> sparse.csr_array:
    """(3 C, 6 B): speeds of contacts along their frames; without `turning` tangents know no spin."""
    turn = np.cross(arm[:, :, None], frame[:, None])  # (C, 2, 3, 3): r x e
    if not turning:
        turn[:, :, 1:] = 0.0
    blocks = np.concatenate([np.broadcast_to(frame[:, None], turn.shape), turn], axis=3)
    blocks = blocks * np.array([-1.0, 1.0])[:, None, None]
    rows = np.broadcast_to(3 * np.arange(len(body))[:, None, None, None] + np.arange(3)[:, None], blocks.shape)
    columns = np.broadcast_to(6 * body[:, :, None, None] + np.arange(6), blocks.shape)
    moves = columns < 6 * bodies
    made = sparse.coo_array((blocks[moves], (rows[moves], columns[moves])), shape=(3 * len(body), 6 * bodies))
    return made.tocsr()


def frames(normal: Array) -> Array:
    """(C, 3, 3) normal and two tangents as rows."""
    least = np.eye(3)[np.argmin(np.abs(normal), axis=1)]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([normal, first, np.cross(normal, first)], axis=1)


def rigid_mobility(world: EllipsoidWorld, orientation: Array) -> sparse.csr_array:
    """(6 B, 6 B): 1/m and R I^-1 R^T of each body."""
    w, x, y, z = orientation.T
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    blocks = np.zeros((len(world.mass), 6, 6))
    blocks[:, (0, 1, 2), (0, 1, 2)] = 1.0 / world.mass[:, None]
    blocks[:, 3:, 3:] = np.einsum("ikb,bk,jkb->bij", R, 1.0 / world.inertia, R)
    return sparse.block_diag(list(blocks), format="csr")


def moved(position: Array, orientation: Array, twist: Array, h: float) -> tuple[Array, Array]:
    new = Rotation.from_rotvec(h * twist[:, 3:]) * Rotation.from_quat(np.roll(orientation, -1, axis=1))
    return position + h * twist[:, :3], np.ascontiguousarray(np.roll(new.as_quat(), 1, axis=1))
