"""Bodies in the frames that people give them in, and in those that a scene has: at the centre of mass, principal axes.

A polygon, a mesh or a compound stands in its body's frame where its user put it. If its centre of mass is not the
origin, or the axes are not the principal ones, the scene moves the frame there when it is built, with everything that
is given in it: shape, anchors of joints and springs, thrusters. Position and orientation follow, and the velocity,
which is that of the frame's origin. The body's `frame` then says where the given frame is in its own. A body whose
inertia is stated without a `center_of_mass` is in its own frame already.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import ValidationError

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross, determinant, eigh, mul, norm
from scenarios import mass
from scenarios.shapes import PlanarCompound, PlanarPiece, SpatialCompound, SpatialPiece

TOLERANCE = 1e-9  # of the shape's size: a centre of mass so near to the origin is there, and of the moments
CENTRED = frozenset({"disc", "sphere", "box", "capsule", "cylinder", "ellipsoid"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """From the frame in which a body is given to its own, with the inertia of a unit mass there."""

    centre: Array  # (D,) m, of mass, in the given frame
    axes: Array  # (D, D), columns: the body's own axes in the given frame
    inertia: Any  # m^2 in the plane, (3,) m^2 in space, about the centre of mass
    shifts: bool  # whether the centre of mass is elsewhere than the origin
    turns: bool

    def point(self, point: tuple[float, ...]) -> tuple[float, ...]:
        """Of the given frame, in the body's own."""
        return self.vector(tuple(x - c for x, c in zip(point, self.centre.tolist())) if self.shifts else point)

    def vector(self, vector: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(mul(np.array(vector), self.axes).tolist()) if self.turns else tuple(vector)


def move_of(body: Any) -> Move | None:
    """What has to be done to a body that is given in another frame than its own, or whose mass is that of its pieces;
    None where nothing has."""
    if body.fixed:
        return None
    D = len(body.position)
    if body.center_of_mass is not None:
        centre = np.array(body.center_of_mass)
        shifts = norm(centre) > TOLERANCE * mass.bounding_radius(body.shape)
        return Move(centre=centre, axes=np.eye(D), inertia=body.inertia, shifts=shifts, turns=False)
    if body.inertia is not None or body.shape.kind in CENTRED:
        return None
    uniform = _uniform(body.shape)
    shifts = norm(uniform.centroid) > TOLERANCE * mass.bounding_radius(body.shape)
    inertia, axes, turns = uniform.inertia, np.eye(D), False
    if D == 3:
        tensor, inertia = inertia, np.diag(inertia)
        turns = float(np.max(np.abs(tensor - np.diag(inertia)))) > TOLERANCE * float(np.trace(tensor))
        if turns:
            inertia, axes = principal_axes(tensor)
    if not (shifts or turns or body.shape.kind == "compound"):
        return None
    return Move(centre=uniform.centroid, axes=axes, inertia=inertia, shifts=shifts, turns=turns)


@lru_cache(maxsize=256)
def _uniform(shape: Any) -> Any:
    """Many bodies of a scene, and of its variants, have the same shape."""
    return mass.UNIFORM[shape.kind](shape)


def principal_axes(tensor: Array) -> tuple[Array, Array]:
    """Moments (3,) of an inertia (3, 3), and the principal axes in columns: those that turn the frame the least."""
    moments, vectors = eigh(tensor)
    orders = ((list(order), signs) for order in itertools.permutations(range(3))
              for signs in itertools.product((1.0, -1.0), repeat=3))  # fmt: skip
    turned = [(vectors[:, order] * np.array(signs), moments[order]) for order, signs in orders]
    axes, values = max((one for one in turned if determinant(one[0]) > 0.0), key=lambda one: float(np.trace(one[0])))
    return values, axes


def quaternion_of(R: Array) -> tuple[float, float, float, float]:
    """w-x-y-z of a rotation matrix (Shepperd 1978)."""
    squares = [1.0 + R[0, 0] + R[1, 1] + R[2, 2], *(1.0 + 2.0 * R[i, i] - float(np.trace(R)) for i in range(3))]
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array((squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))
    else:
        i, j, m = (k - 1, k % 3, (k + 1) % 3)
        q = np.zeros(4)
        q[0], q[k] = R[m, j] - R[j, m], squares[k]
        q[1 + j], q[1 + m] = R[j, i] + R[i, j], R[m, i] + R[i, m]
    w, x, y, z = (q / norm(q)).tolist()
    return w, x, y, z


def quaternion_product(p: Any, q: Any) -> tuple[float, float, float, float]:
    """p q of quaternions w-x-y-z, of unit length: first the turn q, then p."""
    (a, b, c, d), (w, x, y, z) = p, q
    found = np.array(
        (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
    )
    w, x, y, z = (found / norm(found)).tolist()
    return w, x, y, z


# --- bodies -------------------------------------------------------------------------------------------


def moved_body(body: Any, move: Move) -> Any:
    """The body in its own frame, with mass and inertia stated."""
    total = mass.density_mass(body.shape) if body.mass is None else body.mass
    unit = 1.0 if body.inertia is not None else total
    planar = len(body.position) == 2
    given: dict[str, Any] = {
        "mass": total,
        "inertia": unit * move.inertia if planar else tuple((unit * np.array(move.inertia)).tolist()),
        "center_of_mass": None,
        "shape": _moved_shape(body.shape, move),
    }
    if planar:
        s, c = elementary.sine_cosine(body.angle)
        arm = mul(np.array(((c, -s), (s, c))), move.centre)
        swing = body.spin * np.array((-arm[1], arm[0]))
    else:
        arm = mul(mass.rotation_matrix(body.orientation), move.centre)
        swing = cross(np.array(body.spin), arm)
    if move.shifts:
        given["position"] = tuple((np.array(body.position) + arm).tolist())
        given["velocity"] = tuple((np.array(body.velocity) + swing).tolist())
    if move.turns:
        given["orientation"] = quaternion_product(body.orientation, quaternion_of(move.axes))
    if move.shifts or move.turns:
        given["frame"] = _given_frame(move, planar=planar)
    return type(body).model_validate({**dict(body), **given})


def _given_frame(move: Move, *, planar: bool) -> dict[str, Any]:
    origin = move.point((0.0,) * len(move.centre))
    return {"position": origin} if planar else {"position": origin, "orientation": quaternion_of(move.axes.T)}


def _moved_shape(shape: Any, move: Move) -> Any:
    if not (move.shifts or move.turns):
        return shape
    planar = len(move.centre) == 2
    match shape.kind:
        case "polygon" | "arc-polygon":
            return type(shape).model_validate(
                {**dict(shape), "vertices": tuple(move.point(vertex) for vertex in shape.vertices)}
            )
        case "convex-mesh":
            return type(shape)(points=tuple(move.point(point) for point in shape.points))
        case "compound":
            return type(shape)(pieces=tuple(_moved_piece(piece, move) for piece in shape.pieces))
    made: Any = PlanarPiece if planar else SpatialPiece
    whole: Any = PlanarCompound if planar else SpatialCompound
    return whole(pieces=(_moved_piece(made(shape=shape), move),))


def _moved_piece(piece: Any, move: Move) -> Any:
    given: dict[str, Any] = {**dict(piece), "position": move.point(piece.position)}
    if move.turns:
        given["orientation"] = quaternion_product(quaternion_of(move.axes.T), piece.orientation)
    return type(piece).model_validate(given)


def are_moved(scene: Any) -> bool:
    """Whether some body of the scene was given in another frame than its own."""
    return any(body.frame is not None for body in scene.bodies)


# --- scenes -------------------------------------------------------------------------------------------


def moved(scene: Any) -> dict[str, Any]:
    """The fields of a scene that change when its bodies are put into their own frames: {} where all are there."""
    moves: dict[str | None, Move] = {}
    bodies: list[Any] = []
    for i, body in enumerate(scene.bodies):
        move = move_of(body)
        try:
            bodies.append(body if move is None else moved_body(body, move))
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            field = ".".join(map(str, fault["loc"]))
            raise ValueError(
                f"bodies[{i}]: in the frame of its centre of mass {field} cannot be: {fault['msg']}"
            ) from None
        if move is not None and (move.shifts or move.turns):
            moves[body.name] = move
    if all(before is after for before, after in zip(scene.bodies, bodies)):
        return {}
    fields: dict[str, Any] = {"bodies": tuple(bodies)}
    if moves:
        fields["joints"] = tuple(_moved_joint(joint, moves) for joint in scene.joints)
        fields["springs"] = tuple(_moved_ends(spring, moves) for spring in scene.springs)
        fields["thrusters"] = tuple(_moved_thruster(one, moves) for one in scene.thrusters)
    return fields


def _moved_joint(joint: Any, moves: dict[str | None, Move]) -> Any:
    found = _moved_ends(joint, moves)
    if joint.a in moves and hasattr(joint, "axis"):
        found = found.model_copy(update={"axis": moves[joint.a].vector(joint.axis)})
    return found


def _moved_ends(tie: Any, moves: dict[str | None, Move]) -> Any:
    given = {}
    for body, field in ((tie.a, "anchor_a"), (tie.b, "anchor_b")):
        if body in moves and hasattr(tie, field):
            given[field] = moves[body].point(getattr(tie, field))
    return tie.model_copy(update=given) if given else tie


def _moved_thruster(thruster: Any, moves: dict[str | None, Move]) -> Any:
    if (move := moves.get(thruster.body)) is None:
        return thruster
    return thruster.model_copy(update={"anchor": move.point(thruster.anchor), "force": move.vector(thruster.force)})
