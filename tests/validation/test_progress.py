"""Progress tells how far it is, however long the names are."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from validation.cli.progress import Live


@pytest.mark.parametrize("width", [50, 80, 120])
def test_a_narrow_terminal_cuts_names_not_figures(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    live = Live("stack:n=5,mass_ratio=1000, stack:n=3, break and 4 more", 214)
    live.advance("stack:n=20,mass_ratio=1000 × pymunk:iterations=5")
    shown = StringIO()
    Console(file=shown, width=width).print(live.bar.get_renderable())
    [line] = filter(None, (line.strip() for line in shown.getvalue().splitlines()))
    assert "1/214 0:00:0" in line and len(line) <= width
    assert line.startswith("stack:n") and "stack:n" in line[8:]
