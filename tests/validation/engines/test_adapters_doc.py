"""The page for authors of adapters: its toy keeps the protocol, and its table is that of the engines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from validation.engines import engine_of, load_engine, present_engines
from validation.tools.conformance import conformance

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")


def test_the_toy_of_the_page_keeps_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "toy.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    checks = conformance(engine_of("toy.Toy"))
    assert [check.summary for check in checks if check.status == "fails"] == []
    assert any(check.about == "flight" and "velocity lag" in check.summary for check in checks)


def ability_table() -> str:
    """Markdown: which of the engines that are present has which ability, how well, or why not."""
    rows = ["| engine | ability | |", "|---|---|---|"]
    for name in present_engines():
        for ability, able in getattr(load_engine(engine_of(name)), "abilities", {}).items():
            rows.append(f"| {name} | `{ability}` | {'' if able.works else 'no: '}{able.note} |")
    return "\n".join(rows)


def test_the_table_of_abilities_is_what_the_engines_say() -> None:
    rows = [row for row in ability_table().splitlines()[2:] if row.split()[1] in present_engines()]
    assert [row for row in rows if row not in PAGE] == []
