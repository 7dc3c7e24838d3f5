"""Mechanisms that are known well enough to be checked against: chains of pendulums, slider-crank, four-bar, Andrews'.

Planar; x to the right, y up. Angles of pendulums are from straight down, counter-clockwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from reference_engine import elementary
from reference_engine.dense import mul, solve
from reference_engine.elementary import squared
from reference_engine.errors import MechanismError
from reference_engine.multibody.joints import Coupling, Distance, Joint, revolute, slider
from reference_engine.multibody.links import GROUND, Link
from reference_engine.multibody.mechanism import LinkSpring, LinkTorque, Mechanism, MechanismMotion

Array = NDArray[np.float64]


def mechanism_at(mechanism: Mechanism, motion: MechanismMotion, sample: int) -> Mechanism:
    """The mechanism as it is at a sample of its motion, to go on from there; its time begins anew at 0."""
    links = tuple(
        replace(
            link,
            position=motion.position[sample, i],
            orientation=motion.orientation[sample, i],
            velocity=motion.velocity[sample, i],
            spin=motion.spin[sample, i],
        )
        for i, link in enumerate(mechanism.links)
    )
    return replace(mechanism, links=links)


def pendulum_chain(
    masses: Sequence[float],
    lengths: Sequence[float],
    angles: Sequence[float],
    spins: Sequence[float] | None = None,
    *,
    rods: bool = True,
    gravity: float = 9.81,
    spatial: bool = False,
) -> Mechanism:
    """N pendulums, each hung on the end of the one above: uniform slender rods, or points on massless rods.

    Angles [rad] and spins [rad/s] are each from the vertical. `spatial`: in the x-z plane of space, with hinges about
    -y, whose five rows each are three more than the motion needs; rods are then as thick as they turn alike about
    their axes, which does not show in the plane.
    """
    n = len(masses)
    spins = [0.0] * n if spins is None else spins
    if not (n and len(lengths) == len(angles) == len(spins) == n):
        raise MechanismError(
            f"chain: {n} masses, {len(lengths)} lengths, {len(angles)} angles, {len(spins)} spins; alike"
        )
    links: list[Link] = []
    joints: list[Joint] = []
    point, speed = np.zeros(2), np.zeros(2)
    share = 0.5 if rods else 1.0
    for i, (m, L, angle, spin) in enumerate(zip(masses, lengths, angles, spins)):
        along, aside = (
            np.array([elementary.sin(angle), -elementary.cos(angle)]),
            np.array([elementary.cos(angle), elementary.sin(angle)]),
        )
        links.append(
            _link(point + share * L * along, speed + share * L * spin * aside, angle, spin if rods else 0.0,
                  m, m * L * L / 12.0 if rods else 0.0, spatial=spatial)
        )  # fmt: skip
        end, top = (0.0, -0.5 * lengths[i - 1]) if i else (0.0, 0.0), (0.0, 0.5 * L)
        if not rods:
            joints.append(Distance(first=i - 1, second=i, length=L))
        elif spatial:
            joints.append(
                Coupling(first=i - 1, second=i, linear=0, angular=1, axis=(0.0, -1.0, 0.0),
                         first_point=(end[0], 0.0, end[1]), second_point=(top[0], 0.0, top[1]))
            )  # fmt: skip
        else:
            joints.append(revolute(i - 1, i, first_point=end, second_point=top))
        point, speed = point + L * along, speed + L * spin * aside
    down = (0.0, 0.0, -gravity) if spatial else (0.0, -gravity)
    return Mechanism(links=tuple(links), joints=tuple(joints), gravity=down)


def _link(at: Array, velocity: Array, angle: float, spin: float, mass: float, inertia: float, *, spatial: bool) -> Link:
    if not spatial:
        return Link(position=at, velocity=velocity, orientation=angle, spin=spin, mass=mass, inertia=inertia)
    return Link(
        position=(at[0], 0.0, at[1]), velocity=(velocity[0], 0.0, velocity[1]), spin=(0.0, -spin, 0.0),
        orientation=(elementary.cos(0.5 * angle), 0.0, -elementary.sin(0.5 * angle), 0.0),
        mass=mass, inertia=(inertia,) * 3,
    )  # fmt: skip


def slider_crank(
    crank: float, rod: float, *, masses: Sequence[float], angle: float, spin: float, gravity: float = 9.81
) -> Mechanism:
    """A crank that turns about the origin, a rod, and a block that slides along the x axis. Uniform slender rods.

    masses: of crank, rod, block [kg]; angle of the crank from the x axis [rad]; its spin [rad/s]. The rod is longer
    than the crank.
    """
    if not rod > crank > 0.0 or len(masses) != 3:
        raise MechanismError(
            f"slider_crank: crank {crank} m, rod {rod} m, {len(masses)} masses; rod > crank > 0, three"
        )
    c, s = elementary.cos(angle), elementary.sin(angle)
    lean = elementary.asin(-crank * s / rod)  # of the rod from the x axis: it ends on the axis
    lean_rate = -crank * c * spin / (rod * elementary.cos(lean))
    pin, pin_rate = crank * np.array([c, s]), crank * spin * np.array([-s, c])
    along, aside = (
        np.array([elementary.cos(lean), elementary.sin(lean)]),
        np.array([-elementary.sin(lean), elementary.cos(lean)]),
    )
    lengths = (crank, rod)
    links = (
        Link(position=0.5 * pin, velocity=0.5 * pin_rate, orientation=angle, spin=spin, mass=masses[0],
             inertia=masses[0] * squared(crank) / 12.0, name="crank"),
        Link(position=pin + 0.5 * rod * along, velocity=pin_rate + 0.5 * rod * lean_rate * aside, orientation=lean,
             spin=lean_rate, mass=masses[1], inertia=masses[1] * squared(rod) / 12.0, name="rod"),
        Link(position=pin + rod * along, velocity=pin_rate + rod * lean_rate * aside, mass=masses[2],
             inertia=masses[2] * squared(crank), name="block"),
    )  # fmt: skip
    half = [(0.5 * L, 0.0) for L in lengths]
    back = [(-0.5 * L, 0.0) for L in lengths]
    joints = (
        revolute(GROUND, 0, second_point=back[0]),
        revolute(0, 1, first_point=half[0], second_point=back[1]),
        revolute(1, 2, first_point=half[1]),
        slider(GROUND, 2, (1.0, 0.0)),
    )
    return Mechanism(links=links, joints=joints, gravity=(0.0, -gravity))


def four_bar(
    lengths: Sequence[float],
    *,
    masses: Sequence[float],
    angle: float,
    spin: float,
    gravity: float = 9.81,
    crossed: bool = False,
    spatial: bool = False,
) -> Mechanism:
    """Crank, coupler and rocker of uniform slender rods on a ground of the fourth length, from the origin along x.

    lengths: crank, coupler, rocker, ground [m]; angle of the crank from the x axis [rad]. `crossed` takes the other way
    of putting it together. `spatial`: in the x-z plane of space with four hinges about -y: 20 rows on 18 numbers, of
    which 17 are independent.
    """
    a, b, c, d = lengths
    pin = a * np.array([elementary.cos(angle), elementary.sin(angle)])
    ground = np.array([d, 0.0])
    span = ground - pin
    far = float(elementary.hypot(*span))
    if not abs(b - c) < far < b + c:
        raise MechanismError(f"four_bar: coupler {b} m and rocker {c} m do not meet over {far:.6g} m at angle {angle}")
    open_ = elementary.acos((squared(far) + squared(b) - squared(c)) / (2.0 * far * b)) * (-1.0 if crossed else 1.0)
    lean = elementary.atan2(span[1], span[0]) + open_
    joint = pin + b * np.array([elementary.cos(lean), elementary.sin(lean)])
    rock = elementary.atan2(joint[1] - ground[1], joint[0] - ground[0])
    turn = [np.array([-elementary.sin(t), elementary.cos(t)]) for t in (angle, lean, rock)]
    # a angle' t_a + b lean' t_b = c rock' t_c
    lean_rate, rock_rate = solve(np.column_stack([b * turn[1], -c * turn[2]]), -a * spin * turn[0])
    rods = ((np.zeros(2), a, angle, spin, np.zeros(2)), (pin, b, lean, lean_rate, a * spin * turn[0]),
            (ground, c, rock, rock_rate, np.zeros(2)))  # fmt: skip
    links = []
    for (start, length, tilt, rate, speed), mass, aside in zip(rods, masses, turn):
        middle = start + 0.5 * length * np.array([elementary.cos(tilt), elementary.sin(tilt)])
        velocity = speed + 0.5 * length * rate * aside
        links.append(_link(middle, velocity, tilt, float(rate), mass, mass * squared(length) / 12.0, spatial=spatial))
    pairs = ((GROUND, 0, (0.0, 0.0), (-0.5 * a, 0.0)), (0, 1, (0.5 * a, 0.0), (-0.5 * b, 0.0)),
             (1, 2, (0.5 * b, 0.0), (0.5 * c, 0.0)), (GROUND, 2, (d, 0.0), (-0.5 * c, 0.0)))  # fmt: skip
    joints: list[Joint] = []
    for first, second, on_first, on_second in pairs:
        if spatial:
            joints.append(
                Coupling(first=first, second=second, linear=0, angular=1, axis=(0.0, -1.0, 0.0),
                         first_point=(on_first[0], 0.0, on_first[1]), second_point=(on_second[0], 0.0, on_second[1]))
            )  # fmt: skip
        else:
            joints.append(revolute(first, second, first_point=on_first, second_point=on_second))
    down = (0.0, 0.0, -gravity) if spatial else (0.0, -gravity)
    return Mechanism(links=tuple(links), joints=tuple(joints), gravity=down)


def n_four_bar(
    windows: int, *, length: float = 1.0, mass: float = 1.0, angle: float = 0.5 * math.pi, speed: float = 1.0,
    gravity: float = 9.81,
) -> Mechanism:  # fmt: skip
    """A row of parallelograms: N + 1 cranks on the ground, N couplers; uniform slender bars, all alike.

    angle of the cranks from the x axis [rad]; speed of their ends [m/s], positive towards x where they stand upright.
    Links 0 ... N are the cranks, N + 1 ... 2 N the couplers. When they lie flat each window could turn over by itself.
    Problem A02 of the IFToMM benchmarks (Gonzalez, Dopico, Lugris & Cuadrado 2006, Multibody System Dynamics 16).
    """
    if windows < 1 or not (length > 0.0 and mass > 0.0):
        raise MechanismError(f"n_four_bar: {windows} windows, bars of {length} m and {mass} kg; at least 1, positive")
    spin, inertia = -speed / length, mass * squared(length) / 12.0
    along, aside = (
        np.array([elementary.cos(angle), elementary.sin(angle)]),
        np.array([-elementary.sin(angle), elementary.cos(angle)]),
    )
    foot = [np.array([i * length, 0.0]) for i in range(windows + 1)]
    half = (0.5 * length, 0.0)
    back = (-0.5 * length, 0.0)
    cranks = [
        Link(position=p + 0.5 * length * along, velocity=0.5 * length * spin * aside, orientation=angle, spin=spin,
             mass=mass, inertia=inertia) for p in foot
    ]  # fmt: skip
    couplers = [
        Link(position=p + length * along + np.array(half), velocity=length * spin * aside, mass=mass, inertia=inertia)
        for p in foot[:-1]
    ]
    joints = [revolute(GROUND, i, first_point=p, second_point=back) for i, p in enumerate(foot)]
    for i in range(windows):
        joints.append(revolute(i, windows + 1 + i, first_point=half, second_point=back))
        joints.append(revolute(windows + 1 + i, i + 1, first_point=half, second_point=half))
    return Mechanism(links=(*cranks, *couplers), joints=tuple(joints), gravity=(0.0, -gravity))


ANDREWS = MappingProxyType(
    {
        "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.07050, "m6": 0.00706, "m7": 0.05498,
        "I1": 2.194e-6, "I2": 4.410e-7, "I3": 5.255e-6, "I4": 5.667e-7, "I5": 1.169e-5, "I6": 5.667e-7, "I7": 1.912e-5,
        "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530.0,
        "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "zf": 0.02, "fa": 0.01421, "rr": 0.007, "ra": 0.00092,
        "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916,
        "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zt": 0.04, "l0": 0.07785, "mom": 0.033,
        "beta": -0.0617138900142764496358948458001, "Theta": 0.0, "gamma": 0.455279819163070380255912382449,
        "Phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
        "Omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
    }
)  # fmt: skip
"""Data and start of Andrews' squeezing mechanism (Schiehlen 1990, "Multibody Systems Handbook"; Hairer & Wanner 1996,
"Solving Ordinary Differential Equations" II, VII.7): m, kg m^2, N/m, N m, rad."""

ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def andrews_mechanism(**given: float) -> Mechanism:
    """Seven bodies, ten pins, a spring and a constant torque on the crank; no gravity. It starts at rest.

    `given` replaces what ANDREWS says. Link i is the source's body K(i + 1).
    """
    if unknown := sorted(set(given) - set(ANDREWS)):
        raise MechanismError(f"andrews_mechanism: {unknown[0]!r} is not of its data; known: {', '.join(ANDREWS)}")
    p = ANDREWS | given

    def along(angle: float) -> Array:
        return np.array([elementary.cos(angle), elementary.sin(angle)])

    def aside(angle: float) -> Array:
        return np.array([-elementary.sin(angle), elementary.cos(angle)])

    A, B, C = (np.array([p[f"x{k}"], p[f"y{k}"]]) for k in "abc")
    beta, gamma, delta, epsilon = p["beta"], p["gamma"], p["delta"], p["epsilon"]
    tilt = (beta, beta + p["Theta"], gamma, p["Phi"] + delta, delta, p["Omega"] + epsilon, epsilon)
    pin = p["rr"] * along(beta)
    # Each body: its centre of mass, and its angle as the source counts it. Its own x axis is along that angle.
    centre = (
        p["ra"] * along(beta),
        pin - p["da"] * along(tilt[1]),
        B - p["sa"] * aside(gamma) + p["sb"] * along(gamma),
        A + p["zt"] * along(delta) - (p["e"] - p["ea"]) * aside(tilt[3]),
        A + p["ta"] * along(delta) + p["tb"] * aside(delta),
        A - p["u"] * aside(epsilon) + (p["zf"] - p["fa"]) * along(tilt[5]),
        A - p["ua"] * aside(epsilon) - p["ub"] * along(epsilon),
    )
    links = tuple(
        Link(position=at, orientation=angle, mass=p[f"m{i}"], inertia=p[f"I{i}"], name=f"K{i}")
        for i, (at, angle) in enumerate(zip(centre, tilt), 1)
    )

    def own(body: int, point: Array) -> Array:
        """A point of the world at the start in the frame of a body."""
        at = point - centre[body]
        return np.array([mul(along(tilt[body]), at), mul(aside(tilt[body]), at)])

    F = pin - p["d"] * along(tilt[1])
    E = A + p["zt"] * along(delta)
    G = A - p["u"] * aside(epsilon)
    D = B - p["sc"] * aside(gamma) + p["sd"] * along(gamma)
    # F on each body by that body's own lengths: what they disagree by is the start's round-off.
    on_3 = B - p["ss"] * aside(gamma)
    on_4 = E - p["e"] * aside(tilt[3])
    on_6 = G + p["zf"] * along(tilt[5])
    joints = (
        revolute(GROUND, 0, second_point=own(0, np.zeros(2))),
        revolute(0, 1, first_point=own(0, pin), second_point=own(1, pin)),
        revolute(1, 2, first_point=own(1, F), second_point=own(2, on_3)),
        revolute(1, 3, first_point=own(1, F), second_point=own(3, on_4)),
        revolute(1, 5, first_point=own(1, F), second_point=own(5, on_6)),
        revolute(GROUND, 2, first_point=B, second_point=own(2, B)),
        revolute(3, 4, first_point=own(3, E), second_point=own(4, E)),
        revolute(5, 6, first_point=own(5, G), second_point=own(6, G)),
        revolute(GROUND, 4, first_point=A, second_point=own(4, A)),
        revolute(GROUND, 6, first_point=A, second_point=own(6, A)),
    )
    spring = LinkSpring(
        first=2, second=GROUND, first_point=own(2, D), second_point=C, stiffness=p["c0"], length=p["l0"]
    )
    return Mechanism(
        links=links, joints=joints, gravity=(0.0, 0.0), springs=(spring,),
        torques=(LinkTorque(link=0, torque=p["mom"]),),
    )  # fmt: skip


def andrews_angles(orientation: Array) -> Array:
    """(..., 7) beta, Theta, gamma, Phi, delta, Omega, epsilon of the links' angles (..., 7); of spins, their rates."""
    k1, k2, k3, k4, k5, k6, k7 = np.moveaxis(orientation, -1, 0)
    return np.stack([k1, k2 - k1, k3, k4 - k5, k5, k6 - k7, k7], axis=-1)
