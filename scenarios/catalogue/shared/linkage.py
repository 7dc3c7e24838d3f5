"""The exact motion of a plane linkage with one degree of freedom.

Points are sums of arrows that turn, in complex numbers: z = z_0 + sum_j v_j exp(i phi_j). Loops that close say that
real parts of such sums stay, which gives all angles along the first one, phi_j' = K_j phi_1':

    Re sum_j i w_j exp(i phi_j) K_j = 0,    Re sum_j (i K_j' - K_j^2) w_j exp(i phi_j) = 0,    K_1 = 1

and d'Alembert's principle along it the acceleration. Source: Haug 1989, "Computer Aided Kinematics and Dynamics of
Mechanical Systems", ch. 3 (loop closure).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.dense import mul, solve
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.poses import poses_in_plane
from scenarios.catalogue.shared.readings import coordinate_at
from scenarios.scenario import Scenario
from scenarios.scene import Scene
from scenarios.truth import Goal

Complex = NDArray[np.complex128]
NO_ANGLE = -1
GOAL_TIME = 1.5  # s


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linkage:
    """n angles, n - 1 loops, B bodies. Lengths in m, kg, kg m^2."""

    loops: Complex  # (n - 1, n) w: real parts that stay
    arrows: Complex  # (B, n) v: of the centres of mass
    offsets: Complex  # (B,) z_0
    turning: tuple[int, ...]  # (B,) which angle the body turns with, or NO_ANGLE
    masses: Array  # (B,)
    inertias: Array  # (B,)
    gravity: float = 0.0  # m/s^2, down
    torque: float = 0.0  # N m, along the first angle
    spring: Complex | None = None  # (n + 1,) arrows from end to end, the last one still
    stiffness: float = 0.0  # N/m
    rest_length: float = 0.0  # m

    def centres(self, angles: Array) -> Array:
        """(S, B, 3) poses, of angles (n, S)."""
        at = self.offsets[:, None] + mul(self.arrows, turns(angles))
        turned = np.array([angles[k] if k != NO_ANGLE else np.zeros(angles.shape[1]) for k in self.turning])
        return np.stack([at.real, at.imag, turned], axis=-1).transpose(1, 0, 2)

    def along(self, angles: Array) -> tuple[Array, Array]:
        """K and K' (n, N), of angles (n, N)."""
        e = turns(angles)
        G = -np.einsum("kj,jn->nkj", self.loops, e).imag  # Re of i w e
        K = np.ones_like(angles)
        K[1:] = solve(G[:, :, 1:], -G[:, :, :1])[..., 0].T
        curved = np.real(mul(self.loops, squared(K) * e)).T[..., None]
        K2 = np.zeros_like(angles)
        K2[1:] = solve(G[:, :, 1:], curved)[..., 0].T
        return K, K2

    def starts(self, angles: Array, speed: float) -> list[dict[str, Any]]:
        """What `bodies.in_plane` asks of each body: pose and twist at angles (n,) where the first turns at `speed`."""
        K = self.along(angles[:, None])[0][:, 0]
        v = mul(self.arrows, (1j * elementary.cos(angles) - elementary.sin(angles)) * K * speed)
        spin = [float(K[k] * speed) if k != NO_ANGLE else 0.0 for k in self.turning]
        return [
            {"x": x, "y": y, "angle": angle, "velocity": (u.real, u.imag), "spin": w, "mass": m, "group": 1}
            for (x, y, angle), u, w, m in zip(
                self.centres(angles[:, None])[0].tolist(), v.tolist(), spin, self.masses.tolist()
            )
        ]

    def acceleration(self, angles: Array, speed: Array, K: Array, K2: Array) -> Array:
        """(N,) of the first angle, d'Alembert's principle along it; angles (n, N), K and K' there."""
        e = turns(angles)
        first, second = mul(self.arrows, 1j * K * e), mul(self.arrows, 1j * K2 * e - squared(K) * e)
        m, about = self.masses[:, None], self.inertias[:, None]
        turn = [(K[k], K2[k]) if k != NO_ANGLE else (0.0 * speed, 0.0 * speed) for k in self.turning]
        k1, k2 = (np.array(part) for part in zip(*turn))
        inertia = (m * size(first) + about * squared(k1)).sum(axis=0)
        bent = (m * product_along(first, second) + about * k1 * k2).sum(axis=0)
        force = self.torque - self.gravity * (m * first.imag).sum(axis=0)
        if self.spring is not None:
            extent = mul(self.spring[:-1], e) + self.spring[-1]
            length = np.sqrt(size(extent))
            stretching = product_along(extent, mul(self.spring[:-1], 1j * K * e)) / length
            force = force - self.stiffness * (length - self.rest_length) * stretching
        acceleration: Array = (force - bent * squared(speed)) / inertia
        return acceleration

    def motion(self, angles: Array, speed: float, duration: float, *, window: float) -> DenseSolution:
        """(angles, speed of the first) from these, which close the loops."""

        def rate(time: Array, y: Array) -> Array:
            K, K2 = self.along(y[:-1])
            return np.vstack([K * y[-1], self.acceleration(y[:-1], y[-1], K, K2)[None]])

        return DenseSolution(rate, np.append(angles, speed), 0.0, duration, window=window)


def linkage_scenario(
    scene: Scene, linkage: Linkage, exact: DenseSolution, *, arm: float, probes: str, goal: tuple[str, int, int]
) -> Scenario:
    """Of a linkage that moves so. goal: its name, the body whose centre is asked for, and along x (0) or up (-1)."""
    name, body, axis = goal

    def poses(time: Array) -> Array:
        return linkage.centres(exact(time)[:-1])

    def at_goal() -> float:
        return float(poses(np.array([GOAL_TIME]))[0, body, axis % 2])

    return joint_scenario(
        scene,
        arm=arm,
        probes=probes,
        kind="exact ODE",
        source="the linkage's one equation, by loop closure and d'Alembert's principle, in Chebyshev series",
        error=1e-11,
        pose=poses_in_plane(scene, poses),
        goal=Goal(name=name, unit="m", exact=at_goal, measure=coordinate_at(GOAL_TIME, body, axis)),
        headline="energy_drift",
    )


def turns(angles: Array) -> Complex:
    """exp(i phi)."""
    sine, cosine = elementary.sine_cosine(angles)
    return np.asarray(cosine + 1j * sine)


# numpy multiplies complex numbers by other code on other processors.
def size(z: Complex) -> Array:
    """|z|^2."""
    return squared(z.real) + squared(z.imag)


def product_along(a: Complex, b: Complex) -> Array:
    """The real part of a* b."""
    return np.asarray(a.real * b.real + a.imag * b.imag)
