"""Compliant contact is in no canonical suite; its bits are the same on every processor all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_compliant_contact_has_its_bits_whatever_blas_and_the_c_library_choose():
    command = [sys.executable, "-P", "ci/bits_anywhere.py", "compliant-bounce"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "C library without AVX2 and FMA: 0 of 1 cases differ" in done.stdout
