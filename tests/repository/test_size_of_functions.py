"""Functions of more than 10 arguments or of a complexity above 15 are exceptions, and each has its reason here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LIMITS = ["--config", "lint.pylint.max-args=10", "--config", "lint.mccabe.max-complexity=15"]
PACKAGES = ["reference_engine", "scenarios", "validation", "dashboard", "upright"]

EXCEPTIONS: dict[str, dict[str, list[str]]] = {
    "PLR0913": {
        "a step of a solver: the arrays of its problem and of its work, all of them changed in place": [
            "reference_engine/contact_problems/cone_law.py:disc_slip",
            "reference_engine/contact_problems/cone_law.py:polygon_slip",
            "reference_engine/contact_problems/cone_law.py:solve_contact",
            "reference_engine/contact_problems/cone_sweeps.py:sweep_blocks",
            "reference_engine/contact_problems/dantzig.py:drive",
            "reference_engine/contact_problems/dantzig.py:rebuild",
            "reference_engine/contact_problems/dantzig.py:settle",
        ],
        "the arrays that the original holds as fields of objects, for one pair or one step": [
            "reference_engine/contactsim/integrator.py:attempt",
        ],
        "fields of a world by name": [
            "reference_engine/heaps/world.py:__init__",
        ],
        "each option of the command is an argument": [
            "validation/cli/bisect.py:command",
            "validation/cli/versions.py:command",
            "validation/cli/compare.py:command",
            "validation/cli/fuzz.py:command",
            "validation/running/comparing.py:compare_engines",
        ],
        "what a page is made of, by name": [
            "validation/report/markdown.py:markdown_summary",
            "validation/report/job.py:write_reports",
        ],
    },
    "C901": {
        "a check for each field, with its message": [
            "reference_engine/compliant/world.py:__post_init__",
        ],
        "the original's order of tests, which its results hang on": [
            "reference_engine/contactsim/detection.py:corners_against",
        ],
        "the fifteen axes of two boxes, case by case": [
            "reference_engine/geometry/core_gap.py:box_box",
        ],
        "a safeguarded Newton's method: a branch for each way in which a step fails": [
            "reference_engine/geometry/ellipsoid_depth.py:search",
            "reference_engine/geometry/mpr_sharpening.py:climb",
        ],
        "Newton's method with an active set, resumed after each list of pairs": [
            "reference_engine/heaps/loop.py:seek_poses",
            "reference_engine/heaps/loop.py:seek_speeds",
        ],
        "the walk of the active set: a branch for each thing that can end it": [
            "reference_engine/planar/active_set.py:settle",
        ],
        "conservative advancement: a branch for each kind of feature": [
            "reference_engine/planar/advancement.py:first_closing",
        ],
        "corners, edges and arcs against each other, case by case": [
            "reference_engine/planar/narrow_phase.py:convex_rounded",
        ],
        "each kind of joint as the engines have it": [
            "validation/engines/shared/joint_tree.py:joint_forest",
        ],
    },
}


def found() -> dict[str, set[str]]:
    """Rule -> file:function, as ruff finds them."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "PLR0913,C901", *LIMITS]
    command += ["--exit-zero", "--output-format", "json", *PACKAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names: dict[str, set[str]] = {"PLR0913": set(), "C901": set()}
    trees: dict[str, ast.Module] = {}
    for one in json.loads(done.stdout):
        path = Path(one["filename"])
        tree = trees.setdefault(one["filename"], ast.parse(path.read_text(encoding="utf-8")))
        row = one["location"]["row"]
        name = next(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno == row)
        names[one["code"]].add(f"{path.relative_to(ROOT).as_posix()}:{name}")
    return names


@pytest.mark.parametrize("rule", EXCEPTIONS)
def test_every_function_that_is_large_is_an_exception_with_a_reason(rule: str) -> None:
    listed = [name for names in EXCEPTIONS[rule].values() for name in names]
    assert len(listed) == len(set(listed))
    assert found()[rule] == set(listed)
