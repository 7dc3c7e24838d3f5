"""Similar scenes: turned, mirrored, moved, in other units of length, time and mass, seen from a moving frame.

The laws of mechanics are the same in all of them (Noether 1918; Bridgman 1922), so a motion of one is a motion of the
other, changed likewise. Of a body at x, which moves at v,

    x' = s + l M x + c t',   v' = l / t M v + c,   R' = M R F,   m' = m_0 m

M is orthogonal, F = 1, or, where M mirrors, diag(-1, 1, ...): then the body's own frame is mirrored, too. All world
axes, SI.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul
from reference_engine.elementary import atan2, sine_cosine
from reference_engine.rotation import matrices, product
from scenarios.scene import Scene, parse_scene, write_scene

Data = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """What a scene of D dimensions is changed by."""

    turn: Array
    """Of the rotation R in M = R F: its angle, (), rad, in the plane; its unit quaternion, (4,), in space."""
    matrix: Array  # (D, D), M
    mirrors: bool = False
    shift: Array  # (D,) m, s
    boost: Array  # (D,) m/s, c
    length: float = 1.0  # l: how many times as long
    time: float = 1.0  # t
    mass: float = 1.0  # m_0

    @property
    def speed(self) -> float:
        return self.length / self.time


def similarity(
    dimension: int,
    *,
    turn: Sequence[float] = (),
    mirrors: bool = False,
    shift: Sequence[float] = (),
    boost: Sequence[float] = (),
    length: float = 1.0,
    time: float = 1.0,
    mass: float = 1.0,
) -> Similarity:
    """`turn`: a quaternion w-x-y-z, whose angle counts in the plane, about the axis that leaves it."""
    w, x, y, z = turn or (1.0, 0.0, 0.0, 0.0)
    if dimension == 2:
        about: Array = np.array(2.0 * atan2(z, w))
        s, c = sine_cosine(float(about))
        R = np.array(((c, -s), (s, c)))
    else:
        about = np.array((w, x, y, z))
        R = matrices(about)
    F = np.diag([-1.0, *np.ones(dimension - 1)]) if mirrors else np.eye(dimension)
    zero = np.zeros(dimension)
    return Similarity(
        turn=about,
        matrix=mul(R, F),
        mirrors=mirrors,
        shift=np.array(shift[:dimension]) if shift else zero,
        boost=np.array(boost[:dimension]) if boost else zero,
        length=length,
        time=time,
        mass=mass,
    )


def similar(scene: Scene, by: Similarity) -> Scene:
    """The changed scene. A boost does not move what is fixed: it is for scenes in which nothing is. Raises SceneError
    where a number leaves its range.
    """
    data: Data = json.loads(write_scene(scene, indent=None))
    k, t, m = by.length, by.time, by.mass
    data["duration"] *= t
    data["gravity"] = (k / t**2 * mul(by.matrix, np.array(data["gravity"]))).tolist()
    data["bodies"] = [_body(body, by) for body in data["bodies"]]
    data["boundaries"] = [_boundary(one, by) for one in data["boundaries"]]
    data["joints"] = [_joint(joint, by) for joint in data["joints"]]
    data["springs"] = [_spring(spring, by) for spring in data["springs"]]
    data["thrusters"] = [_thruster(one, by) for one in data["thrusters"]]
    _scale(data["damping"], {"linear": m / t, "angular": m * k**2 / t, "quadratic": m / k})
    if law := data["contact"].get("compliant"):
        law["most_damping"] *= t / k
        for material in law["materials"]:
            material["young_modulus"] *= m / (k * t**2)
        for pair in law["pairs"]:
            _scale(pair, {"v_small": k / t, "w_small": 1.0 / t})
    return parse_scene(data)


# --- states ---------------------------------------------------------------------------------------------------------


def spins(by: Similarity, spin: Array) -> Array:
    """(...) in the plane, (..., 3) in space: rad/s, a pseudovector."""
    sign = -1.0 if by.mirrors else 1.0
    if by.matrix.shape == (2, 2):
        return sign / by.time * spin
    return sign / by.time * np.einsum("ij,...j->...i", by.matrix, spin)


def orientations(by: Similarity, orientation: Array) -> Array:
    """(...) rad in the plane, (..., 4) unit quaternions in space."""
    if by.matrix.shape == (2, 2):
        return np.asarray(by.turn - orientation if by.mirrors else by.turn + orientation)
    own = orientation * np.array((1.0, 1.0, -1.0, -1.0)) if by.mirrors else orientation
    return product(np.broadcast_to(by.turn, own.shape), own)


def vectors(by: Similarity, vector: Array, scale: float = 1.0) -> Array:
    """(..., D) times M and a scale."""
    return scale * np.einsum("ij,...j->...i", by.matrix, vector)


def points(by: Similarity, point: Array, time: Array) -> Array:
    """(S, B, D) m, at the changed times (S,), s."""
    moved: Array = by.shift + vectors(by, point, by.length) + by.boost * time[:, None, None]
    return moved


def inverse(by: Similarity) -> Similarity:
    """What takes the changed scene back: M^T = R^T, or F R^T = (F R^T F) F where it mirrors."""
    if by.matrix.shape == (2, 2):
        turn = by.turn if by.mirrors else -by.turn
    else:
        turn = by.turn * np.array((1.0, -1.0, 1.0, 1.0) if by.mirrors else (1.0, -1.0, -1.0, -1.0))
    back = Similarity(
        turn=turn,
        matrix=by.matrix.T,
        mirrors=by.mirrors,
        shift=by.shift,
        boost=by.boost,
        length=1.0 / by.length,
        time=1.0 / by.time,
        mass=1.0 / by.mass,
    )
    return replace(back, shift=vectors(back, by.shift, -back.length), boost=vectors(back, by.boost, -back.speed))


# --- what a scene is made of ----------------------------------------------------------------------------------------


def _point(point: Sequence[float], by: Similarity) -> list[float]:
    """Of the world."""
    found: list[float] = (by.shift + vectors(by, np.array(point), by.length)).tolist()
    return found


def _own(vector: Sequence[float], by: Similarity, scale: float) -> list[float]:
    """In the frame of a body."""
    first, *others = vector
    return [-scale * first if by.mirrors else scale * first, *(scale * part for part in others)]


def _scale(data: Data, factors: Mapping[str, float]) -> None:
    """Fields that are there and given."""
    for field, factor in factors.items():
        value = data.get(field)
        if value is not None:
            data[field] = (np.array(value) * factor).tolist() if isinstance(value, list) else value * factor


def _body(body: Data, by: Similarity) -> Data:
    found = body | {"position": _point(body["position"], by), "shape": _shape(body["shape"], by)}
    if not body["fixed"]:
        found["velocity"] = (by.boost + vectors(by, np.array(body["velocity"]), by.speed)).tolist()
        found["spin"] = spins(by, np.array(body["spin"])).tolist()
    if body.get("motion") is not None:
        found["motion"] = _given_motion(body["motion"], by)
    field = "angle" if "angle" in body else "orientation"
    found[field] = orientations(by, np.array(body[field])).tolist()
    _scale(
        found, {"mass": by.mass, "inertia": by.mass * by.length**2, "contact_radius": by.length, "margin": by.length}
    )
    if "frame" in found:
        found["frame"] = _pose_in_body(found["frame"], by)
    return found


def _given_motion(motion: Data, by: Similarity) -> Data:
    found = dict(motion)
    found["velocity"] = (by.boost + vectors(by, np.array(motion["velocity"]), by.speed)).tolist()
    found["acceleration"] = vectors(by, np.array(motion["acceleration"]), by.speed / by.time).tolist()
    found["amplitude"] = vectors(by, np.array(motion["amplitude"]), by.length).tolist()
    found["spin"] = spins(by, np.array(motion["spin"])).tolist()
    if motion.get("knots"):
        rates = vectors(by, np.array([knot[1:] for knot in motion["knots"]]), by.speed).tolist()
        found["knots"] = [[knot[0] * by.time, *rate] for knot, rate in zip(motion["knots"], rates)]
    _scale(found, {"frequency": 1.0 / by.time})
    return found


def _pose_in_body(pose: Data, by: Similarity) -> Data:
    """Of a piece, or of the frame that the body was given in; seen in a mirror both are mirrored, too."""
    found = pose | {"position": _own(pose["position"], by, by.length)}
    if by.mirrors and "angle" in pose:
        found["angle"] = -pose["angle"]
    if by.mirrors and "orientation" in pose:
        w, x, y, z = pose["orientation"]
        found["orientation"] = [w, x, -y, -z]
    return found


def _piece(piece: Data, by: Similarity) -> Data:
    found = _pose_in_body(piece, by) | {"shape": _shape(piece["shape"], by)}
    _scale(found, {"density": by.mass / by.length ** len(piece["position"])})
    return found


def _shape(shape: Data, by: Similarity) -> Data:
    found = dict(shape)
    if "pieces" in found:
        found["pieces"] = [_piece(piece, by) for piece in found["pieces"]]
    _scale(found, dict.fromkeys(("radius", "length", "size", "semi_axes"), by.length))
    for field in ("vertices", "points"):
        if field in found:
            found[field] = [_own(point, by, by.length) for point in found[field]]
    if by.mirrors and "vertices" in found:  # counter-clockwise again
        found["vertices"] = found["vertices"][::-1]
        if "bulges" in found:  # of the edge from a vertex to the next
            found["bulges"] = [*found["bulges"][-2::-1], found["bulges"][-1]]
    return found


def _boundary(boundary: Data, by: Similarity) -> Data:
    found = dict(boundary)
    for field in ("point", "center"):
        if field in found:
            found[field] = _point(found[field], by)
    if "normal" in found:
        found["normal"] = vectors(by, np.array(found["normal"])).tolist()
    _scale(found, {"radius": by.length, "margin": by.length})
    return found


def _joint(joint: Data, by: Similarity) -> Data:
    found = joint | {"anchor_a": _own(joint["anchor_a"], by, by.length)}
    if "anchor_b" in joint:
        found["anchor_b"] = _end(joint["anchor_b"], joint.get("b"), by)
    if "axis" in joint:
        found["axis"] = _own(joint["axis"], by, 1.0)
    if joint["kind"] == "track":
        found["points"] = [_point(point, by) for point in joint["points"]]
        found["bulges"] = [-bulge if by.mirrors else bulge for bulge in joint["bulges"]]
    _scale(found, {"length": by.length})
    return _driven(found, by) if joint["kind"] in ("hinge", "slider") else found


def _driven(joint: Data, by: Similarity) -> Data:
    """What acts along a hinge or slider. Seen in a mirror a turn goes the other way: so does the axis it is about."""
    hinge = joint["kind"] == "hinge"
    acts = [name for name in ("spring", "damping", "friction", "limits", "motor", "start") if name in joint]
    if acts and hinge and by.mirrors:
        joint["axis"] = [-x for x in joint["axis"]]
    way = 1.0 if hinge else by.length
    force = by.mass * by.length * by.length / (by.time * by.time * way)  # by which N m or N are multiplied
    _scale(joint, {"start": way, "damping": force * by.time / way, "friction": force})
    for name, factors in (
        ("spring", {"stiffness": force / way, "rest": way}),
        ("limits", {"low": way, "high": way}),
        ("motor", {"stiffness": force / way, "damping": force * by.time / way, "most": force}),
    ):
        if joint.get(name):
            joint[name] = dict(joint[name])
            _scale(joint[name], factors)
    if motor := joint.get("motor"):
        size = {"position-motor": way, "velocity-motor": way / by.time, "force-motor": force}[motor["kind"]]
        motor["target"] = [[by.time * time, size * value] for time, value in motor["target"]]
    return joint


def _end(anchor: Sequence[float], body: str | None, by: Similarity) -> list[float]:
    return _point(anchor, by) if body is None else _own(anchor, by, by.length)


def _spring(spring: Data, by: Similarity) -> Data:
    found = spring | {
        "anchor_a": _own(spring["anchor_a"], by, by.length),
        "anchor_b": _end(spring["anchor_b"], spring["b"], by),
    }
    if "anchor_path" in spring:
        found["anchor_path"] = [[by.time * time, _point(point, by)] for time, point in spring["anchor_path"]]
    _scale(found, {"stiffness": by.mass / by.time**2, "rest_length": by.length, "damping": by.mass / by.time})
    return found


def _thruster(thruster: Data, by: Similarity) -> Data:
    return thruster | {
        "anchor": _own(thruster["anchor"], by, by.length),
        "force": _own(thruster["force"], by, by.mass * by.length / by.time**2),
        "profile": [[by.time * time, factor] for time, factor in thruster["profile"]],
    }
