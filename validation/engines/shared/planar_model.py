"""A planar scene as a world of the reference engine's library, for the engines that are made of it."""

import math

import numpy as np

import reference_engine as library
from reference_engine import WorldError, elementary
from reference_engine.elementary import squared
from reference_engine.planar_model.connectors import POINTS, Connector
from scenarios import mass
from scenarios.boundaries import Bowl, PlanarBoundary
from scenarios.joints import Prismatic, Revolute, Rod, Track
from scenarios.scene import PlanarScene, inertias
from scenarios.shapes import ArcPolygon, Disc, PlanarShape, Polygon

Point = tuple[float, float]

JOINED = 1e-9  # m, of 1 + the extent of the scene: how far the ends of a joint may be apart at the start


def world_of(scene: PlanarScene) -> library.World:
    """Bodies, then boundaries, in the scene's order. Raises WorldError for what cannot be simulated."""
    inertia = inertias(scene)
    bodies = []
    for i, body in enumerate(scene.bodies):
        own = {} if body.fixed else {"mass": float(body.mass or math.nan), "inertia": float(inertia[i])}
        bodies.append(
            library.Body(
                shape=shape_of(body.shape),
                position=body.position,
                angle=body.angle,
                velocity=body.velocity,
                spin=body.spin,
                fixed=body.fixed,
                group=body.group,
                name=body.name,
                **own,
            )
        )
    bodies += [boundary_body(boundary) for boundary in scene.boundaries]
    members = (*scene.bodies, *scene.boundaries)
    law = np.array([[scene.pair_law(a, b) for b in members] for a in members])
    np.fill_diagonal(law[..., 1], 0.0)  # of ropes at the body: they do not bounce
    connectors, passing = joints_of(scene)
    return library.World(
        bodies=tuple(bodies),
        gravity=scene.gravity,
        damping=scene.damping.linear,
        rotational_damping=scene.damping.angular,
        quadratic_damping=scene.damping.quadratic,
        friction=law[..., 0],
        restitution=law[..., 1],
        forces=tuple(forces_of(scene)),
        connectors=tuple(connectors),
        passing=tuple(passing),
    )


def shape_of(shape: PlanarShape) -> library.Disc | library.Outline:
    if isinstance(shape, Disc):
        return library.Disc(shape.radius)
    if isinstance(shape, Polygon):
        return library.polygon_outline(shape.vertices)
    assert isinstance(shape, ArcPolygon), "declined before"
    ends = zip(shape.vertices, (*shape.vertices[1:], shape.vertices[0]), shape.bulges)
    return library.Outline([arc(start, end, bulge) for start, end, bulge in ends])


def arc(start: Point, end: Point, bulge: float) -> library.Edge:
    """A bulge b = tan(angle / 4) over a chord c: its centre is c (1 - b^2) / (4 b) left of the chord's middle."""
    if bulge == 0.0:
        return library.Edge(start=start, end=end)
    along, aside = end[0] - start[0], end[1] - start[1]
    far = (1.0 - squared(bulge)) / (4.0 * bulge)
    centre = 0.5 * (start[0] + end[0]) - far * aside, 0.5 * (start[1] + end[1]) + far * along
    return library.Edge(start=start, end=end, centre=centre, clockwise=bulge < 0.0)


def boundary_body(boundary: PlanarBoundary) -> library.Body:
    if isinstance(boundary, Bowl):
        return library.Body(
            shape=library.Bowl(boundary.radius), position=boundary.center, fixed=True, name=boundary.name
        )
    angle = elementary.atan2(-boundary.normal[0], boundary.normal[1])
    return library.Body(shape=library.HalfPlane(), position=boundary.point, angle=angle, fixed=True, name=boundary.name)


def joints_of(scene: PlanarScene) -> tuple[list[Connector], list[tuple[int, int]]]:
    """Connectors, and the pairs of bodies that they let pass. Raises WorldError where one is open at the start."""
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
    extent = 1.0 + max(math.hypot(*body.position) for body in scene.bodies)
    connectors: list[Connector] = []
    passing = []
    for joint in scene.joints:
        a, b = index[joint.a], index[joint.b]
        if isinstance(joint, Track):
            off = float(joint.curve.nearest(np.array([world_point(scene, a, joint.anchor_a)]))[1][0])
            if off > JOINED * extent:
                raise WorldError(f"joint {joint.name!r}: its anchor is {off:.3g} m from the track; move it there")
            path = library.Path(joint.curve.at(np.linspace(0.0, joint.curve.length, POINTS))[0])
            connectors.append(library.PathJoint(body=a, point=joint.anchor_a, path=path))
            continue
        ends = [world_point(scene, i, p) for i, p in ((a, joint.anchor_a), (b, joint.anchor_b))]
        apart = math.dist(*ends)
        if isinstance(joint, Revolute):
            length, is_open = 0.0, apart > JOINED * extent
            connectors += [
                library.Joint(first=a, second=b, first_point=joint.anchor_a, second_point=joint.anchor_b, normal=normal)
                for normal in ((1.0, 0.0), (0.0, 1.0))
            ]
        elif isinstance(joint, Prismatic):
            found, apart = slide(scene, joint, a, b, ends)
            length, is_open = 0.0, apart > JOINED * extent
            connectors += found
        else:
            length, is_rod = joint.length, isinstance(joint, Rod)
            is_open = abs(apart - length) > JOINED * extent if is_rod else apart > length + JOINED * extent
            connectors.append(
                library.Rope(
                    first=a,
                    second=b,
                    first_point=joint.anchor_a,
                    second_point=joint.anchor_b,
                    length=length,
                    rod=is_rod,
                )
            )
        if is_open:
            allowed = f"at most {length:g} m" if joint.kind == "rope" else f"{length:g} m"
            raise WorldError(f"joint {joint.name!r}: its ends are {apart:.9g} m apart at the start; allowed: {allowed}")
        if b >= 0 and not joint.collide:
            passing.append((a, b))
    return connectors, passing


def slide(scene: PlanarScene, joint: Prismatic, a: int, b: int, ends: list[Point]) -> tuple[list[library.Joint], float]:
    """Two points of b on one line of a, which keeps the angle too; and how far off it b's anchor is at the start, m."""
    ux, uy = (part / math.hypot(*joint.axis) for part in joint.axis)
    turned = scene.bodies[a].angle
    ahead = turn((ux, uy), turned)  # in the world
    off = ahead[0] * (ends[1][1] - ends[0][1]) - ahead[1] * (ends[1][0] - ends[0][0])
    span = max(mass.bounding_radius(scene.bodies[i].shape) for i in (a, b) if i >= 0)
    along = turn((span * ux, span * uy), turned - (scene.bodies[b].angle if b >= 0 else 0.0))
    points = (joint.anchor_b, (joint.anchor_b[0] + along[0], joint.anchor_b[1] + along[1]))
    return [
        library.Joint(first=b, second=a, first_point=point, second_point=joint.anchor_a, normal=(0.0 - uy, ux))
        for point in points
    ], abs(off)


def turn(vector: Point, angle: float) -> Point:
    s, c = elementary.sine_cosine(angle)
    return c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]


def world_point(scene: PlanarScene, body: int, point: Point) -> Point:
    """Where a point of a body is at the start; -1 is the world. [m]"""
    if body < 0:
        return point
    (x, y), (dx, dy) = scene.bodies[body].position, turn(point, scene.bodies[body].angle)
    return x + dx, y + dy


def forces_of(scene: PlanarScene) -> list[library.Spring | library.Thruster]:
    index = {None: -1} | {body.name: i for i, body in enumerate(scene.bodies)}
    forces: list[library.Spring | library.Thruster] = []
    for spring in scene.springs:
        ends = [(index[spring.a], in_plane(spring.anchor_a)), (index[spring.b], in_plane(spring.anchor_b))]
        if spring.anchor_path:  # the engine moves a first end
            ends.reverse()
        (first, first_point), (second, second_point) = ends
        forces.append(
            library.Spring(
                first=first,
                second=second,
                first_point=first_point,
                second_point=second_point,
                length=spring.rest_length,
                stiffness=spring.stiffness,
                damping=spring.damping,
                pulls_only=spring.tension_only,
                first_path=tuple((time, in_plane(point)) for time, point in spring.anchor_path or ()),
            )
        )
    for thruster in scene.thrusters:
        body = index[thruster.body]
        point, force = in_plane(thruster.anchor), in_plane(thruster.force)
        forces.append(library.Thruster(body=body, point=point, force=force, profile=thruster.profile))
    return forces


def in_plane(vector: tuple[float, ...]) -> Point:
    """A scene checks the length of its vectors; their type does not say it."""
    return vector[0], vector[1]
