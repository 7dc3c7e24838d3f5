"""Solved mechanisms, solved again by every way of keeping their joints closed.

    python -P ci/benchmarks/joints.py DIR

DIR holds JSON files, each with `inputs` (what a mechanism is and how it starts) and what is known of its motion:

    chain        m, L, g, y0 and `order` ("th1,th2,w1,w2 from vertical"), `rods` or points; or m, L and `start`
    slider-crank m (3), r and l, y0; four-bar: m (3), L (4), y0: angle and spin of the crank, from the x axis
    Andrews      nothing, or any of its data by the names of Hairer and Wanner

    period       s;  t with y: rows of states in `order`;  samples_t_theta_x_y: rows of the names in the key;
    t_end with angles or y: the seven angles of Andrews' mechanism

The kind is told by name and inputs together. Prints hit or miss with the greatest difference, each number's by its own
size if that is above 1; the joint gaps and the drift of the energy are held to limits of their own. Where ten
times a file's own `self_convergence_per_t` is above the limit, that is the limit of that time. Exits 1 on a miss, which
what cannot be read or recognised is too; 2 where there is nothing to solve.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine.multibody.classics import (
    ANDREWS,
    ANGLES,
    andrews_angles,
    andrews_mechanism,
    four_bar,
    pendulum_chain,
    slider_crank,
)  # fmt: skip
from reference_engine.multibody.errors import JointError, MechanismError
from reference_engine.multibody.mechanism import Mechanism
from reference_engine.multibody.motion import MechanismMotion, mechanism_at
from reference_engine.multibody.simulate import simulate_mechanism

Array = NDArray[np.float64]
WAYS = ("accelerations", "impulses")
PERIOD, STATE, ANDREWS_ANGLES, GAP, DRIFT = 1e-10, 1e-9, 1e-8, 1e-10, 1e-8
LOOKS = 8  # in a period of small swings, for the crossings that a period is measured by
Read = Callable[[MechanismMotion, str], Array]


@dataclass(frozen=True)
class Case:
    """A mechanism, and how the names of columns are read from its motion, (S,) each."""

    mechanism: Mechanism
    read: Read
    turning: bool  # whether its angles are counted over whole turns
    columns: tuple[str, ...]
    limit: float = STATE


class UnknownCaseError(ValueError):
    """A file that says nothing that we can solve, or compare with."""


# --- what a file describes ----------------------------------------------------------------------------


def case_of(data: dict[str, Any]) -> Case:
    inputs = data.get("inputs") or {}
    name = str(data.get("name", "")).lower()
    keys = {key.lower() for key in inputs}
    if "andrews" in name or "squeez" in name or {"mom", "c0", "l0"} <= keys:
        return andrews(inputs)
    if "slider" in name or {"r", "l"} <= set(inputs) or "crank" in keys:
        return slider(data, inputs)
    lengths = inputs.get("L", inputs.get("lengths"))
    if re.search("four.?bar", name) or (isinstance(lengths, list) and len(lengths) == 4 and len(inputs["m"]) == 3):
        return bars(data, inputs, lengths)
    if lengths is not None and "m" in inputs:
        return chain(data, inputs, lengths)
    raise UnknownCaseError(
        f"name {data.get('name')!r} with inputs {', '.join(inputs) or 'none'} is no case that is known here: "
        f"chain (m, L), slider-crank (r, l), four-bar (L of 4), Andrews"
    )


def chain(data: dict[str, Any], inputs: dict[str, Any], lengths: Any) -> Case:
    L, m = ([float(x) for x in np.atleast_1d(value)] for value in (lengths, inputs["m"]))
    n = len(L)
    rods = bool(data.get("rods", inputs.get("rods", "rod" in str(data.get("name", "")).lower())))
    columns = order_of(inputs, n)
    start = start_of(inputs, columns, n)
    offset = 0.0 if "horizontal" not in str(inputs.get("order", "")) else 0.5 * math.pi
    angles = [start[f"th{i}"] + offset for i in range(1, n + 1)]
    spins = [start[f"w{i}"] for i in range(1, n + 1)]
    mechanism = pendulum_chain(m, L, angles, spins, rods=rods, gravity=float(inputs.get("g", 9.81)))

    def read(motion: MechanismMotion, column: str) -> Array:
        kind, i = split(column, n)
        if rods and kind in ("th", "w"):
            return (motion.orientation if kind == "th" else motion.spin)[:, i] - (offset if kind == "th" else 0.0)
        ends = motion.position + (0.5 * rod_ends(motion, L) if rods else 0.0)
        if kind in ("x", "y"):
            return ends[:, i, 0 if kind == "x" else 1]
        before = motion.position[:, i - 1] if i else np.zeros(2)
        d = motion.position[:, i] - before
        if kind == "th":
            return np.arctan2(d[:, 0], -d[:, 1]) - offset
        rate = motion.velocity[:, i] - (motion.velocity[:, i - 1] if i else 0.0)
        return (d[:, 0] * rate[:, 1] - d[:, 1] * rate[:, 0]) / L[i] ** 2

    return Case(mechanism, read, rods, columns)


def rod_ends(motion: MechanismMotion, L: list[float]) -> Array:
    """From the tops of the rods to their ends, (S, N, 2) m."""
    return np.stack([np.sin(motion.orientation), -np.cos(motion.orientation)], axis=2) * np.array(L)[:, None]


def order_of(inputs: dict[str, Any], n: int) -> tuple[str, ...]:
    """Names of the columns, th1 ... w1 ...; those of one pendulum without a number mean 1."""
    if "order" in inputs:
        return tuple(word.strip() for word in re.sub(r"\s+from\s.*", "", inputs["order"]).split(","))
    return (*(f"th{i}" for i in range(1, n + 1)), *(f"w{i}" for i in range(1, n + 1)))


def start_of(inputs: dict[str, Any], columns: tuple[str, ...], n: int) -> dict[str, float]:
    """th and w of each link. Of one pendulum also by words: "horizontal, x=-1,y=0,at rest", "theta=1.2, w=0"."""
    if "y0" in inputs:
        given = dict(zip(columns, (float(x) for x in inputs["y0"])))
        return {f"{kind}{i + 1}": value for (kind, i), value in ((split(key, n), v) for key, v in given.items())}
    words = {key: value for key, value in inputs.items() if isinstance(value, int | float)}
    words |= {
        key: float(value)
        for key, value in re.findall(r"(\w+)\s*=\s*(-?[\d.]+(?:e-?\d+)?)", str(inputs.get("start", "")))
    }
    if found := re.search(r"(-?[\d.]+)\s*(?:deg|\u00b0)", str(inputs.get("start", ""))):
        words.setdefault("theta", math.radians(float(found[1])))
    angle = next(
        (float(words[key]) for key in ("theta", "theta0", "th", "th0", "th1", "amplitude", "amp") if key in words), None
    )
    if angle is None and {"x", "y"} <= set(words):
        angle = math.atan2(words["x"], -words["y"])
    if angle is None or n != 1:
        raise UnknownCaseError(f"start {inputs.get('start')!r}: y0 is not given, nor x and y or theta of one pendulum")
    spin = next((float(words[key]) for key in ("w", "w0", "omega", "omega0") if key in words), 0.0)
    return {"th1": angle, "w1": spin}


def split(column: str, n: int) -> tuple[str, int]:
    """("th", 0) of th1: the kind and the link, the last where none is said."""
    found = re.fullmatch(r"(theta|th|omega|w|x|y)_?(\d*)", column)
    if not found or (found[2] and not 1 <= int(found[2]) <= n):
        raise UnknownCaseError(f"column {column!r}: known are th, w, x, y with a number from 1 to {n}")
    kind = {"theta": "th", "omega": "w"}.get(found[1], found[1])
    return kind, int(found[2]) - 1 if found[2] else n - 1


def slider(data: dict[str, Any], inputs: dict[str, Any]) -> Case:
    crank, rod = (float(next(inputs[key] for key in keys if key in inputs)) for keys in (("r", "crank"), ("l", "rod")))
    columns = order_of(inputs, 1)
    start = start_of(inputs, columns, 1)
    mechanism = slider_crank(crank, rod, masses=[float(x) for x in inputs["m"]], angle=start["th1"], spin=start["w1"],
                             gravity=float(inputs.get("g", 9.81)))  # fmt: skip

    def read(motion: MechanismMotion, column: str) -> Array:
        kind, _ = split(column, 1)
        return {"th": motion.orientation[:, 0], "w": motion.spin[:, 0], "x": motion.position[:, 2, 0],
                "y": motion.position[:, 2, 1]}[kind]  # fmt: skip

    return Case(mechanism, read, True, columns)


def bars(data: dict[str, Any], inputs: dict[str, Any], lengths: Any) -> Case:
    columns = order_of(inputs, 1)
    start = start_of(inputs, columns, 1)
    mechanism = four_bar([float(x) for x in lengths], masses=[float(x) for x in inputs["m"]], angle=start["th1"],
                         spin=start["w1"], gravity=float(inputs.get("g", 9.81)),
                         crossed=bool(inputs.get("crossed", False)))  # fmt: skip

    def read(motion: MechanismMotion, column: str) -> Array:
        found = re.fullmatch(r"(th|w)([123]?)", column)
        if not found:
            raise UnknownCaseError(f"column {column!r}: known are th, w, th1 ... w3 of crank, coupler, rocker")
        return (motion.orientation if found[1] == "th" else motion.spin)[:, int(found[2] or 1) - 1]

    return Case(mechanism, read, True, columns)


def andrews(inputs: dict[str, Any]) -> Case:
    names = {key.lower(): key for key in ANDREWS}
    given = {names[key.lower()]: float(value) for key, value in inputs.items() if key.lower() in names}
    mechanism = andrews_mechanism(**given)

    def read(motion: MechanismMotion, column: str) -> Array:
        if column not in ANGLES:
            raise UnknownCaseError(f"column {column!r}: known are {', '.join(ANGLES)}")
        return andrews_angles(motion.orientation)[:, ANGLES.index(column)]

    return Case(mechanism, read, True, ANGLES, ANDREWS_ANGLES)


# --- what is known of it --------------------------------------------------------------------------------


def figures(data: dict[str, Any], case: Case) -> Iterator[tuple[str, Array, Array, tuple[str, ...], float]]:
    """(what, times, values (S, C), columns, limit) of every table of states in the file."""
    if isinstance(data.get("t"), list) and "y" in data:
        times, values = np.array(data["t"], float), np.array(data["y"], float)
        own = 10.0 * np.atleast_1d(np.array(data.get("self_convergence_per_t", 0.0), float))
        own = own if own.shape == times.shape else np.full(times.shape, own.max())
        sure = own <= case.limit
        if sure.any():
            yield "states", times[sure], values[sure], case.columns, case.limit
        for i in np.flatnonzero(~sure):
            yield f"states at {times[i]:g} s", times[[i]], values[[i]], case.columns, float(own[i])
    for key, table in data.items():
        if key.startswith("samples_t_"):
            values = np.array(table, float)
            yield key, values[:, 0], values[:, 1:], tuple(key.removeprefix("samples_t_").split("_")), case.limit
    end = data.get("t_end", data["t"] if isinstance(data.get("t"), int | float) else None)
    end = (data.get("inputs") or {}).get("t_end", end)
    if case.columns is ANGLES and not isinstance(data.get("t"), list):
        given = next((data[key] for key in ("angles", "y", "end", "end_angles", "expected") if key in data), None)
        if given is not None:
            row = [given[name] for name in ANGLES] if isinstance(given, dict) else given[:7]
            yield "angles", np.array([0.03 if end is None else float(end)]), np.array([row], float), ANGLES, case.limit


def our_sense(wanted: Array, columns: tuple[str, ...]) -> Array:
    """The table with angles counted as we do, from straight down towards x, where its own x and angle say otherwise."""
    kinds = [split(column, 9)[0] if re.match("th|w|x|y|omega", column) else "" for column in columns]
    if len(columns) == len(set(kinds)) and {"th", "x"} <= set(kinds):
        x, angle = (wanted[:, kinds.index(kind)] for kind in ("x", "th"))
        if float(x @ np.sin(angle)) < 0.0:
            wanted = wanted * np.array([-1.0 if kind in ("th", "w") else 1.0 for kind in kinds])
    return wanted


def said_by_place(inputs: dict[str, Any]) -> bool:
    """Whether a pendulum's start is given by x and y alone."""
    return "y0" not in inputs and bool(re.search(r"\bx\s*=", str(inputs.get("start", ""))))


def off(values: Array, wanted: Array, columns: tuple[str, ...], *, turning: bool) -> float:
    """The greatest difference, of a number above 1 by its own size; of angles that are not counted, by whole turns."""
    d = values - wanted
    for i, column in enumerate(columns):
        if not turning and column.startswith("th"):
            d[:, i] = (d[:, i] + math.pi) % (2.0 * math.pi) - math.pi
    return float(np.abs(d / np.maximum(1.0, np.abs(wanted))).max())


def period(case: Case, way: Any, length: float, gravity: float) -> float:
    """s: twice the time between the passages of the lowest point, or of a turn over the top that between two."""
    step = 2.0 * math.pi * math.sqrt(length / gravity) / LOOKS
    for small_swings in (1.3, 5.0, 20.0):
        times = np.arange(0.0, small_swings * LOOKS) * step
        motion = simulate_mechanism(case.mechanism, times, hold=way)
        angle = np.unwrap(case.read(motion, "th1"))
        level = np.floor(angle / math.pi)  # changes at the lowest point and at the top
        low = [k for k in np.flatnonzero(np.diff(level)) if round(max(level[k], level[k + 1])) % 2 == 0]
        if len(low) > 1:
            break
    else:
        raise UnknownCaseError(f"period: the pendulum does not pass its lowest point twice in {times[-1]:.3g} s")
    passages = []
    for k in low[:2]:
        mechanism, at = mechanism_at(case.mechanism, motion, int(k)), float(times[k])
        for _ in range(8):
            here = simulate_mechanism(mechanism, [0.0], hold=way)
            spin = float(case.read(here, "w1")[0])
            lag = math.remainder(float(case.read(here, "th1")[0]), 2.0 * math.pi)
            ahead = -lag / spin
            if abs(ahead) < 1e-14:
                break
            mechanism = (
                mechanism_at(mechanism, simulate_mechanism(mechanism, [ahead], hold=way), 0)
                if ahead > 0.0
                else reversed_by(mechanism, -ahead, way)
            )
            at += ahead
        passages.append(at)
    over = len({round(float(np.sign(case.read(motion, "w1")[k]))) for k in low[:2]}) == 1
    return (passages[1] - passages[0]) * (1.0 if over else 2.0)


def reversed_by(mechanism: Mechanism, back: float, way: Any) -> Mechanism:
    """The mechanism a time `back` earlier: what has no loss runs backwards."""
    turned = turn_round(mechanism)
    return turn_round(mechanism_at(turned, simulate_mechanism(turned, [back], hold=way), 0))


def turn_round(mechanism: Mechanism) -> Mechanism:
    links = tuple(
        replace(link, velocity=np.negative(link.velocity), spin=np.negative(link.spin)) for link in mechanism.links
    )
    return replace(mechanism, links=links)


def energy_scale(mechanism: Mechanism, motion: MechanismMotion) -> float:
    """J: half of sum m v^2 at its greatest, with rotation, and m g times the heights that were passed."""
    mass = np.array([link.mass for link in mechanism.links])
    inertia = np.array([link.inertia for link in mechanism.links], np.float64)
    kinetic = 0.5 * (mass * (motion.velocity**2).sum(axis=2) + inertia * motion.spin**2).sum(axis=1).max()
    g = float(np.linalg.norm(np.asarray(mechanism.gravity, np.float64)))
    return float(kinetic + g * (mass * np.ptp(motion.position[:, :, 1], axis=0)).sum())


def solve(data: dict[str, Any], way: Any) -> Iterator[tuple[str, float, float]]:
    """(what, difference, limit) of all that the file knows, and of the joints and the energy."""
    case = case_of(data)
    found = []
    if "period" in data:
        inputs = data["inputs"]
        took = period(case, way, float(np.atleast_1d(inputs["L"])[0]), float(inputs.get("g", 9.81)))
        found.append(("period", abs(took - float(data["period"])), PERIOD))
    tables = list(figures(data, case))
    if not tables and not found:
        raise UnknownCaseError(
            f"nothing to compare with among {', '.join(data)}: period, t with y, samples_t_…, angles"
        )
    yield from found
    for what, times, wanted, columns, limit in tables:
        motion = simulate_mechanism(case.mechanism, np.concatenate([[0.0], times]), hold=way)
        values = np.column_stack([case.read(motion, column) for column in columns])[1:]
        difference = off(values, our_sense(wanted, columns), columns, turning=case.turning)
        if said_by_place(data.get("inputs") or {}) and "x" not in columns:  # which way its angle counts is not said
            difference = min(difference, off(-values, wanted, columns, turning=case.turning))
        yield what, difference, limit
        yield "joint gap", float(motion.joint_gap.max()), GAP
        if not case.mechanism.torques:
            drift = float(np.abs(motion.energy - motion.energy[0]).max())
            yield "energy drift", drift / energy_scale(case.mechanism, motion), DRIFT


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(__doc__.split("\n\n")[1].strip() + ": give a folder", file=sys.stderr)
        return 2
    files = sorted(Path(arguments[0]).glob("*.json"))
    if not files:
        print(f"{arguments[0]}: it holds no JSON file", file=sys.stderr)
        return 2
    hits = misses = 0
    print(f"{'case':34}{'joints held by':16}{'figure':22}{'off by':>10}{'limit':>10}")
    for file in files:
        for way in WAYS:
            started = time.perf_counter()
            try:
                for what, difference, limit in solve(json.loads(file.read_text()), way):
                    good = difference <= limit
                    hits, misses = hits + good, misses + (not good)
                    print(
                        f"{file.stem:34}{way:16}{what:22}{difference:10.1e}{limit:10.0e}  {'hit' if good else 'MISS'}"
                    )
            except (
                MechanismError,
                JointError,
                UnknownCaseError,
                KeyError,
                IndexError,
                TypeError,
                ValueError,
                OSError,
            ) as error:
                misses += 1
                reason = f"{type(error).__name__}: {error}" if isinstance(error, KeyError | TypeError) else error
                print(f"{file.stem:34}{way:16}{'':42}  MISS  {reason}")
            print(f"{'':50}{time.perf_counter() - started:.1f} s", flush=True)
    print(f"{hits} of {hits + misses} hit")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
