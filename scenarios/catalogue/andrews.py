"""Andrews' squeezing mechanism: seven bodies, ten pins and a spring, driven by a constant torque on the crank.

Of its three loops each closes at F, where the bodies K2, K3, K4 and K6 meet. What is published of it are its data and
its seven angles at 0.03 s (Schiehlen 1990, "Multibody Systems Handbook"; Hairer & Wanner 1996, "Solving Ordinary
Differential Equations" II, VII.7; Mazzia & Magherini 2008, "Test Set for Initial Value Problem Solvers").
"""

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import Array
from scenarios.catalogue.shared.chebyshev import DenseSolution
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.catalogue.shared.linkage import Complex, Linkage
from scenarios.scenario import Family, Scenario
from scenarios.scene import PlanarBody, PlanarScene, Polygon, Revolute, Spring, Thruster
from scenarios.truth import Goal, Motion

DURATION = 0.03  # s
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg, of K1 to K7
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2
A, B, C = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j  # m, the points that stay
D, DA, E, EA, ZF, FA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.02, 0.01421, 0.007, 0.00092  # m
SS, SA, SB, SC, SD, TA, TB, U, UA, UB, ZT = (
    0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.04,
)  # fmt: skip
STIFFNESS, REST_LENGTH, TORQUE = 4530.0, 0.07785, 0.033  # N/m, m, N m
BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON = START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885884, 0.487364979543842550,
    -0.222668390165885884, 1.230547444549821192,
)  # fmt: skip
SCALES = {"published": (1.0, 1.0, 1.0), "bench": (10.0, 100.0, 100.0)}
"""Lengths, times and masses, in those of the source: similar motions, with the same angles."""
THICKNESS = 0.004  # m, as published; for the eye

Scale = Literal["bench", "published"]


def linkage() -> Linkage:
    """The angles are those of the bodies K1 to K7 themselves."""

    def of(*parts: tuple[int, complex]) -> Complex:
        arrows = np.zeros(7, np.complex128)
        for body, arrow in parts:
            arrows[body - 1] += arrow
        return arrows

    along_k1 = (1, RR)
    # F by way of the crank, less F by way of each of the other three.
    by_crank = of(along_k1, (2, -D))
    ways = (of((3, -1j * SS)), of((5, ZT), (4, -1j * E)), of((7, -1j * U), (6, ZF)))
    loops = np.array([w for way in ways for w in (by_crank - way, -1j * (by_crank - way))])
    arrows = np.array(
        [
            of((1, RA)), of(along_k1, (2, -DA)), of((3, SB - 1j * SA)), of((5, ZT), (4, -1j * (E - EA))),
            of((5, TA + 1j * TB)), of((7, -1j * U), (6, ZF - FA)), of((7, -UB - 1j * UA)),
        ]
    )  # fmt: skip
    at_d = of((3, SD - 1j * SC))
    return Linkage(
        loops=loops, arrows=arrows, offsets=np.array([0.0, 0.0, B, A, A, A, A]), turning=tuple(range(7)),
        masses=np.array(MASSES), inertias=np.array(INERTIAS), torque=TORQUE, spring=np.append(at_d, B - C),
        stiffness=STIFFNESS, rest_length=REST_LENGTH,
    )  # fmt: skip


ANDREWS = linkage()


def turned(angles: Array) -> Array:
    """(7, ...) angles of the bodies, of the source's, some of which are against one another."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    return np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])


@lru_cache(maxsize=1)
def motion() -> DenseSolution:
    return ANDREWS.motion(turned(np.array(START)), 0.0, DURATION, window=1e-3)


def andrews(*, scale: Scale = "bench") -> Scenario:
    """Andrews' squeezing mechanism: seven bodies, a spring, a torque; as published, or larger and 100 times slower"""
    length, slower, heavier = SCALES[scale]
    exact, duration = motion(), DURATION * slower
    angles = turned(np.array(START))

    def poses(time: Array) -> Array:
        found = ANDREWS.centres(exact(np.minimum(time / slower, DURATION))[:7])
        return found * np.array([length, length, 1.0])

    centres = ANDREWS.centres(angles[:, None])[0] * np.array([length, length, 1.0])
    # Points of the bodies that pins hold, seen from their centres, in metres of the source.
    pins = {
        "crank": (1, -RA, None, 0.0),
        "crank to K2": (1, RR - RA, 2, DA),
        "F K2 to K3": (2, DA - D, 3, -SB + 1j * (SA - SS)),
        "F K2 to K4": (2, DA - D, 4, -1j * EA),
        "F K2 to K6": (2, DA - D, 6, FA),
        "B": (3, -SB + 1j * SA, None, B),
        "E": (4, 1j * (E - EA), 5, ZT - TA - 1j * TB),
        "G": (6, FA - ZF, 7, UB + 1j * (UA - U)),
        "A K5": (5, -TA - 1j * TB, None, A),
        "A K7": (7, UB + 1j * UA, None, A),
    }

    def point(z: complex) -> tuple[float, float]:
        return float(length * z.real), float(length * z.imag)

    pin_points: dict[int, list[tuple[float, float]]] = {k: [] for k in range(1, 8)}
    joints = []
    for name, (a, on_a, b, on_b) in pins.items():
        pin_points[a].append(point(on_a))
        if b is not None:
            pin_points[b].append(point(on_b))
        joints.append(
            Revolute(name=name, a=f"K{a}", b=None if b is None else f"K{b}", anchor_a=point(on_a), anchor_b=point(on_b))
        )
    force = heavier * length / squared(slower)  # N of the source
    bodies = tuple(
        PlanarBody(
            name=f"K{k}", shape=bar(pin_points[k], THICKNESS * length), mass=MASSES[k - 1] * heavier, group=1,
            inertia=INERTIAS[k - 1] * heavier * squared(length), position=(float(x), float(y)), angle=float(angle),
        )
        for k, (x, y, angle) in enumerate(centres, 1)
    )  # fmt: skip
    arm = RR * length
    half = 0.5 * TORQUE * force * length / arm
    scene = PlanarScene(
        title=f"Andrews' squeezing mechanism, {scale}",
        gravity=(0.0, 0.0),
        duration=duration,
        bodies=bodies,
        joints=tuple(joints),
        springs=(
            Spring(a="K3", anchor_a=point(SD - SB + 1j * (SA - SC)), anchor_b=point(C),
                   stiffness=STIFFNESS * force / length, rest_length=REST_LENGTH * length),
        ),
        thrusters=(  # a couple
            Thruster(body="K1", anchor=(arm, 0.0), force=(0.0, half)),
            Thruster(body="K1", anchor=(-arm, 0.0), force=(0.0, -half)),
        ),
    )  # fmt: skip

    def end() -> float:
        return float(exact(np.array([DURATION]))[0, 0])

    def crank(seen: Motion) -> float:
        """Where no sample is at the end, as far off there as at the last one."""
        if len(seen.time) < 2 or seen.time[-1] + np.diff(seen.time).max() <= duration:
            return math.nan
        return end() + float(seen.angle[-1, 0] - poses(seen.time[-1:])[0, 0, 2])

    return joint_scenario(
        scene,
        arm=RR * length,
        invariants=frozenset(),
        probes="many joints that close three loops, a stiff spring, a crank that turns faster and faster",
        kind="exact ODE",
        source="one equation along the crank, by loop closure, in Chebyshev series",
        error=1e-11,
        pose=poses,
        goal=Goal(name="angle of the crank at the end", unit="rad", exact=end, measure=crank),
        laws={"joint_gap": 0.5 * RR * length},
    )


def bar(points: list[tuple[float, float]], width: float) -> Polygon:
    """A rectangle about the points that pins hold and the centre of mass: something to see."""
    x, y = np.array([*points, (0.0, 0.0)]).T
    a, b, c, d = (float(v) for v in (x.min(), x.max(), y.min(), y.max()))
    return Polygon(
        vertices=((a - width, c - width), (b + width, c - width), (b + width, d + width), (a - width, d + width))
    )


FAMILY = Family("andrews", andrews, subject="the squeezing mechanism")
