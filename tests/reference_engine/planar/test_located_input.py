"""What the located mode refuses, and its kernels."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from reference_engine import Body, Disc, Edge, Outline, Settings, World, WorldError, box, simulate
from reference_engine.dop853 import BERNSTEIN, dense_slope, dense_value
from reference_engine.planar import (
    active_set,
    advancement,
    approach,
    event_loop,
    features,
    impact,
    log,
    narrow_phase,
    projection,
    release,
    resolve,
    rows,
    step,
)
from tests.reference_engine.planar.worlds import dropped, ground, heap

ROOT = Path(__file__).parents[3]
KERNELS = (
    active_set, advancement, approach, event_loop, features, impact, log, narrow_phase, projection,
    release, resolve, rows, step,
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [("tolerance", 0.0), ("tolerance", math.nan), ("impact_law", "kind"), ("accumulation_cutoff", 1.0)],
)
def test_a_setting_that_is_not_allowed_is_named_with_its_value(name, value):
    with pytest.raises(WorldError, match=f"{name}: {value!r}"):
        Settings(**{name: value})


@pytest.mark.parametrize(("duration", "step", "name"), [(-1.0, 0.1, "duration"), (1.0, math.inf, "sample_step")])
def test_a_time_that_is_not_one_is_refused(duration, step, name):
    with pytest.raises(WorldError, match=name):
        simulate(dropped(Disc(0.5), restitution=0.5), duration, step)


def test_bodies_that_overlap_at_the_start_are_named():
    block = Body(shape=box(1.0, 1.0), position=(0.0, 0.4), name="crate")
    with pytest.raises(WorldError, match="'ground' and 'crate' overlap at the start"):
        simulate(World(bodies=(ground(), block)), 1.0, 0.1)


def test_samples_are_on_the_grid_and_twice_at_an_impact():
    motion = simulate(dropped(Disc(0.5), restitution=0.5), 1.0, 0.25)
    hits = motion.events.times("impact")
    expected = np.sort(np.concatenate([np.arange(5) * 0.25, np.repeat(hits[hits <= 1.0], 2)]))
    assert motion.time == pytest.approx(expected, abs=0.0)
    before, after = np.flatnonzero(motion.time == hits[0])
    assert motion.twist[after, 1, 1] == pytest.approx(-0.5 * motion.twist[before, 1, 1], rel=1e-12)
    assert motion.impacts.impulse[0] == pytest.approx(1.5 * math.sqrt(2.0 * 9.81), rel=1e-12)


def test_the_bernstein_coefficients_enclose_the_dense_output():
    """Each basis polynomial of the dense output, x^a (1 - x)^c, from its eight coefficients."""
    x = np.linspace(0.0, 1.0, 11)
    for k in range(7):
        a, c = k // 2 + 1, (k + 1) // 2
        value = sum(math.comb(7, j) * BERNSTEIN[j, k] * x**j * (1.0 - x) ** (7 - j) for j in range(8))
        assert value == pytest.approx(x**a * (1.0 - x) ** c, abs=1e-15)


def test_every_kernel_has_been_compiled_for_one_signature_at_most():
    if numba.config.DISABLE_JIT:
        return
    simulate(heap(1), 0.5, 0.1)
    for module in KERNELS:
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"


def test_the_kernels_run_as_plain_python_with_the_same_impacts():
    program = (
        "from reference_engine import box, simulate\n"
        "from tests.reference_engine.planar.worlds import dropped\n"
        "print(len(simulate(dropped(box(1.0, 1.0), restitution=0.3), 1.2, 0.6).impacts.time))"
    )
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=plain, capture_output=True, text=True, check=True
    )
    compiled = simulate(dropped(box(1.0, 1.0), restitution=0.3), 1.2, 0.6)
    assert int(done.stdout) == len(compiled.impacts.time)


def test_an_outline_about_its_corner_falls_as_the_same_about_its_centre_of_mass():
    """The pose is that of the centre of mass: the frame of the edges does not matter."""
    corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    edges = [Edge(start=p, end=q) for p, q in zip(corners, (*corners[1:], corners[0]))]
    shapes = Outline(edges, centre_of_mass=(0.5, 0.5)), box(1.0, 1.0)
    bodies = [Body(shape=shape, inertia=1.0, position=(0.0, 1.5), angle=0.3) for shape in shapes]
    one, other = (simulate(World(bodies=(ground(), body)), 1.0, 0.25) for body in bodies)
    assert one.pose[-1] == pytest.approx(other.pose[-1], abs=1e-11)


def test_the_slope_of_the_dense_output_is_its_derivative():
    """Four-point differences of a polynomial of degree 7 leave h^4 of its fifth derivative: 1e-8 of the values."""
    value, slope = (getattr(kernel, "py_func", kernel) for kernel in (dense_value, dense_slope))
    F, y, h = np.array([[1.0, -2.0, 0.5, 3.0, -1.0, 2.0, 0.7]]).T, np.array([0.3]), 1e-3
    for x in (0.0, 0.2, 0.5, 1.0):
        near, far = (value(y, F, x + k * h, 0) - value(y, F, x - k * h, 0) for k in (1, 2))
        assert slope(F, x, 0) == pytest.approx((8.0 * near - far) / (12.0 * h), abs=1e-8)
