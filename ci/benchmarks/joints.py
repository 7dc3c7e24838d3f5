"""Solved mechanisms, solved again by every way of keeping their joints closed.

    python -P ci/benchmarks/joints.py [DIR]

DIR [data/joints beside this file] holds JSON files, each with `name`, `inputs` (what a mechanism is and how it starts)
and what is known of its motion, on top or under `expected`. Kinds, known by name and inputs together:

    pendulums    L, m (or L1, m1, ...), g, `rods` or points; y0 in `order` ("th1,th2,w1,w2 from vertical"), or angles
                 and spins by name, also in degrees, or a `start` in words; physical: I, d; a falling rod or chimney
    linkages     slider-crank: m (3), r and l or L (2), y0; four-bar: m (3), L (4), y0: angle and spin of the crank,
                 from the x axis; N four-bars (IFToMM's A02): N, L, m; Andrews': nothing, or any of its data by the
                 names of Hairer and Wanner
    in space     Bricard's linkage (A04), P1 to P5, and the flyball governor (A05), z; heavy top: A, C, mgl, w3, theta0;
                 free body: I (3), w0 (3); ball in a bowl: L or R and r, k, s, e0, edot0

    period (of a top's nutation, of a height: nutation_period, z_period); t_fall, omega; t with y, a row or rows of
    states in `order`, or with angles, axis, q, w, e, B0; columns by their names (theta, omega1, x_slider);
    samples_t_theta_x_y: rows of the names in the key

Prints hit or miss with the greatest difference, each number's by its own size if that is above 1. Limits: periods
1e-10 s, states 1e-9, Andrews' angles 1e-8, joint gaps 1e-10 m, energy drift 1e-8 of its scale; ten times a file's own
`self_convergence_per_t` where that is more, up to 1e-6; and of a chaotic motion what a change of gravity by 1e-12
makes, up to 1e-5. Exits 1 on a miss, which what cannot be read, solved or compared is too; 2 where there is nothing.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2])]
from mechanism_inputs import Array, Recorded, split
from recorded_cases import Case, CaseError, Compared, Comparison, compare, finite, short, solve_folder
from recorded_mechanisms import ANGLES, recorded

from reference_engine.multibody.mechanism import Mechanism, MechanismMotion
from reference_engine.multibody.simulate import simulate_mechanism
from tests.reference_engine.multibody.classics import mechanism_at

OWN = Path(__file__).parent / "data" / "joints"
PERIOD, GAP, DRIFT = 1e-10, 1e-10, 1e-8
RATES = 1e-7  # of Andrews' rates, which are published less exactly than his angles
OWN_WIDEST, CHAOS_WIDEST = 1e-6, 1e-5
NUDGE = 1e-12  # of gravity, or of the time where there is none
NOT_COLUMNS = {"t", "times", "y", "q", "states", "y_end", "q_end", "end", "angles", "end_angles"}
MOMENTS = 200.0  # in which a period must have ended
TIMES = {"period": "swing", "T": "swing", "nutation_period": "height", "z_period": "height", "t_fall": "falls"}
ABOUT_THE_CASE = re.compile(
    r"self_conv|crosscheck|source|note|conventions|tolerance|name|inputs|rods|order|expected|kind|start|^t$|^t_end$"
)


@dataclass(frozen=True)
class Table:
    """States of a file: times (S,), values (S, C) as they stand there, limits (S,)."""

    what: str
    times: Array
    values: list[Any]
    columns: tuple[str, ...]
    limits: Array


# --- what is known of the motion --------------------------------------------------------------------------


def tables(data: Case, case: Recorded) -> Iterator[Table]:
    vectors = dict.fromkeys(("y", "states", "q", "y_end", "q_end", "end", "angles", "end_angles"), case.columns)
    vectors |= case.vectors
    inputs = data.get("inputs") or {}
    at = data.get("t", data.get("times", data.get("t_end", inputs.get("t_end", inputs.get("t")))))
    if at is None and set(ANGLES) <= set(case.columns):
        at = 0.03  # s, where Andrews' angles are published
    alone = own_columns(data, case)
    if alone and isinstance(at, list):
        rows, limits = transposed(data, alone, len(at)), limits_of(data, case, len(at))
        yield Table(", ".join(alone), seconds("t", at), rows, alone, limits)
    for key, table in data.items():
        if key in alone:
            continue
        if key.startswith("samples_t_"):
            rows = table if isinstance(table, list) else [table]
            if not rows or not all(isinstance(row, list) and row for row in rows):
                raise CaseError(f"{key}: {short(table)}; allowed: rows of a time and what is known then")
            times = seconds(key, [row[0] for row in rows])
            columns = tuple(key.removeprefix("samples_t_").split("_"))
            yield Table(key, times, [row[1:] for row in rows], columns, np.full(len(times), case.limit))
        elif key in vectors:
            columns = vectors[key]
            if isinstance(table, dict):
                columns, table = tuple(table), [list(table.values())]
            if at is None:
                raise CaseError(f"{key}: no t or t_end says when")
            times = seconds("t", at if isinstance(at, list) else [at])
            if not isinstance(table, list) or not table:
                raise CaseError(f"{key}: {short(table)}; allowed: {len(times)} rows of {', '.join(columns)}")
            rows = table if isinstance(table[0], list) else [table]
            if len(rows) != len(times):
                raise CaseError(f"{key}: {len(rows)} rows for {len(times)} times")
            limits = limits_of(data, case, len(times))
            if columns == case.columns and len(columns) == 14 and all(np.size(row) == 14 for row in rows):
                yield Table(f"{key}, rates", times, [row[7:] for row in rows], columns[7:], np.maximum(RATES, limits))
                rows, columns = [row[:7] for row in rows], columns[:7]
            yield Table(key, times, rows, columns, limits)


def own_columns(data: Case, case: Recorded) -> tuple[str, ...]:
    """Keys of the file that are columns of their own, one number for each time."""
    found = []
    for key, table in data.items():
        if isinstance(table, list) and not any(isinstance(x, list) for x in table) and key not in NOT_COLUMNS:
            try:
                case.read(simulate_mechanism(case.mechanism, [0.0], hold=case.ways[0]), key)
            except (CaseError, KeyError):
                continue
            found.append(key)
    return tuple(found)


def transposed(data: Case, columns: tuple[str, ...], count: int) -> list[Any]:
    for key in columns:
        if len(data[key]) != count:
            raise CaseError(f"{key}: {len(data[key])} numbers for {count} times")
    return [list(row) for row in zip(*(data[key] for key in columns))]


def seconds(key: str, given: Any) -> Array:
    times = finite(key, given)
    if times.ndim != 1 or (times < 0.0).any():
        raise CaseError(f"{key}: {short(given)}; allowed: times from 0 s on")
    return times


def limits_of(data: Case, case: Recorded, count: int) -> Array:
    """(S,): of each time, ten times what the file itself is sure to, if that is more."""
    try:
        own = np.atleast_1d(np.array(data.get("self_convergence_per_t", data.get("self_convergence", 0.0)), np.float64))
    except (TypeError, ValueError):
        own = np.zeros(1)
    own = np.where(np.isfinite(own) & (own > 0.0), own, 0.0)
    own = own if own.shape == (count,) else np.full(count, own.max(initial=0.0))
    return np.maximum(case.limit, np.minimum(OWN_WIDEST, 10.0 * own))


# --- comparing ----------------------------------------------------------------------------------------------


def compared(case: Recorded, way: Any, table: Table) -> Iterator[Compared]:
    wanted = [[np.nan if x is None else x for x in row] if isinstance(row, list) else [row] for row in table.values]
    columns = table.columns[: len(wanted[0])] if len(wanted[0]) < len(table.columns) else table.columns
    order = np.argsort(table.times, kind="stable")
    times = np.concatenate([[0.0], table.times[order]])
    motion = simulate_mechanism(case.mechanism, times, hold=way)
    back = np.argsort(order)
    have = np.column_stack([case.read(motion, column) for column in columns])[1:][back]
    exact, limits = compare_table(table.what, wanted, have, columns, case, table.limits)
    if not exact.hit and not exact.reason:
        later = nudge(case, times, way)
        nudged = np.column_stack([case.read(later, column) for column in columns])[1:][back]
        spread = (np.abs(nudged - have) / np.maximum(1.0, np.abs(have))).max(axis=1)
        limits = np.maximum(limits, np.minimum(CHAOS_WIDEST, spread))
        exact, _ = compare_table(table.what, wanted, have, columns, case, limits)
    yield exact
    yield from conserved(case, motion)


def compare_table(
    what: str, wanted: list[Any], have: Array, columns: tuple[str, ...], case: Recorded, limits: Array
) -> tuple[Compared, Array]:
    """The time that is furthest off by its own limit."""
    plain = compare(what, wanted, have, 1.0, float(limits.min()))
    if plain.reason:
        return plain, limits
    table = np.array(wanted, np.float64)
    if table.size == 0:
        return Compared(what, math.nan, float(limits.min()), "empty"), limits
    table = our_sense(table, columns)
    best = None
    for sense in (1.0, -1.0) if case.either_sense and "x" not in columns else (1.0,):
        d = sense * have - table
        for i, column in enumerate(columns):
            if is_angle(column) and (not case.turning or np.abs(table[:, i]).max() <= math.pi):
                d[:, i] = (d[:, i] + math.pi) % (2.0 * math.pi) - math.pi
        if columns == ("qw", "qx", "qy", "qz"):  # q and -q are one attitude
            d = np.where((np.abs(have + table) < np.abs(d)).all(axis=1)[:, None], have + table, d)
        off = (np.abs(d) / np.maximum(1.0, np.abs(table))).max(axis=1)
        k = int(np.argmax(off / limits))
        found = Compared(what, float(off[k]), float(limits[k]))
        best = found if best is None or found.difference < best.difference else best
    assert best is not None
    return best, limits


def is_angle(column: str) -> bool:
    return bool(re.fullmatch(r"(th|theta|phi|q)_?\d*", column))


def our_sense(wanted: Array, columns: tuple[str, ...]) -> Array:
    """The table with angles counted as we do, from straight down towards x, where its own x and angle say otherwise."""
    kinds = [split(c, 9)[0] if re.fullmatch(r"(th|theta|phi|w|omega|x|y)_?\d*", c) else "" for c in columns]
    if len(columns) == len(set(kinds)) and {"th", "x"} <= set(kinds):
        x, angle = (wanted[:, kinds.index(kind)] for kind in ("x", "th"))
        if float(x @ np.sin(angle)) < 0.0:
            wanted = wanted * np.array([-1.0 if kind in ("th", "w") else 1.0 for kind in kinds])
    return wanted


def nudge(case: Recorded, times: Array, way: Any) -> MechanismMotion:
    """The motion under gravity that is greater by 1e-12, or at times that are later by as much."""
    g = np.asarray(case.mechanism.gravity, np.float64)
    if not g.any():
        return simulate_mechanism(case.mechanism, times * (1.0 + NUDGE), hold=way)
    return simulate_mechanism(replace(case.mechanism, gravity=g * (1.0 + NUDGE)), times, hold=way)


def conserved(case: Recorded, motion: MechanismMotion) -> Iterator[Compared]:
    """What joints and energy must keep, whatever a file knows."""
    yield Compared("joint gap", float(motion.joint_gap.max()), GAP)
    if not case.mechanism.torques:
        drift = float(np.abs(motion.energy - motion.energy[0]).max())
        yield Compared("energy drift", drift / energy_scale(case.mechanism, motion), DRIFT)


def energy_scale(mechanism: Mechanism, motion: MechanismMotion) -> float:
    """J: half of sum m v^2 at its greatest, with rotation, and m g times the heights that were passed."""
    mass = np.array([link.mass for link in mechanism.links])
    inertia = np.array([np.max(link.inertia) for link in mechanism.links], np.float64)
    spin = motion.spin**2 if motion.spin.ndim == 2 else (motion.spin**2).sum(axis=2)
    kinetic = 0.5 * (mass * (motion.velocity**2).sum(axis=2) + inertia * spin).sum(axis=1).max()
    g = float(np.linalg.norm(np.asarray(mechanism.gravity, np.float64)))
    return float(kinetic + g * (mass * np.ptp(motion.position[:, :, -1], axis=0)).sum()) or 1.0


# --- times of the motion ------------------------------------------------------------------------------------


def passages(case: Recorded, way: Any, column: str, count: int) -> tuple[list[float], Mechanism]:
    """When a column passes 0 (of an angle its sine, downward of the pivot), and the mechanism at the last."""

    def value(motion: MechanismMotion) -> Array:
        angle = case.read(motion, column)
        return np.sin(angle) if column == case.swing else angle

    found: list[float] = []
    mechanism, begun, step = case.mechanism, 0.0, 0.25 * case.moment
    after = mechanism
    while begun < MOMENTS * case.moment:
        times = np.arange(17.0) * step
        motion = simulate_mechanism(mechanism, times, hold=way)
        f = value(motion)
        for k in np.flatnonzero((f[:-1] * f[1:] < 0.0) | ((f[1:] == 0.0) & (f[:-1] != 0.0))):
            if column == case.swing and np.cos(case.read(motion, column)[k]) < 0.0:
                continue
            here = mechanism_at(mechanism, motion, int(k))

            def ahead(t: float, here: Mechanism = here, first: float = float(f[k])) -> float:
                return first if t == 0.0 else float(value(simulate_mechanism(here, [t], hold=way))[0])

            t = float(brentq(ahead, 0.0, step * (1.0 + 1e-9), xtol=1e-14, rtol=1e-14))
            found.append(begun + float(times[k]) + t)
            after = mechanism_at(here, simulate_mechanism(here, [t], hold=way), 0)
            if len(found) == count:
                return found, after
        mechanism, begun = mechanism_at(mechanism, motion, -1), begun + float(times[-1])
    raise CaseError(f"{column} does not pass 0 {count} times in {begun:.3g} s")


def time_of(case: Recorded, way: Any, kind: str) -> tuple[float, Mechanism]:
    """s: of a swing from the lowest point and back to it, or of a turn; of a height; of a fall."""
    column = getattr(case, kind)
    if kind == "falls":
        (end,), mechanism = passages(case, way, column, 1)
        return end, mechanism
    found, mechanism = passages(case, way, column, 3)
    over = kind == "swing" and passes_over(case, way, found)
    return found[1 if over else 2] - found[0], mechanism


def passes_over(case: Recorded, way: Any, found: list[float]) -> bool:
    """Whether a pendulum turns over the top: it passes its lowest point in one sense."""
    spins = case.read(simulate_mechanism(case.mechanism, found[:2], hold=way), "w")
    return bool(spins[0] * spins[1] > 0.0)


# --- a file ---------------------------------------------------------------------------------------------------


def solve(data: Case, case: Recorded, way: Any) -> Iterator[Compared | str]:
    yield from case.notes
    used = {"omega"} if "t_fall" in data and case.falls else set()
    for name, kind in TIMES.items():
        if name in data and getattr(case, kind):
            used.add(name)
            took, mechanism = time_of(case, way, kind)
            yield compare(name, data[name], took, 1.0, PERIOD)
            if kind == "falls" and "omega" in data:
                spin = float(case.read(simulate_mechanism(mechanism, [0.0], hold=way), "w")[0])
                yield compare("omega", data["omega"], spin, max(1.0, abs(spin)), case.limit)
    for table in tables(data, case):
        used.update(table.what.split(", "))
        yield from compared(case, way, table)
    end = data.get("t_end", (data.get("inputs") or {}).get("t_end"))
    if not used and (end is not None or any(re.search("energy|drift|E0", key) for key in data)):
        times = np.linspace(0.0, 10.0 if end is None else float(seconds("t_end", [end])[0]), 41)
        yield from conserved(case, simulate_mechanism(case.mechanism, times, hold=way))
    if rest := [key for key in data if key not in used and not ABOUT_THE_CASE.search(key)]:
        yield f"not compared: {', '.join(rest)}"


def comparisons(data: Case) -> dict[str, Comparison]:
    if isinstance(data.get("expected"), dict):
        expected = data["expected"]
        angles = {str(key).lower() for key in expected} == {name.lower() for name in ANGLES}
        data = {**data, **({"angles": expected} if angles else expected)}
    case = recorded(data)
    return {way: partial(solve, data, case, way) for way in case.ways}


def main(arguments: list[str]) -> int:
    return solve_folder(arguments, __doc__.split("\n\n")[1].strip(), comparisons, OWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
