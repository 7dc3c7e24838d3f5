"""The table of faults to plant is true: each stands once where it says, and a copy that had it is as before."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "ci" / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    made = importlib.util.spec_from_file_location("planted_faults", BENCHMARKS / "planted_faults.py")
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def test_every_fault_of_the_table_stands_once_and_is_taken_back(benchmark: ModuleType, tmp_path: Path) -> None:
    for fault in benchmark.FAULTS:
        source = benchmark.ROOT / fault.file
        copy = tmp_path / fault.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        written = copy.stat().st_mtime_ns
        with benchmark.planted(tmp_path, fault):
            assert copy.read_text(encoding="utf-8") != source.read_text(encoding="utf-8")
            compile(copy.read_text(encoding="utf-8"), fault.file, "exec")
        assert copy.read_text(encoding="utf-8") == source.read_text(encoding="utf-8")
        assert copy.stat().st_mtime_ns == written
    assert len({fault.name for fault in benchmark.FAULTS}) == len(benchmark.FAULTS) >= 12


def test_a_fault_that_stands_nowhere_or_twice_is_refused(benchmark: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("a = 1\nb = 1\n")
    for file, old in (("file.py", "c = 1"), ("file.py", " = 1"), ("none.py", "a")):
        fault = benchmark.Planted(name="one", file=file, old=old, new="")
        with pytest.raises(benchmark.PlantError, match="one: "), benchmark.planted(tmp_path, fault):
            pass
    assert (tmp_path / "file.py").read_text() == "a = 1\nb = 1\n"
