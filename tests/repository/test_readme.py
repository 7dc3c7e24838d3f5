"""The front page: its table is that of the engines, its engine is the tested one, what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from validation.cli import COMMANDS, cli
from validation.engines import present_engines
from validation.report.listing import representation_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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
