"""The stack stands: above every face, the common centre of mass lies over the overlap of the two boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue.stack import CANONICAL, SIGMA, stack


def clearances(scenario) -> np.ndarray:
    """(faces, horizontal axes) m: from the centre of mass of all boxes above a face to the nearest edge of support."""
    boxes = [body for body in scenario.scene.bodies if not body.fixed]
    x = np.array([body.position[:-1] for body in boxes])
    m = np.array([body.mass for body in boxes])
    found = []
    for i in range(len(boxes)):
        above = (m[i:, None] * x[i:]).sum(axis=0) / m[i:].sum()
        below = x[i - 1] if i else x[0]  # the ground is wider than the box
        low, high = np.maximum(x[i], below) - 0.5, np.minimum(x[i], below) + 0.5
        found.append(np.minimum(above - low, high - above))
    return np.array(found)


@given(
    n=st.integers(2, 100),
    log_ratio=st.floats(-4.0, 4.0),
    seed=st.integers(0, 2**31 - 1),
    space=st.sampled_from(["planar", "spatial"]),
)
def test_any_stack_of_the_family_stands(n, log_ratio, seed, space):
    scenario = stack(n=n, mass_ratio=10.0**log_ratio, seed=seed, space=space)
    assert clearances(scenario).min() > 0.4


def test_the_boxes_touch_and_their_shifts_are_a_thousandth_of_the_width():
    scenario = stack(n=20)
    x, y = np.array([body.position for body in scenario.scene.bodies]).T
    assert y.tolist() == [i + 0.5 for i in range(20)]
    assert x.tolist() == (np.random.default_rng(1).normal(0.0, SIGMA, (2, 20))[0]).tolist()
    assert 0.3 * SIGMA < np.std(x) < 3.0 * SIGMA


@pytest.mark.parametrize(("n", "ratio"), [(3, 1000.0), (10, 10.0), (20, 1.0)])
def test_masses_grow_geometrically_from_one_kilogram_to_the_ratio(n, ratio):
    m = np.array([body.mass for body in stack(n=n, mass_ratio=ratio).scene.bodies])
    assert m[0] == 1.0 and m[-1] == pytest.approx(ratio, rel=1e-14)
    assert m[1:] / m[:-1] == pytest.approx(np.full(n - 1, ratio ** (1.0 / (n - 1))), rel=1e-13)


def test_a_stack_in_space_stands_where_the_planar_one_stands():
    planar, spatial = stack(n=5), stack(n=5, space="spatial", ground="box")
    for a, b in zip(planar.scene.bodies, spatial.scene.bodies):
        assert a.position == (b.position[0], b.position[2])
    assert spatial.scene.bodies[-1].fixed and spatial.scene.bodies[-1].name == "ground"


def test_the_suite_has_every_height_with_equal_masses_and_with_a_thousandfold_top():
    """With friction, and for the reference engine without."""
    shown = {(given.get("n", 10), given.get("mass_ratio", 1.0), given.get("friction", 0.5)) for given in CANONICAL}
    assert {(n, ratio, 0.5) for n in (3, 5, 10, 20) for ratio in (1.0, 1000.0)} <= shown
    assert {(n, 1.0, 0.0) for n in (3, 5, 10, 20)} <= shown
    assert {ratio for _, ratio, friction in shown if friction == 0.0} == {1.0, 10.0, 100.0, 1000.0}
