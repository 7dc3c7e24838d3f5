"""Contact-force problems recorded from the ContactSim engine (myPhysicsLab, November 2024 release)."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reference_engine import contact_forces

ROOT = Path(__file__).parents[3]
DATA = ROOT / "ci" / "benchmarks" / "data"
INFEASIBLE = {"testMatrix26": 1.3e-7, "testMatrix27": 2.9e-6, "testMatrix28": 1.7e-7}  # m/s^2, the least violation


def recorded(name: str) -> list[dict]:
    return json.loads(gzip.decompress((DATA / f"contact_problems_{name}.json.gz").read_bytes()))["cases"]


def infeasible_by(case: dict) -> float | None:
    return next((least for name, least in INFEASIBLE.items() if name in case["test"]), None)


@pytest.mark.parametrize("method", ["dantzig", "lemke"])
@pytest.mark.parametrize("name", ["unit", "suite"])
def test_every_solvable_one_has_the_accelerations_that_the_original_found(name, method):
    """Violations at most 1e-9 max(1, |b|); forces of redundant contacts are not unique, accelerations are.

    The original stops at 1e-6 or so; at 1e-4 it is content.
    """
    for case in recorded(name):
        if infeasible_by(case) is None:
            A, b, joint = np.array(case["A"]), np.array(case["b"]), np.array(case["joint"], bool)
            solution = contact_forces(A, b, joint, method=method)
            scale = max(1.0, np.abs(b).max())
            a, f = A @ solution.force + b, solution.force
            assert np.where(joint, np.abs(a), np.maximum(-a, -f)).max() <= 1e-9 * scale, case["test"]
            assert np.abs(a * f).max() <= 1e-9 * scale, case["test"]
            assert a == pytest.approx(A @ np.array(case["f"]) + b, abs=1e-6 * scale), case["test"]


@pytest.mark.parametrize("method", ["dantzig", "lemke"])
def test_three_of_its_unit_tests_have_no_solution_and_the_proof_says_so(method):
    """Redundant rows of A contradict each other in b by 1e-7 to 1e-5. The original let them pass, at 1e-7 to 1e-3."""
    cases = [case for case in recorded("unit") if infeasible_by(case) is not None]
    assert len(cases) == len(INFEASIBLE)
    for case in cases:
        A, b, joint = np.array(case["A"]), np.array(case["b"]), np.array(case["joint"], bool)
        solution = contact_forces(A, b, joint, method=method)
        y = solution.certificate
        assert solution.outcome == "infeasible" and y is not None
        assert (y[~joint] >= 0.0).all() and np.abs(y @ A).max() < 1e-14 and y @ b < 0.0
        assert solution.force_limit > 1e5
        assert infeasible_by(case) < solution.proven <= solution.violation < 1.1 * solution.proven


def test_the_examples_of_the_page_run_and_come_out_as_it_says(capsys):
    page = (ROOT / "docs" / "contact-forces.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, {"contact_forces": contact_forces})
        said = block.rsplit("# ", 1)[1].strip().replace("...", "")
        printed = capsys.readouterr().out
        assert [word for word in printed.split() if word.isalpha()] == [word for word in said.split() if word.isalpha()]
        shown = [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", printed)]
        assert shown == pytest.approx([float(number) for number in re.findall(r"\d+\.?\d*", said)], abs=1e-2)


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-P", "ci/benchmarks/contact_forces.py", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_benchmark_hits_all_of_them_and_takes_any_file(tmp_path):
    done = run()
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "0 missed (target 0), 203 solved, 3 proven infeasible"
    other = tmp_path / "mine.json"
    other.write_text(json.dumps({"cases": [{"test": "beam", "kind": "C", "n": 1, "A": [[1.0]], "b": [-1.0]}]}))
    assert run(str(other)).returncode == 0


@pytest.mark.slow
def test_the_benchmark_exits_1_on_a_miss_and_2_on_what_is_no_problem(tmp_path):
    missed = tmp_path / "missed.json"
    missed.write_text(json.dumps({"cases": [{"A": [[-1.0, 2.0], [2.0, -1.0]], "b": [-1.0, 1.0]}]}))
    done = run(str(missed))
    assert done.returncode == 1 and "MISS" in done.stdout
    missed.write_text("[]")
    assert run(str(missed)).returncode == 2
