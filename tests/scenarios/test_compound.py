"""Compounds and bodies in frames of their own: moved when a scene is built, to where their mass is.

The independent way: points spread over each shape by chance, which know no formula of mass, centre or moments; and the
motion of material points, which is the same in either frame.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from scenarios import mass
from scenarios.catalogue import FAMILIES, comparison_suite
from scenarios.scene import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Disc,
    Ellipsoid,
    Hinge,
    PlanarBody,
    PlanarCompound,
    PlanarPiece,
    PlanarScene,
    Polygon,
    Revolute,
    SpatialBody,
    SpatialCompound,
    SpatialPiece,
    SpatialScene,
    Sphere,
    Spring,
    Thruster,
    content_hash,
    parse_scene,
    write_scene,
)
from scenarios.scene_error import SceneError
from tests.effort import tries

RECORDED: dict[str, str] = json.loads((Path(__file__).parents[1] / "data" / "catalogue_hashes.json").read_text())
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
POINTS = 200_000


def test_every_scene_of_the_catalogue_has_the_hash_that_it_had_before_there_were_compounds():
    suite = comparison_suite() + [family.scenario() for family in FAMILIES.values() if not family.canonical]
    found = {s.label: content_hash(s.scene) for s in suite}
    assert len(RECORDED) == 184
    assert {label: found.get(label) for label in RECORDED} == RECORDED


# --- frames -----------------------------------------------------------------------------------------------


def quaternion(turn: Any) -> tuple[float, ...]:
    x, y, z, w = Rotation.from_rotvec(turn).as_quat().tolist()
    return w, x, y, z


def rotation(q: Any) -> Rotation:
    w, x, y, z = q
    return Rotation.from_quat([x, y, z, w])


numbers = st.floats(-2.0, 2.0)
vectors = st.tuples(numbers, numbers, numbers)
sizes = st.floats(0.1, 2.0)
TETRAHEDRON = ConvexMesh(points=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)))
shapes = st.one_of(
    st.builds(Sphere, radius=sizes),
    st.builds(Box, size=st.tuples(sizes, sizes, sizes)),
    st.builds(Capsule, radius=sizes, length=sizes),
    st.builds(Cylinder, radius=sizes, length=sizes),
    st.builds(Ellipsoid, semi_axes=st.tuples(sizes, sizes, sizes)),
    st.just(TETRAHEDRON),
)
pieces = st.builds(
    SpatialPiece, shape=shapes, position=vectors, orientation=vectors.map(quaternion), density=st.floats(0.5, 5.0)
)
compounds = st.lists(pieces, min_size=1, max_size=4).map(lambda found: SpatialCompound(pieces=tuple(found)))


def spread(shape: Any, random: np.random.Generator) -> np.ndarray:
    """(N, 3) points, even over a shape in its own frame: those of a box around it that are inside."""
    match shape.kind:
        case "box":
            return random.uniform(-0.5, 0.5, (POINTS, 3)) * shape.size
        case "sphere" | "ellipsoid":
            axes = np.full(3, shape.radius) if shape.kind == "sphere" else np.array(shape.semi_axes)
            points = random.uniform(-1.0, 1.0, (2 * POINTS, 3))
            return points[(points * points).sum(axis=1) < 1.0] * axes
        case "capsule" | "cylinder":
            r, h = shape.radius, 0.5 * shape.length
            top = h + r if shape.kind == "capsule" else h
            points = random.uniform(-1.0, 1.0, (2 * POINTS, 3)) * (r, r, top)
            across, beyond = np.hypot(points[:, 0], points[:, 1]), np.maximum(np.abs(points[:, 2]) - h, 0.0)
            return points[across**2 + beyond**2 < r * r]
    share = random.exponential(size=(POINTS, 4))  # of a tetrahedron
    return share / share.sum(axis=1, keepdims=True) @ np.array(shape.points)


VOLUME = {
    "box": lambda s: np.prod(s.size),
    "sphere": lambda s: 4 / 3 * np.pi * s.radius**3,
    "ellipsoid": lambda s: 4 / 3 * np.pi * np.prod(s.semi_axes),
    "capsule": lambda s: np.pi * s.radius**2 * (s.length + 4 / 3 * s.radius),
    "cylinder": lambda s: np.pi * s.radius**2 * s.length,
    "convex-mesh": lambda s: 1.0,  # the tetrahedron: 1 * 2 * 3 / 6
}


@settings(max_examples=tries(20))
@given(shape=compounds, seed=st.integers(0, 2**32 - 1))
def test_mass_centre_and_moments_of_a_compound_are_those_of_its_points(shape, seed):
    random = np.random.default_rng(seed)
    scene = SpatialScene(duration=1.0, bodies=(SpatialBody(name="a", shape=shape),))
    (body,) = scene.bodies
    weights, clouds = [], []
    for piece in body.shape.pieces:  # where the scene has moved them
        cloud = rotation(piece.orientation).apply(spread(piece.shape, random)) + piece.position
        clouds.append(cloud)
        weights.append(np.full(len(cloud), piece.density * VOLUME[piece.shape.kind](piece.shape) / len(cloud)))
    m, r = np.concatenate(weights), np.concatenate(clouds)
    extent = np.linalg.norm(r, axis=1).max()
    assert body.mass == pytest.approx(m.sum(), rel=1e-12)
    assert np.linalg.norm(m @ r) / m.sum() < 0.01 * extent  # its centre is the origin
    second = np.einsum("n,ni,nj->ij", m, r, r)
    inertia = np.trace(second) * np.eye(3) - second
    assert np.abs(inertia - np.diag(body.inertia)).max() < 0.01 * m.sum() * extent**2
    assert extent <= mass.bounding_radius(body.shape) * (1 + 1e-12)


@settings(max_examples=tries(30))
@given(shape=compounds, x=vectors, turn=vectors, v=vectors, w=vectors, point=vectors)
def test_a_material_point_is_where_it_was_and_as_fast_when_its_body_is_moved_to_its_own_frame(
    shape, x, turn, v, w, point
):
    """A point fixed in the given frame, by an anchor and a force in it, in both frames; and the shape with it."""
    q = quaternion(turn)
    given_body = SpatialBody(name="a", shape=shape, mass=2.0, position=x, orientation=q, velocity=v, spin=w)
    scene = SpatialScene(
        duration=1.0,
        bodies=(given_body,),
        joints=(Hinge(name="h", a="a", anchor_a=point, anchor_b=point, axis=(0.0, 0.6, 0.8)),),
        springs=(Spring(a="a", anchor_a=point, anchor_b=(0.0, 0.0, 0.0), stiffness=1.0),),
        thrusters=(Thruster(body="a", anchor=point, force=(1.0, 2.0, 3.0)),),
    )
    (body,), R = scene.bodies, rotation(q)
    own = rotation(body.orientation)
    there = R.apply(point) + x
    speed = np.array(v) + np.cross(w, there - np.array(x))
    for anchor in (scene.joints[0].anchor_a, scene.springs[0].anchor_a, scene.thrusters[0].anchor):
        here = own.apply(anchor) + body.position
        assert here == pytest.approx(there, abs=1e-12)
        assert np.array(body.velocity) + np.cross(w, here - body.position) == pytest.approx(speed, abs=1e-12)
    assert own.apply(scene.joints[0].axis) == pytest.approx(R.apply((0.0, 0.6, 0.8)), abs=1e-12)
    assert own.apply(scene.thrusters[0].force) == pytest.approx(R.apply((1.0, 2.0, 3.0)), abs=1e-12)
    assert scene.joints[0].anchor_b == point  # of the world
    for before, after in zip(shape.pieces, body.shape.pieces):
        assert own.apply(after.position) + body.position == pytest.approx(R.apply(before.position) + x, abs=1e-12)
        turned = (own * rotation(after.orientation)).as_matrix() - (R * rotation(before.orientation)).as_matrix()
        assert np.abs(turned).max() < 1e-12
    if body.frame is not None:  # it says where the given frame is
        assert own.apply(body.frame.position) + body.position == pytest.approx(np.array(x), abs=1e-12)
        assert np.abs((own * rotation(body.frame.orientation)).as_matrix() - R.as_matrix()).max() < 1e-12


@settings(max_examples=tries(30))
@given(shape=compounds)
def test_a_moved_scene_is_read_back_to_the_last_bit_and_is_not_moved_again(shape):
    scene = SpatialScene(duration=1.0, bodies=(SpatialBody(name="a", shape=shape, mass=1.0),))
    again = parse_scene(json.loads(write_scene(scene)))
    assert again == scene and content_hash(again) == content_hash(scene) and scene.format == 2
    rebuilt = SpatialScene(duration=1.0, bodies=scene.bodies)
    assert rebuilt == scene


def test_a_polygon_drawn_from_its_corner_is_moved_with_its_velocity_and_pin():
    """A unit square about its corner: the centre at (1/2, 1/2), in a frame turned by a quarter turn."""
    body = PlanarBody(
        name="a", shape=Polygon(vertices=SQUARE), mass=3.0, position=(1.0, 2.0), angle=np.pi / 2, spin=2.0
    )
    pin = Revolute(name="pin", a="a", anchor_a=(0.0, 0.0), anchor_b=(1.0, 2.0))
    scene = PlanarScene(duration=1.0, bodies=(body,), joints=(pin,))
    (moved,) = scene.bodies
    assert moved.position == pytest.approx((0.5, 2.5), abs=1e-15)
    assert moved.velocity == pytest.approx((-1.0, -1.0), abs=1e-15)  # w x r of r = (-1/2, 1/2)
    assert scene.joints[0].anchor_a == pytest.approx((-0.5, -0.5), abs=1e-15)
    assert moved.inertia == pytest.approx(3.0 / 6.0, rel=1e-14)
    assert moved.frame is not None and moved.frame.position == pytest.approx((-0.5, -0.5), abs=1e-15)
    assert scene.format == 2


def test_a_cube_whose_corners_start_at_the_origin_loads_and_is_not_turned():
    corners = tuple((float(i), float(j), float(k)) for i in (0, 1) for j in (0, 1) for k in (0, 1))
    (body,) = SpatialScene(
        duration=1.0, bodies=(SpatialBody(name="a", shape=ConvexMesh(points=corners), mass=6.0),)
    ).bodies
    assert body.position == pytest.approx((0.5, 0.5, 0.5), abs=1e-15)
    assert body.orientation == (1.0, 0.0, 0.0, 0.0)
    assert body.inertia == pytest.approx((1.0, 1.0, 1.0), rel=1e-14)


def test_a_stated_centre_of_mass_is_where_the_body_turns():
    """A ball with its weight off its centre: its shape is moved the other way."""
    ball = SpatialBody(
        name="a", shape=Sphere(radius=1.0), mass=1.0, inertia=(0.3, 0.3, 0.3), center_of_mass=(0.0, 0.0, -0.25)
    )
    (body,) = SpatialScene(duration=1.0, bodies=(ball,)).bodies
    assert body.position == (0.0, 0.0, -0.25) and body.center_of_mass is None
    assert body.shape == SpatialCompound(pieces=(SpatialPiece(shape=Sphere(radius=1.0), position=(0.0, 0.0, 0.25)),))


def test_the_pieces_of_an_l_have_the_mass_and_moment_of_the_l():
    """Two rectangles side by side are the concave polygon that they make."""
    whole = Polygon(vertices=((0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)))
    parts = PlanarCompound(
        pieces=(
            PlanarPiece(shape=Polygon(vertices=((0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (0.0, 1.0)))),
            PlanarPiece(shape=Polygon(vertices=SQUARE), position=(0.0, 1.0)),
        )
    )
    made = [
        PlanarScene(duration=1.0, bodies=(PlanarBody(name="a", shape=shape, mass=2.0),)).bodies[0]
        for shape in (whole, parts)
    ]
    assert made[0].position == pytest.approx(made[1].position, rel=1e-14)
    assert made[0].shape.kind == "polygon"
    found = [2.0 * mass.planar_mass(body.shape).inertia for body in made]
    assert found[0] == pytest.approx(found[1], rel=1e-13) == made[1].inertia


def test_densities_weigh_the_pieces_and_a_stated_mass_scales_them():
    disc = Disc(radius=1.0)
    heavy = PlanarCompound(
        pieces=(PlanarPiece(shape=disc, density=3.0), PlanarPiece(shape=disc, position=(4.0, 0.0), density=1.0))
    )
    for given_mass, expected in ((None, 4.0 * np.pi), (8.0, 8.0)):
        body = PlanarBody(name="a", shape=heavy, mass=given_mass)
        (made,) = PlanarScene(duration=1.0, bodies=(body,)).bodies
        assert made.mass == pytest.approx(expected, rel=1e-15)
        assert made.position == pytest.approx((1.0, 0.0), abs=1e-15)
        assert made.inertia == pytest.approx(expected * (0.5 + 0.75 * 1.0 + 0.25 * 9.0), rel=1e-14)


SPHERE = {"kind": "sphere", "radius": 1.0}
FAULTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no mass": ({"mass": None}, ("bodies[0].mass", "missing", "positive mass")),
    "a compound of compounds": (
        {"shape": {"kind": "compound", "pieces": [{"shape": {"kind": "compound", "pieces": []}}]}},
        ("bodies[0].shape.pieces[0].shape.kind", "'compound'", "'sphere'"),
    ),
    "no pieces": ({"shape": {"kind": "compound", "pieces": []}}, ("bodies[0].shape.pieces", "0 entries", "at least 1")),
    "a piece that is no rotation": (
        {"shape": {"kind": "compound", "pieces": [{"shape": SPHERE, "orientation": [1, 1, 0, 0]}]}},
        ("bodies[0].shape.pieces[0].orientation", "1.41421356", "unit quaternion"),
    ),
    "a centre without inertia": ({"center_of_mass": [0, 0, 1]}, ("bodies[0].inertia", "missing", "center_of_mass")),
    "a frame by hand": ({"frame": {"position": [0, 0, 1]}}, ("bodies[0].frame", "leave it out")),
    "a centre of what is fixed": (
        {"fixed": True, "mass": None, "center_of_mass": [0, 0, 1]},
        ("bodies[0].center_of_mass", "fixed", "leave it out"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_compound_gives_one_line(fault):
    more, words = FAULTS[fault]
    piece = {"shape": {"kind": "sphere", "radius": 1.0}, "position": [1, 0, 0]}
    body = {"name": "a", "shape": {"kind": "compound", "pieces": [piece]}, "mass": 1.0} | more
    ball = {"name": "b", "shape": {"kind": "sphere", "radius": 1.0}, "mass": 1.0}
    with pytest.raises(SceneError) as caught:
        parse_scene({"dimension": 3, "duration": 1.0, "bodies": [body, ball]})
    line = str(caught.value)
    assert "\n" not in line and [word for word in words if word not in line] == [], line


def test_compliant_contact_asks_for_bodies_of_one_piece():
    steel = [{"name": "steel", "young_modulus": 2e11, "poisson_ratio": 0.29}]
    law = {"a": "steel", "b": "steel", "restitution": 0.5, "sliding_friction": 0.0}
    shape = {"kind": "compound", "pieces": [{"shape": {"kind": "sphere", "radius": 1.0}}]}
    body = {"name": "a", "shape": shape, "mass": 1.0, "material": "steel"}
    scene = {"dimension": 3, "duration": 1.0, "bodies": [body]}
    with pytest.raises(SceneError, match=r"bodies\[0\].shape.kind: 'compound' given beside contact.compliant"):
        parse_scene(scene | {"contact": {"compliant": {"materials": steel, "pairs": [law]}}})
