"""Imports run one way."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from graphlib import TopologicalSorter
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


@functools.cache
def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


@functools.cache
def sources(folder: str) -> list[tuple[Path, list[ast.AST], set[ast.AST]]]:
    """Of each file the imports, and those of them that only types need."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        nodes = list(statements(ast.parse(path.read_text(encoding="utf-8"))))
        for_types = [n for n in nodes if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        found.append((path, imports, {part for node in for_types for part in statements(node)}))
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """In it, at any depth: a tenth of the nodes of a file."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for part in getattr(node, field, ()):
            yield part
            yield from statements(part)


@functools.cache
def imports(folder: str, *, types: bool = True) -> list[tuple[str, str]]:
    """(file and line, module imported), of every absolute import anywhere in the folder's files.

    `from package import module` counts as one of the module; without `types` not what stands under TYPE_CHECKING.
    """
    found = []
    for path, nodes, for_types in sources(folder):
        for node in nodes:
            if node in for_types and not types:
                continue
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                whole = [(f"{node.module}.{alias.name}", node.module) for alias in node.names]
                names = [name if is_module(name) else module for name, module in whole]
            else:
                continue
            found += [(f"{path.relative_to(ROOT)}:{node.lineno}", name) for name in names]
    return found


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


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Imports inside functions counted, names that only types need left out."""
    needs: dict[str, set[str]] = {}
    for room in MAY_IMPORT:
        for where, name in imports(room, types=False):
            file = Path(where.split(":")[0])
            itself = ".".join((file.parent if file.name == "__init__.py" else file.with_suffix("")).parts)
            needs.setdefault(itself, set()).update({name} - {itself})
    TopologicalSorter(needs).prepare()  # raises CycleError, with the circle


def within(folder: str, *modules: str) -> list[tuple[str, str]]:
    return [(where, name) for where, name in imports(folder) if name.startswith(modules)]


def test_engines_know_no_metric_and_no_database() -> None:
    assert within("validation/engines", "validation.metrics", "sqlalchemy") == []


def test_metrics_know_no_engine() -> None:
    assert within("validation/metrics", "validation.engines", "pymunk", "pybullet", "mujoco", "Box2D") == []


def test_only_the_strategies_and_the_fuzzer_need_hypothesis() -> None:
    users = {where.split(":")[0] for room in MAY_IMPORT for where, _ in within(room, "hypothesis")}
    assert all(user.startswith(("scenarios/strategies/", "validation/tools/fuzzing/")) for user in users)


def test_the_dashboard_simulates_nothing_but_in_the_playground() -> None:
    runs = ("validation.engines", "validation.running", "validation.tools")
    users = {where.split(":")[0] for where, _ in within("dashboard", *runs)}
    assert users == {f"dashboard/playground/{name}.py" for name in ("client", "processes", "routes")}
