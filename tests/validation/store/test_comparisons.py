"""What `upright compare` found is kept as it was told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validation.command import call
from validation.store import Store, open_store
from validation.store.errors import StoreError

LINES = [json.dumps({"scenario": name, "sign": sign}) for name, sign in (("a", "worse"), ("b", "same"), ("c", "same"))]


def added(store: Store, new: str = "toy==2.0") -> int:
    return store.add_comparison(
        command="upright compare toy toy==2.0",
        machine="bench",
        names=("toy 1.0", new),
        packages={"numpy": ("1.26", "2.1")},
        lines=LINES,
    )


def test_a_comparison_comes_back_with_its_names_packages_counts_and_lines(store: Store) -> None:
    number = added(store)
    (one,) = store.comparisons()
    assert (one.number, one.names, one.packages) == (number, ("toy 1.0", "toy==2.0"), {"numpy": ("1.26", "2.1")})
    assert one.counts == {"worse": 1, "same": 2}
    assert store.comparison_lines(number) == LINES
    assert [c.number for c in store.comparisons()] == [number] and added(store) > number
    with pytest.raises(StoreError, match=r"comparison 9: not in this database; it has: 2, 1"):
        store.comparison_lines(9)


def test_comparisons_are_listed_and_printed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    assert "nothing was compared yet" in call(monkeypatch, capsys, "results", "comparisons")[1]
    with open_store("upright.db") as store:
        added(store, "toy\x1b[31m2.0")
    _, out, _ = call(monkeypatch, capsys, "results", "comparisons")
    assert out.startswith("1: toy 1.0 to toy") and ": 1 worse, 2 same" in out and "\x1b" not in out
    assert call(monkeypatch, capsys, "results", "comparisons", "1")[1].splitlines() == LINES
