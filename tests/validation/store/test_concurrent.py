"""Two writers and a reader at once: nothing is lost or doubled, and nobody sees an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "ci" / "benchmarks" / "concurrent_store.py"


@pytest.mark.slow
def test_two_writers_and_a_reader_do_not_hurt_each_other(tmp_path: Path) -> None:
    """Some seconds of what the benchmark does for five minutes."""
    words = [sys.executable, "-P", str(SCRIPT), "--seconds", "10", "--db", str(tmp_path / "upright.db")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors, 0 runs lost or not whole, 0 too many" in done.stdout
