"""Gaps, penetration, passages and pictures of compounds, against closed forms of their pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from scenarios.pieces import Pieces, planar_pieces
from scenarios.scene import (
    Box,
    ConvexMesh,
    Disc,
    HalfSpace,
    PlanarBody,
    PlanarCompound,
    PlanarPiece,
    PlanarScene,
    Polygon,
    SpatialBody,
    SpatialCompound,
    SpatialPiece,
    SpatialScene,
    Sphere,
)
from tests.effort import tries
from tests.validation.metrics.motions import G, scenario, times, values
from validation.metrics import passage
from validation.metrics.observation import Observation
from validation.metrics.proximity import pairs, proximities
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory
from validation.report.motion import outlines

numbers = st.floats(-2.0, 2.0)
vectors = st.tuples(numbers, numbers, numbers)
radii = st.floats(0.1, 1.0)


def quaternion(turn) -> tuple[float, ...]:
    x, y, z, w = Rotation.from_rotvec(turn).as_quat().tolist()
    return w, x, y, z


orientations = vectors.map(quaternion)
spheres = st.builds(SpatialPiece, shape=st.builds(Sphere, radius=radii), position=vectors, orientation=orientations)
corners = st.tuples(numbers, numbers, numbers)


def compound(pieces) -> SpatialCompound:
    return SpatialCompound(pieces=tuple(pieces))


def pair(a, b) -> SpatialScene:
    """Two bodies whose frames are those of their shapes: their inertia is stated."""
    stated = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    bodies = (SpatialBody(name="a", shape=a, **stated), SpatialBody(name="b", shape=b, **stated))
    return SpatialScene(duration=1.0, gravity=(0.0, 0.0, 0.0), bodies=bodies)


def still_pair(scene, x, q) -> Observation:
    """b at x, turned; a at the origin. Fast, so that nothing is too far to be looked at."""
    zero = np.zeros((1, 2, 3))
    position, orientation = np.zeros((1, 2, 3)), np.tile((1.0, 0.0, 0.0, 0.0), (1, 2, 1))
    position[0, 1], orientation[0, 1] = x, q
    motion = SpatialTrajectory(time=np.zeros(1), dt=1.0, velocity_lag=0.0, position=position, orientation=orientation,
                               velocity=zero + 100.0, spin=zero)  # fmt: skip
    return Observation(scenario=scenario(scene), trajectory=motion)


@settings(max_examples=tries(100))
@given(
    a=st.lists(spheres, min_size=1, max_size=4), b=st.lists(spheres, min_size=1, max_size=4), x=vectors, q=orientations
)
def test_the_gap_of_two_compounds_of_spheres_is_the_least_of_their_centres_less_radii(a, b, x, q):
    o = still_pair(pair(compound(a), compound(b)), x, q)
    R, near = Rotation.from_quat([*q[1:], q[0]]), proximities(o)
    table = [
        np.linalg.norm(R.apply(other.position) + x - np.array(one.position)) - one.shape.radius - other.shape.radius
        for one in a
        for other in b
    ]
    assert len(near) == len(table)  # a row for each pair of pieces, of bodies 0 and 1
    assert set(zip(near.a.tolist(), near.b.tolist())) == {(0, 1)}
    assert near.gap.min() == pytest.approx(min(table), abs=1e-12)
    row = int(near.gap.argmin())
    assert near.point_b[row] - near.point_a[row] == pytest.approx(near.gap[row] * near.normal[row], abs=1e-12)


def hull_distance_at_least(one: np.ndarray, other: np.ndarray, normal: np.ndarray) -> float:
    """Of two point sets along a direction from one to the other: no hull is nearer than that."""
    return float((other @ normal).min() - (one @ normal).max())


def meet(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the hulls of two point sets have a point in common: a linear programme over convex weights."""
    n, m = len(one), len(other)
    equal = np.zeros((5, n + m))
    equal[:3, :n], equal[:3, n:], equal[3, :n], equal[4, n:] = one.T, -other.T, 1.0, 1.0
    return linprog(np.zeros(n + m), A_eq=equal, b_eq=[0, 0, 0, 1, 1], bounds=(0, None)).status == 0


boxes = st.builds(SpatialPiece, shape=st.builds(Box, size=st.tuples(radii, radii, radii)), position=vectors,
                  orientation=orientations)  # fmt: skip
WEDGE = ConvexMesh(points=((3.0, 0.0, 0.0), (4.0, 0.0, 0.0), (3.0, 1.0, 0.0), (3.0, 0.0, 1.0)))  # far from its origin
wedges = st.builds(SpatialPiece, shape=st.just(WEDGE), position=vectors, orientation=orientations)


def cloud(piece: SpatialPiece) -> np.ndarray:
    if isinstance(piece.shape, Box):
        signs = np.array([(i, j, k) for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
        points = signs * piece.shape.size
    else:
        points = np.array(piece.shape.points)
    w, *v = piece.orientation
    return Rotation.from_quat([*v, w]).apply(points) + piece.position


@settings(max_examples=tries(60))
@given(
    a=st.lists(boxes | wedges, min_size=1, max_size=3), b=st.lists(boxes | wedges, min_size=1, max_size=3), x=vectors
)
def test_compounds_of_boxes_and_hulls_overlap_where_two_of_their_pieces_do_and_are_as_far_as_the_normal_shows(a, b, x):
    o = still_pair(pair(compound(a), compound(b)), x, (1.0, 0.0, 0.0, 0.0))
    near = proximities(o)
    clouds = [[cloud(piece) + shift for piece in side] for side, shift in ((a, np.zeros(3)), (b, np.array(x)))]
    overlap = any(meet(one, other) for one in clouds[0] for other in clouds[1])
    least = near.gap.min()
    if abs(least) > 1e-6:
        assert (least < 0.0) == overlap
    row = int(near.gap.argmin())
    bounds = [hull_distance_at_least(p, q, near.normal[row]) for p in clouds[0] for q in clouds[1]]
    assert max(bounds) >= least - 1e-9  # the pieces that the row is of are so far apart along its normal
    on_a, on_b = near.point_a[row], near.point_b[row]
    if least > 1e-6:
        assert any(beyond(one, on_a) < 1e-9 for one in clouds[0])
        assert any(beyond(other, on_b) < 1e-9 for other in clouds[1])


def beyond(points: np.ndarray, point: np.ndarray) -> float:
    """m, by which a point is beyond the furthest face of a hull; below 0 inside."""
    faces = ConvexHull(points).equations
    return float((faces[:, :3] @ point + faces[:, 3]).max())


def test_a_planar_compound_shows_the_contact_points_of_each_of_its_pieces():
    """Two discs and a bar on the ground: the bar's two corners and the lowest point of each disc."""
    bar = Polygon(vertices=((-1.0, -0.5), (1.0, -0.5), (1.0, 0.5), (-1.0, 0.5)))
    shape = PlanarCompound(
        pieces=(
            PlanarPiece(shape=bar),
            PlanarPiece(shape=Disc(radius=0.25), position=(-2.0, -0.25), angle=1.0),
            PlanarPiece(shape=Disc(radius=0.25), position=(2.0, -0.25)),
        )
    )
    slab = Polygon(vertices=((-9.0, -1.0), (9.0, -1.0), (9.0, 1.0), (-9.0, 1.0)))
    scene = PlanarScene(
        duration=1.0,
        bodies=(
            PlanarBody(name="cart", shape=shape, mass=1.0, inertia=1.0, position=(0.0, 0.5)),
            PlanarBody(name="slab", shape=slab, fixed=True, position=(0.0, -1.0)),
        ),
    )
    pose = np.array([[(0.0, 0.499, 0.0), (0.0, -1.0, 0.0)]])
    motion = PlanarTrajectory(time=np.zeros(1), dt=0.01, velocity_lag=0.0, pose=pose, twist=np.zeros_like(pose))
    o = Observation(scenario=scenario(scene), trajectory=motion)
    near = proximities(o)
    assert pairs(o) == [(0, 1)]
    assert sorted(near.point_a[:, 0].tolist()) == pytest.approx([-2.0, -1.0, 1.0, 2.0], abs=1e-12)
    assert near.gap == pytest.approx(-1e-3, abs=1e-12)
    lines = outlines(scene)[0]
    assert min(line[:, 1].min() for line in lines) == pytest.approx(-0.5)
    assert max(line[:, 0].max() for line in lines) == pytest.approx(2.25)
    assert [center for _, center in planar_pieces(shape)] == [(0.0, 0.0), (-2.0, -0.25), (2.0, -0.25)]


DUMBBELL = compound(
    (
        SpatialPiece(shape=Sphere(radius=0.3), position=(-1.0, 0.0, 0.0)),
        SpatialPiece(shape=Sphere(radius=0.3), position=(1.0, 0.0, 0.0)),
    )
)


def test_a_dumbbell_that_sinks_on_one_side_is_as_deep_as_that_side():
    scene = SpatialScene(
        duration=1.0, bodies=(SpatialBody(name="d", shape=DUMBBELL, mass=1.0),), boundaries=(HalfSpace(name="ground"),)
    )
    tilt = 0.1
    t = times(1.0)
    x = np.tile((0.0, 0.0, np.sin(tilt) + 0.3 - 0.01), (len(t), 1))[:, None]
    q = np.tile((np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0), (len(t), 1))[:, None]
    motion = SpatialTrajectory(
        time=t, dt=1 / 240, velocity_lag=0.0, position=x, orientation=q, velocity=0 * x, spin=0 * x
    )
    assert values(scene, motion)["penetration_max"] == pytest.approx(0.01, abs=1e-12)


def test_the_energy_of_a_dumbbell_is_that_of_its_two_balls():
    """Each ball m/2 on its circle: kinetic energy of the motion of its centre and of its own turning."""
    scene = SpatialScene(
        duration=1.0, gravity=(0.0, 0.0, -G),
        bodies=(SpatialBody(name="d", shape=DUMBBELL, mass=2.0, velocity=(1.0, 0.0, 0.0), spin=(0.0, 0.0, 3.0)),),
    )  # fmt: skip
    (body,) = scene.bodies
    own = 0.4 * 0.3**2  # of a ball of 1 kg
    assert body.inertia == pytest.approx((2 * own, 2 * (own + 1.0), 2 * (own + 1.0)), rel=1e-14)


def test_what_flies_between_the_balls_of_a_dumbbell_passes_through_nothing_and_what_hits_one_does():
    """`inside` asks every piece in its own frame."""
    points = np.array([(0.0, 0.0, 0.0), (1.0, 0.2, 0.0), (-1.2, 0.0, 0.1), (1.4, 0.0, 0.0)])
    assert passage.inside(DUMBBELL, points).tolist() == [False, True, True, False]
    turned = compound([SpatialPiece(shape=Box(size=(4.0, 0.2, 0.2)), orientation=quaternion((0.0, 0.0, np.pi / 2)))])
    assert passage.inside(turned, np.array([(0.0, 1.9, 0.0), (1.9, 0.0, 0.0)])).tolist() == [True, False]


def test_scenes_without_compounds_are_measured_at_the_poses_themselves():
    """No copy, so not a bit may differ."""
    bodies = (SpatialBody(name="a", shape=Sphere(radius=1.0), mass=1.0),)
    made = Pieces.of(bodies, [False], [], planar_ones=False)
    x, q = np.random.default_rng(1).normal(size=(5, 1, 3)), np.random.default_rng(2).normal(size=(5, 1, 4))
    assert made.spatial_poses(x, q) == (x, q) and made.spatial_poses(x, q)[0] is x
