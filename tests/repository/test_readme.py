"""The front page: its table is that of the engines, its engine is the tested one, what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from validation.cli import COMMANDS, cli
from validation.engines import engine_of, load_engine, present_engines

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPRESENTED = {
    "motion": {"planar": "plane", "spatial": "space"},
    "shapes": {
        "concave-polygon": "concave polygons",
        "arc-polygon": "polygons with arcs",
        "bowl": "bowls",
        "capsule": "capsules",
        "cylinder": "cylinders",
        "ellipsoid": "ellipsoids",
        "convex-mesh": "convex meshes",
        "hollow-sphere": "hollow spheres",
    },
    "contact": {"friction": "friction", "restitution": "restitution", "compliant": "compliance"},
    "joints": {
        "revolute": "pin",
        "prismatic": "slider",
        "rod": "rod",
        "rope": "rope",
        "ball": "ball",
        "hinge": "hinge",
        "track": "track",
    },
}
"""Column -> feature of a scene -> word: what engines differ in. Who has `prismatic` has `slider` in space."""


def representation_table() -> str:
    """Markdown: what the engines that are present can represent, from their allow-lists."""
    columns = " | ".join(REPRESENTED)
    rows = [f"| engine | {columns} |", "|---" * (len(REPRESENTED) + 1) + "|"]
    for name in present_engines():
        takes: frozenset[str] = getattr(load_engine(engine_of(name)), "takes", frozenset())
        cells = (
            ", ".join(word for feature, word in words.items() if feature in takes) for words in REPRESENTED.values()
        )
        rows.append(f"| `{name}` | {' | '.join(cell or '–' for cell in cells)} |")
    return "\n".join(rows)


def test_the_table_of_what_engines_can_represent_is_what_their_lists_say() -> None:
    head, rule, *rows = representation_table().splitlines()
    assert len(rows) == len(present_engines())
    assert [row for row in (head, rule, *rows) if row not in README.splitlines()] == []


def test_the_engine_of_twenty_lines_is_the_one_that_is_tested_and_has_twenty() -> None:
    """`tests/validation/engines/test_adapters_doc.py` runs that of docs/adapters.md."""
    toy = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "class Toy" in code)
    assert f"```python\n{toy}```" in (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    assert len([line for line in toy.splitlines() if line.strip()]) == 20


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.parametrize("line", [line for line in README.splitlines() if re.match(r"upright \w", line)])
def test_every_command_and_option_that_is_shown_exists(line: str) -> None:
    words = line.partition("  #")[0].split()
    assert words[1] in COMMANDS
    command = cli.get_command(click.Context(cli), words[1])
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    for group in getattr(command, "commands", {}).values():
        known |= {option for parameter in group.params for option in parameter.opts}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known
