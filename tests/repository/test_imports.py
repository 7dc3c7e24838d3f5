"""Imports run one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MAY_IMPORT: dict[str, set[str]] = {
    "reference_engine": set(),
    "scenarios": {"reference_engine"},
    "validation": {"reference_engine", "scenarios"},
    "dashboard": {"scenarios", "validation"},
    "upright": set(),  # it runs in the user's process, where these names may be the user's
}


def imports(folder: str) -> Iterator[tuple[str, str]]:
    """(file and line, module imported), of every absolute import anywhere in the folder's files."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module]
            else:
                continue
            for name in names:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", name


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    foreign = {*MAY_IMPORT, "tests", "ci"} - MAY_IMPORT[room] - {room}
    assert [(where, name) for where, name in imports(room) if name.split(".")[0] in foreign] == []


ORDER = {
    "reference_engine": (
        "array_types",
        "compiler",
        "errors",
        "elementary",
        "dense",
        "elementary_kernels",
        "ode",
        "vectors",
        "rotation",
        "dop853",
        "trigonometry",
        "geometry",
        "contact_problems",
        "events",
        "planar_model",
        "multibody",
        "planar",
        "spatial",
        "contactsim",
        "compliant",
        "heaps",
    ),
    "validation": (
        "version",
        "records",
        "trajectory",
        "engines",
        "metrics",
        "judging",
        "review",
        "store",
        "running",
        "report",
        "tools",
        "cli",
    ),
}
"""Within a folder a package imports itself and what stands before it."""
ENGINES = ("planar", "spatial", "contactsim", "compliant", "heaps")
"""Of the reference engine: these do not import one another."""


@pytest.mark.parametrize("room", ORDER)
def test_packages_import_only_what_stands_before_them(room: str) -> None:
    """Imports inside functions counted, so there is no circle either."""
    order, against = ORDER[room], set()
    for where, name in imports(room):
        path, parts = where.split(":")[0], name.split(".")
        here, there = Path(path).parts[1].removesuffix(".py"), parts[1] if len(parts) > 1 else ""
        if parts[0] != room or here == "__init__" or not there:
            continue
        backwards = order.index(there) > order.index(here)
        sideways = here in ENGINES and there in ENGINES and here != there
        if backwards or sideways or {here, there} == {"engines", "store"}:
            against.add((path, name))
    assert against == set()


def within(folder: str, *modules: str) -> list[tuple[str, str]]:
    return [(where, name) for where, name in imports(folder) if name.startswith(modules)]


def test_engines_know_no_metric_and_no_database() -> None:
    assert within("validation/engines", "validation.metrics", "sqlalchemy") == []


def test_metrics_know_no_engine() -> None:
    assert within("validation/metrics", "validation.engines", "pymunk", "pybullet", "mujoco", "Box2D") == []


def test_only_the_strategies_and_the_fuzzer_need_hypothesis() -> None:
    users = {where.split(":")[0] for room in MAY_IMPORT for where, _ in within(room, "hypothesis")}
    assert users <= {"scenarios/strategies.py", "validation/tools/fuzz.py"}


def test_the_dashboard_simulates_nothing() -> None:
    assert within("dashboard", "validation.engines", "validation.running") == []
