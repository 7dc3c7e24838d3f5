"""A scene is data: JSON both ways to the last bit, an identity that depends on nothing but its content."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scenarios.scene import (
    MAX_BODIES,
    Ball,
    Bowl,
    Box,
    Capsule,
    ContactLaw,
    ConvexMesh,
    Cylinder,
    Damping,
    Disc,
    Ellipsoid,
    HalfPlane,
    HalfSpace,
    Hinge,
    HollowSphere,
    PairLaw,
    PlanarBody,
    PlanarScene,
    Polygon,
    Revolute,
    Rope,
    Scene,
    SpatialBody,
    SpatialScene,
    Sphere,
    Spring,
    Thruster,
    colliding_pairs,
    content_hash,
    features,
    inertias,
    masses,
    parse_scene,
    planar_start,
    read_scene,
    spatial_start,
    write_scene,
)
from scenarios.scene_error import SceneError

SQUARE = Polygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
numbers = st.floats(-1e6, 1e6)  # -0.0 and subnormal numbers among them
sizes = st.floats(1e-6, 1e6)
laws = {"friction": st.floats(0, 1e3), "restitution": st.floats(0, 1)}


def pairs(n: int) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[numbers] * n)


def bodies(model, shape, **more):
    return st.builds(model, name=st.just("a"), shape=shape, mass=st.floats(1e-9, 1e12), **laws, **more)


planar_shapes = st.builds(Disc, radius=sizes) | st.builds(
    lambda a, b: Polygon(vertices=((-a, -b), (a, -b), (a, b), (-a, b))), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)
)
spatial_shapes = st.one_of(
    st.builds(Sphere, radius=sizes),
    st.builds(Box, size=st.tuples(sizes, sizes, sizes)),
    st.builds(Capsule, radius=sizes, length=sizes),
    st.builds(Cylinder, radius=sizes, length=sizes),
    st.builds(Ellipsoid, semi_axes=st.tuples(sizes, sizes, sizes)),
)
planar_scenes = st.builds(
    PlanarScene,
    duration=st.floats(1e-3, 1e4),
    gravity=pairs(2),
    bodies=st.tuples(
        bodies(PlanarBody, planar_shapes, position=pairs(2), angle=numbers, velocity=pairs(2), spin=numbers)
    ),
    boundaries=st.tuples(st.builds(Bowl, name=st.just("bowl"), radius=sizes, center=pairs(2))),
    damping=st.builds(Damping, linear=st.floats(0, 1e3), angular=st.floats(0, 1e3)),
)
spatial_scenes = st.builds(
    SpatialScene,
    duration=st.floats(1e-3, 1e4),
    gravity=pairs(3),
    bodies=st.tuples(bodies(SpatialBody, spatial_shapes, position=pairs(3), velocity=pairs(3), spin=pairs(3))),
)


@given(scene=planar_scenes | spatial_scenes)
def test_json_to_scene_to_json_keeps_every_bit(scene: Scene):
    text = write_scene(scene)
    again = parse_scene(json.loads(text))
    assert write_scene(again) == text
    assert again == scene
    assert content_hash(again) == content_hash(scene)
    for before, after in zip(start(scene), start(again)):
        assert before.tobytes() == after.tobytes()


def start(scene: Scene) -> tuple[np.ndarray, ...]:
    return planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)


def everything() -> PlanarScene:
    """A planar scene with a joint, forces and a pair law of its own."""
    return PlanarScene(
        title="everything",
        duration=2.0,
        bodies=(
            PlanarBody(name="a", shape=SQUARE, mass=2.0, position=(0.0, 0.5), friction=0.4, restitution=0.2),
            PlanarBody(name="b", shape=Disc(radius=0.5), mass=3.0, position=(2.0, 0.5), friction=0.9),
            PlanarBody(name="wall", shape=SQUARE, fixed=True, position=(5.0, 0.5), restitution=0.6),
        ),
        boundaries=(HalfPlane(name="ground", friction=0.9),),
        joints=(
            Revolute(name="pin", a="a", b="b", anchor_a=(1.0, 0.0), anchor_b=(-1.0, 0.0)),
            Rope(name="rope", a="b", anchor_a=(0.0, 0.0), anchor_b=(2.0, 3.0), length=4.0),
        ),
        springs=(Spring(a="a", anchor_a=(0.0, 0.0), anchor_b=(0.0, 2.0), stiffness=5.0, tension_only=True),),
        thrusters=(Thruster(body="b", anchor=(0.0, 0.0), force=(1.0, 0.0), profile=((0.0, 0.0), (1.0, 1.0))),),
        contact=ContactLaw(pairs=(PairLaw(a="b", b="wall", friction=0.0),)),
    )


def test_a_scene_file_read_back_is_the_scene(tmp_path):
    file = tmp_path / "scene.json"
    file.write_text(write_scene(everything()))
    assert read_scene(file) == everything()


def test_joints_and_meshes_in_space_survive_json_too():
    tetrahedron = ConvexMesh(points=((1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)))
    scene = SpatialScene(
        duration=1.0,
        bodies=(
            SpatialBody(name="a", shape=tetrahedron, mass=1.0),
            SpatialBody(name="b", shape=Sphere(radius=1.0), mass=1.0, position=(3.0, 0.0, 0.0)),
        ),
        boundaries=(HalfSpace(name="ground", point=(0.0, 0.0, -2.0)), HollowSphere(name="shell", radius=9.0)),
        joints=(
            Ball(name="ball", a="a", b="b", anchor_a=(1.5, 0.0, 0.0), anchor_b=(-1.5, 0.0, 0.0)),
            Hinge(name="hinge", a="a", anchor_a=(0.0, 0.0, 0.0), anchor_b=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        ),
    )
    assert parse_scene(json.loads(write_scene(scene))) == scene


def test_a_scene_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        everything().duration = 3.0  # type: ignore[misc]  # that it is frozen is the point


def test_the_content_hash_sees_one_bit_but_not_the_title():
    scene = everything()
    assert content_hash(scene) == content_hash(scene.model_copy(update={"title": "another"}))
    nudged = scene.model_copy(update={"duration": math.nextafter(scene.duration, 9.0)})
    assert content_hash(nudged) != content_hash(scene)


def test_the_content_hash_is_pinned():
    """Stored results hang on it: a change of the format or of a default is a change of every scene's identity."""
    scene = PlanarScene(duration=1.0, bodies=(PlanarBody(name="a", shape=Disc(radius=0.5), mass=1.0),))
    assert content_hash(scene) == "6bf9c10f827d9f09eee728e98989777cae29b34732f52584c711feecee4ab99c"


def test_pair_laws_follow_the_rule_unless_the_pair_has_its_own():
    """Friction by geometric mean, restitution by the larger; the law of a named pair wins over both."""
    scene = everything()
    a, b, wall = scene.bodies
    assert scene.pair_law(a, scene.boundaries[0]) == (pytest.approx(0.6), 0.2)
    assert scene.pair_law(a, wall) == (0.0, 0.6)
    assert scene.pair_law(b, wall) == scene.pair_law(wall, b) == (0.0, 0.6)


@pytest.mark.parametrize(
    ("rule", "friction"), [("geometric-mean", 0.6), ("product", 0.36), ("mean", 0.65), ("min", 0.4), ("max", 0.9)]
)
def test_each_combination_rule_is_what_its_name_says(rule, friction):
    scene = everything().model_copy(update={"contact": ContactLaw(friction_rule=rule)})
    assert scene.pair_law(scene.bodies[0], scene.bodies[1])[0] == pytest.approx(friction, rel=1e-15)


def test_joined_immovable_and_grouped_bodies_do_not_collide():
    scene = everything()
    assert colliding_pairs(scene) == [("a", "wall"), ("a", "ground"), ("b", "wall"), ("b", "ground")]
    loose = scene.model_copy(update={"joints": (scene.joints[0].model_copy(update={"collide": True}),)})
    assert ("a", "b") in colliding_pairs(loose)
    grouped = scene.model_copy(update={"bodies": tuple(b.model_copy(update={"group": 7}) for b in scene.bodies)})
    assert colliding_pairs(grouped) == [("a", "ground"), ("b", "ground")]


def test_features_name_what_an_engine_has_to_represent():
    assert features(everything()) == {
        *("planar", "polygon", "disc", "half-plane", "revolute", "rope"),
        *("friction", "restitution", "springs", "thrusters"),
    }
    dent = Polygon(vertices=((-2.0, -1.0), (2.0, -1.0), (2.0, 1.0), (0.0, 0.0), (-2.0, 1.0)))
    concave = PlanarBody(name="a", shape=dent, mass=1.0, inertia=1.0, group=1)
    scene = PlanarScene(duration=1.0, bodies=(concave,), damping=Damping(linear=0.1))
    assert features(scene) == {"planar", "polygon", "concave-polygon", "damping", "groups"}


def test_masses_and_moments_follow_from_uniform_density():
    """Disc m r^2 / 2, rectangle m (a^2 + b^2) / 12, box m (b^2 + c^2) / 12 and so on; fixed bodies are infinite."""
    scene = everything()
    assert masses(scene).tolist() == [2.0, 3.0, math.inf]
    assert inertias(scene) == pytest.approx([2.0 * 2.0 / 12.0, 3.0 * 0.25 / 2.0, math.inf], rel=1e-14)
    box = SpatialBody(name="box", shape=Box(size=(1.0, 2.0, 3.0)), mass=6.0)
    own = SpatialBody(name="own", shape=Sphere(radius=1.0), mass=1.0, inertia=(1.0, 2.0, 3.0))
    found = inertias(SpatialScene(duration=1.0, bodies=(box, own)))
    assert found == pytest.approx(np.array([[6.5, 5.0, 2.5], [1.0, 2.0, 3.0]]), rel=1e-14)


def test_one_is_the_same_number_as_one_point_nought():
    scene = json.loads(write_scene(everything()))
    scene["duration"] = 2
    assert content_hash(parse_scene(scene)) == content_hash(everything())


def test_too_many_bodies_are_refused_before_any_is_checked() -> None:
    """None of these is a body."""
    data = {"dimension": 2, "duration": 1.0, "bodies": [None] * (MAX_BODIES + 1)}
    with pytest.raises(SceneError, match=rf"^mine: bodies: {MAX_BODIES + 1} entries; allowed: at most {MAX_BODIES}$"):
        parse_scene(data, where="mine")
