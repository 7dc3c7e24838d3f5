"""Motions of rigid bodies in space with contact, solved to 1e-10, followed again by the reference engine.

    python -P ci/benchmarks/space_truths.py [DIR]

DIR [data/space beside this file] holds JSON files: bodies (box, sphere, cylinder, points), gravity, a plane, friction
and restitution, a ball joint, and `expected` poses, velocities and events.

Asked is: the same events in the same order, each of its kind; their times, and poses and velocities at all times,
within 10 times the file's `tolerance` times the amplification; of velocities none within 1 ms of an impact. The
amplification is how much further apart two motions get that begin 1e-8 apart, from 1 to 1e4. A case that the engine
declines is a miss. Prints hit or miss; exits 1 on a miss, 2 where there is nothing to follow.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.geometry.spatial_shapes import Box, Cylinder, HalfSpace, Sphere
from reference_engine.rotation import exponential, product
from reference_engine.spatial.motion import SpatialMotion
from reference_engine.spatial.simulate import simulate_spatial
from reference_engine.spatial.world import BallJoint, Points, Shape, SpatialBody, SpatialWorld

sys.path.append(str(Path(__file__).parent))
from recorded_cases import Case, CaseError, Compared, Comparison, compare, numbers, section, solve_folder

OWN = Path(__file__).parent / "data" / "space"
SLACK = 10.0  # times the tolerance of a file
MOVED, MOST = 1e-8, 1e4  # by how much a start is moved; the most that amplification excuses
BRIEF = 1e-6  # s, in which a body shows whether it falls freely
BESIDE = 1e-3  # s: velocities so near an impact mean nothing
TOGETHER = 1e-6  # s: events of one body so close are one
EVENT_KINDS: Mapping[str, tuple[str, ...]] = {
    "impact": ("impact", "contact"), "land": ("impact", "contact"), "collision": ("impact", "contact"),
    "roll": ("stick",), "rest": ("stick",), "stop": ("stick",), "stick": ("stick",),
    "tip": ("release",), "release": ("release",), "lift": ("release",), "leave": ("release",),
    "slip": ("slip",), "slide": ("slip",),
}  # fmt: skip
"""Of a word in an event's kind, the first that is there: what our events are called."""


def shape_of(given: Case, where: str) -> Shape:
    match given.get("kind"):
        case "box":
            return Box(tuple(0.5 * numbers(given, "size", (3,), where)))
        case "sphere":
            return Sphere(float(numbers(given, "radius", (), where)))
        case "cylinder" if given.get("axis", "z") == "z":
            return Cylinder(
                float(numbers(given, "radius", (), where)), 0.5 * float(numbers(given, "height", (), where))
            )
        case "points":
            return Points(numbers(given, "points", None, where))
    raise CaseError(f"{where}{given}: known are box, sphere, cylinder about z, points")


def body_of(given: Case, where: str) -> SpatialBody:
    moving: dict[str, Any] = {}
    if not given.get("fixed"):
        moving = {
            "mass": float(numbers(given, "mass", (), where)),
            "inertia": numbers(given, "inertia", (3,), where),
            "velocity": numbers(given, "velocity", (3,), where),
            "spin": numbers(given, "angular_velocity_world", (3,), where),
        }
    q = numbers(given, "quaternion", (4,), where)
    return SpatialBody(
        shape=shape_of(section(given, "shape"), f"{where}shape."),
        position=numbers(given, "position", (3,), where),
        orientation=q / np.linalg.norm(q),
        **moving,
    )


def world_of(data: Case) -> tuple[SpatialWorld, Array | None]:
    """The world of a file, and the normal of its plane."""
    bodies = [body_of(given, f"bodies[{i}].") for i, given in enumerate(data.get("bodies", ()))]
    normal = None
    if data.get("plane"):
        normal = numbers(data["plane"], "normal", (3,), "plane.")
        offset = float(numbers(data["plane"], "offset", (), "plane."))
        bodies.append(SpatialBody(shape=HalfSpace(tuple(offset * normal), tuple(normal))))
    joints = ()
    if data.get("joint"):
        joint = data["joint"]
        if joint.get("kind") != "ball":
            raise CaseError(f"joint.kind: {joint.get('kind')!r}; known is ball")
        anchors = {
            "anchor": numbers(joint, "anchor_body", (3,), "joint."),
            "other_anchor": numbers(joint, "anchor_world", (3,), "joint."),
        }
        joints = (BallJoint(body=int(joint.get("body", 0)), **anchors),)
    contact = section(data, "contact")
    world = SpatialWorld(
        bodies=tuple(bodies),
        joints=joints,
        gravity=numbers(data, "gravity", (3,), ""),
        friction=float(numbers(contact, "friction", (), "contact.")),
        restitution=float(numbers(contact, "restitution", (), "contact.")),
    )
    return world, normal


def moved(world: SpatialWorld, along: Array | None) -> SpatialWorld:
    """Each body begins elsewhere by MOVED; along a plane, and turned about its normal, where it may lie on it."""
    random = np.random.default_rng(7)
    bodies = []
    for body in world.bodies:
        if body.fixed or world.joints:
            shift, turn = np.zeros(3), np.zeros(3)
        elif along is None:
            shift, turn = random.normal(size=3), random.normal(size=3)
        else:
            shift, turn = np.cross(along, random.normal(size=3)), along * random.normal()
        faster = np.zeros(3) if body.fixed else np.cross(random.normal(size=3), along if along is not None else shift)
        size = max(float(np.linalg.norm(shift)), float(np.linalg.norm(faster)), 1e-300)
        bodies.append(
            replace(
                body,
                position=np.asarray(body.position) + MOVED / size * shift,
                orientation=product(exponential(MOVED / size * turn[None])[0], np.asarray(body.orientation)),
                velocity=np.asarray(body.velocity) + MOVED / size * faster,
            )
        )
    return replace(world, bodies=tuple(bodies))


def amplification(world: SpatialWorld, times: Array, motion: SpatialMotion, normal: Array | None) -> float:
    """From 1 to MOST, of the motion by the motion of the world moved."""
    try:
        other = simulate_spatial(moved(world, normal if in_contact(world) else None), times)
    except (ArithmeticError, RuntimeError, ValueError):
        return 1.0
    apart = np.abs(other.position - motion.position).max()
    sign = np.sign(np.einsum("sbi,sbi->sb", other.orientation, motion.orientation))[..., None]
    apart = max(apart, 2.0 * np.abs(sign * other.orientation - motion.orientation).max())
    return float(np.clip(apart / MOVED, 1.0, MOST))


def in_contact(world: SpatialWorld) -> bool:
    """Whether a body does not begin to fall freely: it lies on something, or hangs."""
    start = simulate_spatial(world, np.array([0.0, BRIEF]))
    free = BRIEF * (start.velocity[0] + 0.5 * BRIEF * np.asarray(world.gravity))
    off = np.abs(start.position[1] - start.position[0] - free).max(axis=1)
    return any(way > 1e-14 for way, body in zip(off, world.bodies) if not body.fixed)


def kinds_of(kind: str) -> tuple[str, ...]:
    for begins, ours in EVENT_KINDS.items():
        if begins in kind.lower():
            return ours
    raise CaseError(f"events: kind {kind!r} is none that is known here; known words: {', '.join(EVENT_KINDS)}")


def ours_of(motion: SpatialMotion) -> list[tuple[float, set[str], Array]]:
    """Time, kinds and a point of events; those at the same time are one."""
    found: list[tuple[float, set[str], Array]] = []
    for event in motion.events:
        if found and event.time - found[-1][0] <= TOGETHER:
            found[-1][1].add(event.kind)
        else:
            found.append((event.time, {event.kind}, event.point))
    return found


def comparisons(data: Case) -> Mapping[str, Comparison]:
    return {"space": lambda: compared(data)}


def compared(data: Case) -> Iterator[Compared | str]:
    expected = section(data, "expected")
    world, normal = world_of(data)
    given = numbers(expected, "times", None, "expected.")
    ends = [float(event["time"]) for event in expected.get("events", ())]
    times = np.unique(np.concatenate([[0.0], given, [end + BESIDE for end in ends]]))
    motion = simulate_spatial(world, times)
    gain = amplification(world, times, motion, normal)
    limit = SLACK * float(data.get("tolerance", 1e-10)) * gain
    yield f"amplification {gain:.3g}; {motion.steps} steps"
    yield from events_compared(expected.get("events", []), motion, limit)
    count = len(data["bodies"])
    rows = np.searchsorted(times, given)
    here = {
        "position": motion.position, "quaternion": motion.orientation, "velocity": motion.velocity,
        "angular_velocity": motion.spin,
    }  # fmt: skip
    clear = np.array([all(abs(time - end) > BESIDE for end in ends) for time in given])
    for name, ours in here.items():
        if name in expected:
            wanted = np.array(expected[name], np.float64).reshape(len(given), count, -1)
            have = ours[rows, :count]
            if name == "quaternion":
                wanted = wanted / np.linalg.norm(wanted, axis=-1, keepdims=True)
                have = have * np.sign(np.einsum("sbi,sbi->sb", have, wanted))[..., None]
            use = clear if "velocity" in name else np.ones(len(given), bool)
            scale = np.maximum(1.0, np.abs(wanted[use]))
            yield compare(name, wanted[use], have[use], scale, limit)


def events_compared(expected: list[Case], motion: SpatialMotion, limit: float) -> Iterator[Compared]:
    ours = ours_of(motion)
    for k, event in enumerate(expected):
        what = f"event {k + 1}, {event.get('kind')}"[:26]
        if k >= len(ours):
            yield Compared(what, float("nan"), limit, "there is none here")
            continue
        time, kinds, point = ours[k]
        if not kinds & set(kinds_of(str(event.get("kind")))):
            yield Compared(what, float("nan"), limit, f"here {', '.join(sorted(kinds))} at {time:.9g} s")
            continue
        yield compare(what, event["time"], time, max(1.0, abs(time)), limit)
        if event.get("point") is not None and kinds & {"impact", "contact"}:
            yield compare(f"event {k + 1}, point", event["point"], point, 1.0, limit)
    last = max((float(event["time"]) for event in expected), default=0.0) + BESIDE
    for time, kinds, _ in ours[len(expected) :]:
        if not expected or time <= last:
            yield Compared("another event", float("nan"), limit, f"here {', '.join(sorted(kinds))} at {time:.9g} s")


if __name__ == "__main__":
    sys.exit(solve_folder(sys.argv[1:], "space_truths.py [DIR]", comparisons, OWN))
