"""Kernels: one signature each, and the same results as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import numba

from reference_engine import Settings, simulate
from reference_engine.planar import dynamics, impulse, narrow_phase
from tests.reference_engine.planar.worlds import heap, rocking

ROOT = Path(__file__).parents[3]
PROGRAM = """
from reference_engine import Settings, box, simulate
from tests.reference_engine.planar.worlds import dropped
motion = simulate(dropped(box(1.0, 1.0), restitution=0.5), 1.0, 1 / 60)
print(motion.pose.tobytes().hex()[-96:], len(motion.impacts.time))
"""


def run(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_kernels_run_as_plain_python_with_the_same_result():
    """Bits may differ where the compiler fuses a multiply and an add; here they do not."""
    assert run(NUMBA_DISABLE_JIT="1").split()[1] == run().split()[1]


def test_every_kernel_has_been_compiled_for_one_signature_at_most():
    if numba.config.DISABLE_JIT:
        return
    simulate(rocking(), 0.1, 0.025)
    simulate(heap(1), 0.5, 1 / 60, Settings(collision_handling="simultaneous"))
    simulate(heap(2), 0.5, 1 / 60)
    for module in (dynamics, impulse, narrow_phase):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"
