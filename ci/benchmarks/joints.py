"""Solved mechanisms, solved again by every way of keeping their joints closed.

    python -P ci/benchmarks/joints.py [DIR]

DIR [data/joints beside this file] holds JSON files, each with `mechanism`, `inputs` and what is known of its motion:

    pendulums   inputs: m and L of each, g, y0 (angles, then spins, from straight down towards x), rods (uniform slender
                ones; else points on massless rods)
    andrews     Andrews' squeezing mechanism with its published data: no inputs

    t           times, s
    y           at each of them a row of `columns` (th1, ..., w1, ..., x1, ..., y1, ...; beta ... epsilon of Andrews')
    period      of one pendulum let go at rest, s

Prints hit or miss with the greatest difference, each number's by its own size if that is above 1. Limits: periods
1e-10 s, states 1e-9, Andrews' angles 1e-8, joint gaps 1e-10 m, energy drift 1e-8 of its scale; ten times a file's own
`self_convergence_per_t` where that is more, up to 1e-6. Exits 1 on a miss, which what cannot be read, solved or
compared is too; 2 where there is nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2])]
from recorded_cases import Case, CaseError, Compared, Part, compare, numbers, section, short, solve_folder

from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.motion import MechanismMotion
from reference_engine.multibody.simulate import simulate_mechanism
from tests.reference_engine.multibody.classics import ANGLES, andrews_angles, andrews_mechanism, pendulum_chain

Array = NDArray[np.float64]
OWN = Path(__file__).parent / "data" / "joints"
WAYS = ("accelerations", "impulses")
PERIOD, GAP, DRIFT = 1e-10, 1e-10, 1e-8
OWN_WIDEST = 1e-6


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A mechanism of a file; `read` gives a column (S,) by its name."""

    mechanism: Mechanism
    read: Callable[[MechanismMotion, str], Array]
    limit: float


def recorded(data: Case) -> Recorded:
    kind = data.get("mechanism")
    if kind not in KINDS:
        raise CaseError(f"mechanism: {short(kind)}; allowed: {', '.join(KINDS)}")
    return KINDS[kind](data)


def pendulums(data: Case) -> Recorded:
    inputs = section(data, "inputs")
    L, m, y0 = (np.atleast_1d(numbers(inputs, key)) for key in ("L", "m", "y0"))
    n, rods = len(L), bool(inputs.get("rods", False))
    if len(m) != n or len(y0) != 2 * n:
        raise CaseError(f"inputs: {n} lengths, {len(m)} masses, {len(y0)} numbers in y0; allowed: n, n, 2 n")
    angles, spins = np.split(y0, 2)
    gravity = float(numbers(inputs, "g", ()))
    mechanism = pendulum_chain(m.tolist(), L.tolist(), angles.tolist(), spins.tolist(), rods=rods, gravity=gravity)

    def read(motion: MechanismMotion, column: str) -> Array:
        found = re.fullmatch(r"(th|w|x|y)([1-9]\d*)", column)
        if not found or int(found[2]) > n:
            raise CaseError(f"columns: {column!r}; allowed: th, w, x, y with a number from 1 to {n}")
        kind, i = found[1], int(found[2]) - 1
        if kind in "xy":
            return motion.position[:, i, "xy".index(kind)]
        if rods:
            return (motion.orientation if kind == "th" else motion.spin)[:, i]
        d, rate = (part[:, i] - (part[:, i - 1] if i else 0.0) for part in (motion.position, motion.velocity))
        if kind == "th":
            return np.arctan2(d[:, 0], -d[:, 1])
        return (d[:, 0] * rate[:, 1] - d[:, 1] * rate[:, 0]) / L[i] ** 2

    return Recorded(mechanism=mechanism, read=read, limit=1e-9)


def andrews(data: Case) -> Recorded:
    def read(motion: MechanismMotion, column: str) -> Array:
        if column not in ANGLES:
            raise CaseError(f"columns: {column!r}; allowed: {', '.join(ANGLES)}")
        return andrews_angles(motion.orientation)[:, ANGLES.index(column)]

    return Recorded(mechanism=andrews_mechanism(), read=read, limit=1e-8)


KINDS: dict[str, Callable[[Case], Recorded]] = {"pendulums": pendulums, "andrews": andrews}


# --- comparing ----------------------------------------------------------------------------------------------


def solve(data: Case, case: Recorded, way: str) -> Iterator[Compared]:
    if "period" in data:
        yield compare("period", data["period"], period_near(data, case, way), 1.0, PERIOD)
    if "t" in data:
        yield from states(data, case, way)


def period_near(data: Case, case: Recorded, way: str) -> float:
    """s: let go at rest, a pendulum is at its lowest point after a quarter of its period; it is so long from there."""
    given = float(numbers(data, "period", (), within=""))
    motion = simulate_mechanism(case.mechanism, [0.25 * given], hold=way)
    return given - 4.0 * float(case.read(motion, "th1")[0] / case.read(motion, "w1")[0])


def states(data: Case, case: Recorded, way: str) -> Iterator[Compared]:
    times, columns = numbers(data, "t", within=""), data.get("columns", [])
    motion = simulate_mechanism(case.mechanism, np.concatenate([[0.0], times]), hold=way)
    have = np.array([case.read(motion, column)[1:] for column in columns]).T
    own = np.nan_to_num(np.broadcast_to(data.get("self_convergence_per_t", 0.0), times.shape), nan=0.0)
    limits = np.maximum(case.limit, np.minimum(OWN_WIDEST, 10.0 * own))
    scale = np.maximum(1.0, np.abs(have)) * limits[:, None] / limits.min()  # each time counts by its own limit
    yield compare("y", data.get("y"), have, scale, float(limits.min()))
    yield from kept(case, motion)


def kept(case: Recorded, motion: MechanismMotion) -> Iterator[Compared]:
    """What joints and energy must keep, whatever a file knows."""
    yield Compared("joint gap", float(motion.joint_gap.max()), GAP)
    if not case.mechanism.torques:
        drift = float(np.abs(motion.energy - motion.energy[0]).max())
        yield Compared("energy drift", drift / energy_scale(case.mechanism, motion), DRIFT)


def energy_scale(mechanism: Mechanism, motion: MechanismMotion) -> float:
    """J: half of sum m v^2 at its greatest, with rotation, and m g times the heights that were passed."""
    mass = np.array([link.mass for link in mechanism.links])
    inertia = np.array([np.max(link.inertia) for link in mechanism.links], np.float64)
    kinetic = 0.5 * (mass * (motion.velocity**2).sum(axis=2) + inertia * motion.spin**2).sum(axis=1).max()
    g = float(np.linalg.norm(np.asarray(mechanism.gravity, np.float64)))
    return float(kinetic + g * (mass * np.ptp(motion.position[:, :, -1], axis=0)).sum()) or 1.0


def parts(data: Case) -> dict[str, Part]:
    case = recorded(data)
    return {way: partial(solve, data, case, way) for way in WAYS}


def main(arguments: list[str]) -> int:
    return solve_folder(arguments, __doc__.split("\n\n")[1].strip(), parts, OWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
