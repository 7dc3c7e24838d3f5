"""Depth of points in bodies with circular edges, and of such bodies in one another."""

import math

import numpy as np
import pytest

from reference_engine import Body, Bowl, Disc, Edge, HalfPlane, Outline, box
from reference_engine.geometry.outline_gap import deepest, heights
from reference_engine.planar.simulate import boundary_of

TIP = math.sqrt(1.0 - 0.36)


def lens() -> Outline:
    """Shared by two unit discs about (0, +-0.6)."""
    below = Edge(start=(-TIP, 0.0), end=(TIP, 0.0), centre=(0.0, 0.6))
    return Outline([below, Edge(start=(TIP, 0.0), end=(-TIP, 0.0), centre=(0.0, -0.6))])


def crescent() -> Outline:
    """The lower half of the unit disc without the disc of radius 1.25 about (0, 0.75)."""
    outer = Edge(start=(-1.0, 0.0), end=(1.0, 0.0), centre=(0.0, 0.0))
    return Outline([outer, Edge(start=(1.0, 0.0), end=(-1.0, 0.0), centre=(0.0, 0.75), clockwise=True)])


def segment_area(radius: float, half: float) -> float:
    return radius**2 * (half - math.sin(half) * math.cos(half))


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (lens(), 2.0 * segment_area(1.0, math.asin(TIP))),
        (crescent(), math.pi / 2.0 - segment_area(1.25, math.asin(0.8))),
        (Outline([Edge(start=(0.7, 0.2), end=(0.7, 0.2), centre=(0.2, 0.2))]), math.pi * 0.25),
    ],
    ids=["lens", "crescent", "circle"],
)
def test_the_points_inside_make_up_the_area(shape, area):
    """A grid of 400 x 400 squares: the error is that of the squares on the boundary."""
    line = (np.arange(400) + 0.5) / 200.0 - 1.0
    x, y = np.meshgrid(1.1 * line, 1.1 * line)
    inside = heights(boundary_of(Body(shape=shape, inertia=1.0)), np.stack([x.ravel(), y.ravel()], axis=1))[0] < 0.0
    assert inside.mean() * 2.2**2 == pytest.approx(area, abs=2e-3)


def test_the_depth_of_a_point_is_its_distance_from_the_nearest_edge():
    boundary = boundary_of(Body(shape=crescent(), inertia=1.0))
    points = np.array([[0.0, -0.9], [0.0, -0.6], [0.0, 0.0], [2.0, 0.0], [0.0, -3.0]])
    assert -heights(boundary, points)[0] == pytest.approx([0.1, 0.1, -0.5, -1.0, -2.0], abs=1e-15)


@pytest.mark.parametrize("overlap", [1e-9, 1e-3])
@pytest.mark.parametrize("turn", np.linspace(0.0, 6.0, 5))
def test_a_shallow_overlap_is_found_to_round_off(overlap, turn):
    """A lens, its lower arc foremost, against what it may meet; both turned and moved together."""
    lowest = 0.4 - overlap
    cup = Outline([Edge(start=(2.0, 0.0), end=(-2.0, 0.0), centre=(0.0, 0.0), clockwise=True),
                   Edge(start=(-2.0, 0.0), end=(2.0, 0.0), centre=(0.0, -1.0))])  # fmt: skip
    cases = [
        (HalfPlane(), (0.0, -lowest), 0.0),
        (box(3.0, 1.0), (0.1, -lowest - 0.5), 0.0),
        (box(1.0, 1.0), (0.0, -lowest - math.sqrt(0.5)), math.pi / 4.0),
        (Disc(0.3), (0.0, -lowest - 0.3), 1.0),
        (lens(), (0.0, -lowest - 0.4), 0.0),
        (Bowl(2.0), (0.0, 2.0 - lowest), 0.0),
        (cup, (0.0, 2.0 - lowest), 0.0),
    ]
    own = boundary_of(Body(shape=lens(), inertia=1.0))
    c, s = math.cos(turn), math.sin(turn)
    for shape, (x, y), angle in cases:
        fixed = isinstance(shape, HalfPlane | Bowl)
        other = boundary_of(Body(shape=shape, fixed=True) if fixed else Body(shape=shape, inertia=1.0))
        pose = np.array([[5.0, -3.0, turn]])
        there = np.array([[5.0 + c * x - s * y, -3.0 + s * x + c * y, angle + turn]])
        assert deepest(own, other, pose, there) == pytest.approx([overlap], abs=1e-14), shape
        away = there + 2.0 * overlap * np.array([[s, -c, 0.0]])
        assert deepest(own, other, pose, away) == pytest.approx([0.0], abs=1e-14), shape
