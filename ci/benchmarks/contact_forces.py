"""Solve recorded contact-force problems, and say of each whether a = A f + b meets its conditions.

    python -P ci/benchmarks/contact_forces.py [--method dantzig|lemke] [FILE ...]

A FILE (.json or .json.gz) is {"cases": [{"test", "kind", "n", "A", "b", "joint", "f"}, ...]}; f, the forces that
the recorded engine found, may be missing. Without FILE: the problems in ci/benchmarks/data.

A hit violates a >= 0, f >= 0 (joints: a = 0) and a f = 0 by at most 1e-9 max(1, |b|), or is proven infeasible, by a
certificate that is checked here once more, in exact fractions. Exits 1 on a miss, 2 on a file that is not such a file.
"""

import argparse
import gzip
import json
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table

from reference_engine.contact_problems.contact_forces import contact_forces
from reference_engine.errors import ContactForceError

DATA = Path(__file__).parent / "data"
TOLERANCE = 1e-9  # times max(1, |b|)


class BadFile(ValueError):  # noqa: N818  says what is wrong without the word
    """A file that holds no contact-force problems."""


def read_cases(path: Path) -> list[dict[str, Any]]:
    try:
        raw = path.read_bytes()
        cases = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)["cases"]
        return [{**case, "A": np.array(case["A"], float), "b": np.array(case["b"], float)} for case in cases]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: not a file of contact-force problems: {type(error).__name__} {error}") from None


def violations(A: np.ndarray, b: np.ndarray, joint: np.ndarray, f: np.ndarray) -> tuple[float, float, float]:
    """The worst of -a (joints: |a|), of -f (not at joints) and of |a f|; computed here, not by the solver."""
    a = A @ f + b
    breach = np.where(joint, np.abs(a), -a).max(initial=0.0)
    pull = np.where(joint, 0.0, np.maximum(0.0, -f)).max(initial=0.0)
    return float(breach), float(pull) + 0.0, float(np.abs(a * f).max(initial=0.0))  # no -0


def exactly_proven(A: np.ndarray, b: np.ndarray, joint: np.ndarray, y: np.ndarray, force_limit: float) -> float:
    """What no forces up to the limit can undercut, by y, without round-off:

    (-y . b - F sum (A^T y)^+) / (sum |y| + sum (A^T y)^-), with |A^T y| for (A^T y)^+ at joints.
    """
    used = [int(i) for i in np.flatnonzero(y)]
    if any(y[i] < 0.0 and not joint[i] for i in used):
        return 0.0
    weight = {i: Fraction(float(y[i])) for i in used}
    helps, hurts = Fraction(0), Fraction(0)
    for j in range(len(b)):
        gain = sum((weight[i] * Fraction(float(A[i, j])) for i in used), Fraction(0))
        helps += abs(gain) if joint[j] else max(gain, Fraction(0))
        hurts += Fraction(0) if joint[j] else max(-gain, Fraction(0))
    without = -sum((weight[i] * Fraction(float(b[i])) for i in used), Fraction(0))
    return float((without - Fraction(force_limit) * helps) / (sum(abs(w) for w in weight.values()) + hurts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--method", choices=("dantzig", "lemke"), default="dantzig")
    arguments = parser.parse_args()
    try:
        files = [(path, read_cases(path)) for path in arguments.files or sorted(DATA.glob("contact_problems*.json.gz"))]
    except BadFile as error:
        print(error, file=sys.stderr)
        return 2
    contact_forces([[1.0]], [-1.0], method=arguments.method)  # compile before the clock runs
    violated = ("a:>8.1e", "f:>8.1e", "a f:>8.1e", "allowed:>8.1e")
    table = Table(":4", "problem:48", "n:>3", "joints:>6", *violated, "pivots:>6", ":1")
    solved = infeasible = missed = 0
    worst, seconds = 0.0, 0.0
    for path, cases in files:
        for number, case in enumerate(cases):
            A, b = case["A"], case["b"]
            joint = np.array(case.get("joint") or np.zeros(len(b)), bool)
            allowed = TOLERANCE * max(1.0, float(np.abs(b).max(initial=0.0)))
            name = f"{path.name.split('.')[0]}[{number}] {case.get('test', '')} {case.get('kind', '')}"[-48:]
            began = time.perf_counter()
            try:
                solution = contact_forces(A, b, joint, method=arguments.method)
            except (ContactForceError, ValueError) as error:
                missed += 1
                print(f"MISS {name:48} {len(b):3} {joint.sum():6} {error}")
                continue
            finally:
                seconds += time.perf_counter() - began
            found = violations(A, b, joint, solution.force)
            if solution.outcome == "infeasible" and solution.certificate is not None:
                proven = exactly_proven(A, b, joint, solution.certificate, solution.force_limit)
                hit = proven > allowed
                infeasible += hit
                note = f"infeasible: no forces below {solution.force_limit:.0e} violate less than {proven:.3e}"
            else:
                hit = max(found) <= allowed
                solved += hit
                worst = max(worst, max(found) / allowed * TOLERANCE)
                note = "" if solution.method == arguments.method else f"by {solution.method}"
            missed += not hit
            table.row("hit" if hit else "MISS", name, len(b), joint.sum(), *found, allowed, solution.pivots, note)
    print(f"in {1e3 * seconds:.0f} ms; worst violation of a solution {worst:.1e} max(1, |b|)")
    print(f"{missed} missed (target 0), {solved} solved, {infeasible} proven infeasible")
    return int(missed > 0 or solved + infeasible == 0)


if __name__ == "__main__":
    sys.exit(main())
