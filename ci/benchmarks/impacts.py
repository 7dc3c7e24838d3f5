"""Solved impacts at one place, solved again by every law that they name.

    python -P ci/benchmarks/impacts.py DIR

DIR holds JSON files, each with `inputs`: K, u0 (x, y, z, with a normal) or u0_t_n (tangential, normal), mu, e, and
where joints take part M, J and qdot; and `expected` by law: impulse, velocity, their normal parts and works, the change
of energy. Prints hit or miss with the greatest difference, each figure's by its own size (one below 1e-3 by 1e-3), and
the phases where they are other ones. Exits 1 on a miss, 2 where a file cannot be read.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.impacts.incremental import ImpactError
from reference_engine.impacts.laws import Impact, impact

LAWS = {
    "newton": ("newton", 0.0),
    "poisson": ("poisson", 0.0),
    "stronge": ("stronge", 0.0),
    "kane_levinson_newton": ("stick-or-slip", 0.0),
}
PLANAR, SPATIAL = 1e-12, 1e-10  # of the figure's size
LEAST = 1e-3
FIGURES = {
    "jn_compression": "compression_impulse",
    "Wn_compression": "compression_work",
    "Wn_total": "normal_work",
    "delta_E": "energy_change",
    "kappa": "factor",
}
ABOUT_THE_CASE = re.compile(r"crosscheck|selfconv|residual|phases|mode|KE0")


def law_of(name: str) -> tuple[str, float]:
    """Our law and its tangential restitution."""
    if name in LAWS:
        return LAWS[name]
    if found := re.fullmatch(r"algebraic_kappa_et(-?[0-9.]+)", name):
        return "chatterjee-ruina", float(found[1])
    raise KeyError(f"law {name!r}; known: {', '.join(LAWS)}, algebraic_kappa_et…")


def figures(inputs: dict[str, Any], found: Impact) -> dict[str, Any]:
    """What we found, by the names that the files use."""
    have: dict[str, Any] = {name: getattr(found, ours) for name, ours in FIGURES.items()}
    have |= dict.fromkeys(("impulse", "impulse_t_n"), found.impulse) | dict.fromkeys(
        ("velocity", "velocity_t_n"), found.velocity
    )
    if "qdot" in inputs:
        M, J, before = (np.array(inputs[key], np.float64) for key in ("M", "J", "qdot"))
        have["qdot"] = before + np.linalg.solve(M, J.T @ found.impulse)
        have["KE1"] = 0.5 * float(have["qdot"] @ M @ have["qdot"])
    return have


def difference(expected: dict[str, Any], have: dict[str, Any]) -> float:
    """The greatest of all figures, each by its own size."""
    worst = 0.0
    for name, value in expected.items():
        if ABOUT_THE_CASE.search(name):
            continue
        if name not in have or have[name] is None:
            raise KeyError(f"figure {name!r}; known: {', '.join(sorted(have))}")
        wanted = np.atleast_1d(np.array(value, np.float64))
        off = float(np.abs(wanted - have[name]).max())
        worst = max(worst, off / max(LEAST, float(np.linalg.norm(wanted))))
    return worst


def solve(inputs: dict[str, Any], name: str) -> Impact:
    law, tangential = law_of(name)
    velocity = inputs["u0"] if "u0" in inputs else inputs["u0_t_n"]
    return impact(
        inputs["K"], velocity, friction=inputs["mu"], restitution=inputs["e"], law=law,
        normal=inputs.get("normal"), tangential_restitution=tangential,
    )  # fmt: skip


def words(phases: Any) -> tuple[str, ...]:
    """Phases of a file or of ours, each with what ends it; those of space say where compression ends between two."""
    told: list[str] = []
    for part in phases:
        told += part if isinstance(part, list | tuple) else [part]
    same = {"|maxcomp|": "compression", "maxcomp": "compression", "slipstop": "slip-stop"}
    return tuple(same.get(word, word) for word in told if word != "end")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(__doc__.split("\n\n")[1].strip() + ": give a folder", file=sys.stderr)
        return 2
    files = sorted(Path(arguments[0]).glob("*.json"))
    if not files:
        print(f"{arguments[0]}: it holds no JSON file", file=sys.stderr)
        return 2
    hits = misses = 0
    spent = 0.0
    print(f"{'case':40}{'law':24}{'difference':>12}")
    for file in files:
        try:
            case = json.loads(file.read_text())
            inputs, laws = case["inputs"], case["expected"]
            limit = SPATIAL if "normal" in inputs else PLANAR
            for name, expected in laws.items():
                started = time.perf_counter()
                try:
                    found = solve(inputs, name)
                except ImpactError as error:
                    misses += 1
                    print(f"{file.stem:40}{name:24}{'':12}  MISS  {error}")
                    continue
                spent += time.perf_counter() - started
                off = difference(expected, figures(inputs, found))
                hits, misses = hits + (off <= limit), misses + (off > limit)
                print(f"{file.stem:40}{name:24}{off:12.1e}  {'hit' if off <= limit else 'MISS'}")
                if "phases" in expected and words(expected["phases"]) != words(found.phases):
                    print(f"    phases: {expected['phases']}; here: {found.phases}")
        except (KeyError, ValueError, TypeError, OSError) as error:
            print(f"{file}: {error.args[0] if error.args else error}", file=sys.stderr)
            return 2
    print(f"{hits} of {hits + misses} hit; {1e6 * spent / max(1, hits + misses):.0f} us each")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
