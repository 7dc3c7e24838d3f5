"""The page for authors of adapters: its toy keeps the protocol, and its table is that of the engines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from validation.engines import engine_of, load_engine, present_engines
from validation.tools.conformance import conformance, counts

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")


def test_the_toy_of_the_page_keeps_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "toy.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    checks = conformance(engine_of("toy.Toy"))
    assert [check.summary for check in checks if check.status == "fails"] == []
    assert any(check.about == "flight" and "velocity lag" in check.summary for check in checks)
    assert counts(checks) == "8 ok, 0 failed, 29 not tested (declined)" and f"toy.Toy: {counts(checks)}" in PAGE


def test_what_an_engine_declines_counts_as_not_tested_and_one_that_declines_all_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shy.py").write_text(
        "from validation.engines.engine import SteppingEngine\n"
        "class Shy(SteppingEngine):\n    name, version, takes = 'shy', '1.0', frozenset()\n"
    )
    monkeypatch.chdir(tmp_path)
    checks = conformance(engine_of("shy.Shy"))
    failed = [check.summary for check in checks if check.status == "fails"]
    assert failed == ["declines every scene of this test: nothing was tested"]
    assert re.fullmatch(r"1 ok, 1 failed, \d+ not tested \(declined\)", counts(checks))


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
