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
    "upright_pytest": set(),  # it runs in the user's process, where these names may be the user's
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


def within(folder: str, *modules: str) -> list[tuple[str, str]]:
    return [(where, name) for where, name in imports(folder) if name.startswith(modules)]


def test_engines_know_no_store_and_no_metric() -> None:
    assert (
        within("validation/engines", "validation.store", "validation.metrics", "validation.judge", "sqlalchemy") == []
    )


def test_the_store_knows_no_engine_but_the_types_of_its_settings() -> None:
    found = within("validation/store", "validation.engines", "validation.processes")
    assert [row for row in found if row[1] != "validation.engines.engine"] == []


def test_metrics_know_no_engine() -> None:
    assert within("validation/metrics", "validation.engines", "pymunk", "pybullet", "mujoco", "Box2D") == []


def test_only_the_strategies_and_the_fuzzer_need_hypothesis() -> None:
    users = {where.split(":")[0] for room in MAY_IMPORT for where, _ in within(room, "hypothesis")}
    assert users <= {"scenarios/strategies.py", "validation/fuzz.py"}


def test_the_dashboard_simulates_nothing() -> None:
    assert within("dashboard", "validation.engines", "validation.runner", "validation.processes") == []
