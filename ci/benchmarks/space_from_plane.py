"""The planar engine as an independent check of the spatial one: scenes of the catalogue, followed by both.

    python -P ci/benchmarks/space_from_plane.py [NAME ...] [--rotations 3] [--limit 60] [--jobs 2]

Each planar scene is made one in space: polygons become prisms 1 m deep, halves of which mirror each other, half-planes
half-spaces, pins hinges, discs spheres with the disc's moment about the axis and, again, cylinders 1 m deep. The whole
is turned by random rotations, gravity with it; impacts are simultaneous, by Newton's law, in both. The two engines
share no gaps, no contact search and no solver of contacts.

Compared are poses at 60 samples a second, and the times of events: of impacts faster than 1 mm/s times the pace of the
scene, of slip that ends and begins, and of contacts that break, but for what goes with an impact. Up to the planar
engine's horizon (docs/judging.md): until starts that differ by 1e-6 of a body's size are 1 % of it apart; all of it
where none of these can be started, as where bodies touch. Every motion has a process of its own. Exit 1 where one is
off by more than 1e-9 m or rad, or an event by more than 1e-9 s or without its counterpart, or ends in an error or at
its limit. What has no counterpart in space is listed.
"""
# ruff: noqa: E402  where kernels are kept is said before numba is imported

import argparse
import multiprocessing
import multiprocessing.connection
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from validation.running import kernel_cache

kernel_cache.use_kernel_cache()

from reference_engine import LocatedSettings, simulate_at, simulate_spatial
from reference_engine import Settings as PlanarSettings
from reference_engine.array_types import Array
from reference_engine.errors import SpatialWorldError, UnresolvedContact, WorldError
from reference_engine.rotation import matrices, product
from scenarios import mass, shapes
from scenarios.boundaries import HalfPlane, HalfSpace
from scenarios.catalogue import canonical_suite, scenario_of
from scenarios.forces import has_applied_forces
from scenarios.joints import Hinge, Revolute
from scenarios.scene import PlanarBody, PlanarScene, SpatialBody, SpatialScene, inertias
from scenarios.similarity import similar, similarity
from validation.engines.engine import resolve_settings
from validation.engines.reference import adapter, located
from validation.engines.reference.adapter import Reference
from validation.records.trajectory import PlanarTrajectory
from validation.running.starts import horizon, perturbed

DEPTH = 1.0  # m, of a prism
RATE = 60.0  # samples a second
CLOSE, AT_ONCE = 1e-9, 1e-9  # m and rad; s
SLOW = 1e-3  # of sqrt(g size): impacts below it are the tails of accumulations, which each engine sums in its own way
STARTS = 6  # of which the horizon is that of
DISCS = ("sphere", "cylinder")
TAIL = 1e-5  # s: what contacts do so near an impact belongs to it, or to the end of an accumulation
EXTRA = ("stack:n=2", "thrown-box:speed=2,friction=0.1", "bouncing-ball:restitution=0.7")  # beside the canonical suite
KINDS = {"impact": "impact", "stick": "stick", "slip": "slip", "broken": "release"}  # of the planar engine: the other's

IMPACTS = ("impact", "contact")  # of the spatial engine: a contact is an impact that made nothing part again


class NoCounterpartError(ValueError):
    """Of what in space there is nothing like it."""


# --- scenes of this file's own ---------------------------------------------------------------------------------------


def polygon(corners: int, radius: float, first: float = 0.3) -> shapes.Polygon:
    angle = first + 2.0 * np.pi * np.arange(corners) / corners
    return shapes.Polygon(vertices=tuple((float(radius * np.cos(a)), float(radius * np.sin(a))) for a in angle))


def unit(x: float, y: float) -> tuple[float, float]:
    return x / float(np.hypot(x, y)), y / float(np.hypot(x, y))


def bar(length: float, width: float) -> shapes.Polygon:
    x, y = 0.5 * length, 0.5 * width
    return shapes.Polygon(vertices=((-x, -y), (x, -y), (x, y), (-x, y)))


def body(name: str, shape: shapes.PlanarShape, at: tuple[float, float], **more: Any) -> PlanarBody:
    return PlanarBody(name=name, shape=shape, position=at, **({} if more.get("fixed") else {"mass": 1.0}), **more)


def own_scenes() -> dict[str, PlanarScene]:
    """Of what the catalogue has no family."""
    rough, bouncy = {"friction": 0.4}, {"friction": 0.3, "restitution": 0.5}
    floor, slope = HalfPlane(name="floor", **rough), HalfPlane(name="slope", normal=unit(0.3, 1.0), **bouncy)
    pin = Revolute(name="pin", a="bar", anchor_a=(-0.5, 0.0), anchor_b=(0.0, 0.6))
    low = 0.5 * float(np.sin(0.7)) + 0.0
    wedge = shapes.Polygon(vertices=((-0.3, 0.0), (0.3, 0.0), (0.0, 0.5)))
    groove = HalfPlane(name="left", normal=unit(0.8, 1.0)), HalfPlane(name="right", normal=unit(-1.0, 1.0))
    chain = (
        Revolute(name="pin", a="first", b="second", anchor_a=(0.5, 0.0), anchor_b=(-0.5, 0.0)),
        Revolute(name="peg", a="first", anchor_a=(-0.5, 0.0), anchor_b=(-0.5, 0.8)),
    )
    second = (0.0 + 0.5 + 0.5 * float(np.cos(0.7)), 0.8 - low)
    scenes = {
        "pentagon-down-a-slope": ((body("pentagon", polygon(5, 0.3), (0.0, 0.8), **bouncy),), (slope,), (), 1.5),
        "triangle-spun": (
            (body("triangle", polygon(3, 0.4), (0.0, 1.0), velocity=(1.0, 0.0), spin=4.0, **bouncy),),
            (HalfPlane(name="floor", **bouncy),), (), 1.5,
        ),
        "disc-off-a-table": (
            (
                body("disc", shapes.Disc(radius=0.2), (-0.3, 0.2), velocity=(1.0, 0.0), spin=-5.0, **rough),
                body("table", bar(1.0, 0.5), (-0.5, -0.25), fixed=True, **rough),
            ),
            (HalfPlane(name="floor", point=(0.0, -1.5), **rough),), (), 1.5,
        ),
        "seesaw": (
            (
                body("plank", bar(2.0, 0.1), (0.05, 0.55), **rough),
                body("wedge", wedge, (0.0, 0.0), fixed=True, **rough),
                body("block", bar(0.2, 0.2), (0.8, 1.2), angle=0.2, **rough),
            ),
            (floor,), (), 1.2,
        ),
        "hinged-bar-on-a-floor": ((body("bar", bar(1.0, 0.1), (0.5, 0.6), **bouncy),), (floor,), (pin,), 1.5),
        "two-links-on-a-floor": (
            (
                body("first", bar(1.0, 0.1), (0.0, 0.8), **rough),
                body("second", bar(1.0, 0.1), second, angle=-0.7, **rough),
            ),
            (floor,), chain, 1.0,
        ),
        "disc-in-a-groove": (
            (body("disc", shapes.Disc(radius=0.2), (0.1, 0.9), restitution=0.5),),
            groove, (), 1.0,
        ),
        "wrecking-ball": (
            (
                body("ball", shapes.Disc(radius=0.15), (-1.0, 1.2), restitution=0.3),
                body("block", bar(0.3, 0.8), (0.16, 0.4), **rough),
            ),
            (floor,), (Revolute(name="rod", a="ball", anchor_a=(1.0, 0.0), anchor_b=(0.0, 1.2)),), 1.0,
        ),
    }  # fmt: skip
    return {
        name: PlanarScene(title=name, bodies=bodies, boundaries=boundaries, joints=joints, duration=duration)
        for name, (bodies, boundaries, joints, duration) in scenes.items()
    }


def scene_of(label: str) -> PlanarScene:
    own = own_scenes()
    scene = own[label] if label in own else scenario_of(label).scene
    assert isinstance(scene, PlanarScene)
    return scene


# --- scenes in space -------------------------------------------------------------------------------------------------


def in_space(scene: PlanarScene, discs: str) -> SpatialScene:
    """The scene with prisms. Raises NoCounterpartError."""
    if has_applied_forces(scene):
        raise NoCounterpartError("springs, thrusters, damping")
    if any(body.motion is not None for body in scene.bodies):
        raise NoCounterpartError("a body with given motion")
    if any(member.margin for member in (*scene.bodies, *scene.boundaries)):
        raise NoCounterpartError("a margin")
    if other := next((one.kind for one in scene.boundaries if not isinstance(one, HalfPlane)), None):
        raise NoCounterpartError(f"a {other}")
    if other := next((one.kind for one in scene.joints if not isinstance(one, Revolute)), None):
        raise NoCounterpartError(f"a {other} joint")
    moment = inertias(scene)
    bodies = []
    for i, body in enumerate(scene.bodies):
        own: dict[str, Any] = {}
        if not body.fixed:
            about = float(moment[i])
            across = float(body.mass or 0.0) * DEPTH**2 / 12.0 + 0.5 * about
            ball = body.shape.kind == "disc" and discs == "sphere"
            own = {"mass": body.mass, "inertia": (about,) * 3 if ball else (across, across, about)}
        bodies.append(
            SpatialBody(
                name=body.name, fixed=body.fixed, friction=body.friction, restitution=body.restitution,
                group=body.group, shape=shape_in_space(body.shape, discs), position=(*body.position, 0.0),
                orientation=about_z(body.angle), velocity=(*body.velocity, 0.0), spin=(0.0, 0.0, body.spin), **own,
            )
        )  # fmt: skip
    boundaries = tuple(
        HalfSpace(
            name=one.name, friction=one.friction, restitution=one.restitution,
            point=(*one.point, 0.0), normal=(*one.normal, 0.0),
        )
        for one in scene.boundaries
    )  # fmt: skip
    joints = tuple(
        Hinge(
            name=one.name, a=one.a, b=one.b, collide=one.collide,
            anchor_a=(*one.anchor_a, 0.0), anchor_b=(*one.anchor_b, 0.0), axis=(0.0, 0.0, 1.0),
        )
        for one in scene.joints
    )  # fmt: skip
    return SpatialScene(
        title=scene.title, duration=scene.duration, gravity=(*scene.gravity, 0.0), bodies=tuple(bodies),
        boundaries=boundaries, joints=joints, contact=scene.contact,
    )  # fmt: skip


def shape_in_space(shape: shapes.PlanarShape, discs: str) -> shapes.SpatialShape:
    match shape:
        case shapes.Disc():
            return shapes.Sphere(radius=shape.radius) if discs == "sphere" else cylinder_of(shape.radius)
        case shapes.Polygon():
            return prism_of(shape)
    raise NoCounterpartError(f"a {shape.kind}, which the planar engine has not, or not this one")


def cylinder_of(radius: float) -> shapes.Cylinder:
    return shapes.Cylinder(radius=radius, length=DEPTH)


def prism_of(shape: shapes.Polygon) -> shapes.ConvexMesh:
    """Raises NoCounterpartError for a concave polygon."""
    if not shape.is_convex:
        raise NoCounterpartError("a concave polygon")
    return shapes.ConvexMesh(
        points=tuple((float(x), float(y), z) for z in (-0.5 * DEPTH, 0.5 * DEPTH) for x, y in shape.vertices)
    )


def about_z(angle: float) -> tuple[float, float, float, float]:
    return (float(np.cos(0.5 * angle)), 0.0, 0.0, float(np.sin(0.5 * angle)))


def turn_of(number: int) -> tuple[float, ...]:
    """A random rotation, the same every time."""
    q = np.random.default_rng([22, number]).normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


# --- one motion ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    label: str
    discs: str  # "": the scene has none
    rotation: int

    @property
    def title(self) -> str:
        return f"{self.label} ({self.discs}s)" if self.discs else self.label


@dataclass(slots=True, kw_only=True)
class Found:
    pose: float = np.inf  # m or rad, the greatest
    event: float = np.inf  # s
    until: float = 0.0  # s, of the horizon
    events: int = 0  # compared
    seconds: float = 0.0
    first: str = ""  # that differs
    error: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def missed(self) -> bool:
        return bool(self.error) or not (self.pose <= CLOSE and self.event <= AT_ONCE)


def planar_horizon(scene: PlanarScene) -> float:
    """s: docs/judging.md; the duration where no start but its own can be simulated."""
    engine = Reference()
    settings = resolve_settings(engine, "default", {}, scene, 1.0 / RATE)
    motions: list[PlanarTrajectory] = []
    for number in range(STARTS):
        try:
            motions.append(engine.simulate(perturbed(scene, 1, number), 1.0 / RATE, settings))
        except (ArithmeticError, RuntimeError, ValueError):
            continue
    return scene.duration * horizon(scene, motions) if len(motions) >= STARTS // 2 else scene.duration


def compared(job: Job) -> Found:
    planar = scene_of(job.label)
    spatial = in_space(planar, job.discs or "sphere")
    end = planar_horizon(planar)
    grid = np.arange(int(np.floor(planar.duration * RATE + 1e-9)) + 1) / RATE
    grid = grid[grid <= end]
    truth = simulate_at(adapter.world_of(planar), grid, PlanarSettings())
    turn = turn_of(job.rotation)
    turned = similar(spatial, similarity(3, turn=turn))
    assert isinstance(turned, SpatialScene)
    began = time.perf_counter()
    motion = simulate_spatial(
        located.world_of(turned), grid, LocatedSettings(impact_law="newton", order="simultaneous")
    )  # fmt: skip
    found = Found(seconds=time.perf_counter() - began, until=end)
    count = len(planar.bodies)
    at = np.searchsorted(truth.time, grid, side="right") - 1
    pose = truth.pose[at][:, :count]
    off, apart = differences(pose, motion.position[:, :count], motion.orientation[:, :count], np.array(turn))
    found.pose = float(max(off.max(initial=0.0), apart.max(initial=0.0)))
    if found.pose > CLOSE:
        sample = int(np.argmax((np.maximum(off, apart) > CLOSE).any(axis=1)))
        found.notes.append(f"poses from {grid[sample]:.3f} s on")
    compare_events(planar, truth, motion, end, found)
    return found


def differences(pose: Array, position: Array, orientation: Array, turn: Array) -> tuple[Array, Array]:
    """(S, B) m and rad between planar poses (S, B, 3) and those of the turned scene in space."""
    flat = np.concatenate([pose[..., :2], np.zeros((*pose.shape[:2], 1))], axis=-1)
    off = np.linalg.norm(position - np.einsum("ij,sbj->sbi", matrices(turn), flat), axis=-1)
    half = 0.5 * pose[..., 2]
    own = np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)], axis=-1)
    right = product(np.broadcast_to(turn, own.shape), own)
    left = product(right * np.array((1.0, -1.0, -1.0, -1.0)), orientation)
    return off, 2.0 * np.linalg.norm(left[..., 1:], axis=-1)


def compare_events(scene: PlanarScene, truth: Any, motion: Any, end: float, found: Found) -> None:
    """Fills in `event`, `events` and `first`: what happened in one motion has happened in the other."""
    free = [body for body in scene.bodies if not body.fixed]
    size = min(mass.bounding_radius(body.shape) for body in free)
    pace = float(np.sqrt(np.linalg.norm(scene.gravity) * size)) or 1.0
    speed = {
        (t, *sorted(pair)): abs(s)
        for t, pair, s in zip(truth.impacts.time, truth.impacts.pair.tolist(), truth.impacts.speed)
    }
    bumps = [*truth.events.time[truth.events.kind == "impact"], *(e.time for e in motion.events if e.kind in IMPACTS)]

    def asked(kind: str, t: float, fast: bool) -> bool:
        """At an impact contacts also begin, break and slide: which of these is noted is each engine's own."""
        inside = 0.0 < t < end - AT_ONCE
        return inside and (fast if kind == "impact" else bool(np.abs(np.array(bumps) - t).min(initial=np.inf) > TAIL))

    made: dict[tuple[int, ...], list[float]] = {}
    for t, pair in zip(truth.events.times("made"), truth.events.pair[truth.events.kind == "made"].tolist()):
        made.setdefault(tuple(sorted(pair)), []).append(float(t))
    rows: list[list[tuple[tuple[str, int, int], float, bool]]] = [[], []]
    for t, kind, pair in zip(truth.events.time, truth.events.kind.tolist(), truth.events.pair.tolist()):
        if kind in KINDS and min(pair) >= 0:
            if kind == "broken" and any(abs(other - t) <= AT_ONCE for other in made.get(tuple(sorted(pair)), [])):
                continue  # from one feature to the next
            fast = speed.get((t, *sorted(pair)), np.inf) > SLOW * pace
            rows[0].append(((KINDS[kind], *sorted(pair)), float(t), asked(KINDS[kind], t, fast)))
    for event in motion.events:
        kind = "impact" if event.kind in IMPACTS else event.kind
        if kind in KINDS.values():
            key = (kind, *sorted((event.first, event.second)))
            rows[1].append((key, float(event.time), asked(kind, event.time, abs(event.speed) > SLOW * pace)))
    worst, first = 0.0, (np.inf, "")
    for here, there, whose in ((rows[0], rows[1], "planar"), (rows[1], rows[0], "spatial")):
        for key, t, counts in here:
            if not counts:
                continue
            off = min((abs(other - t) for one, other, _ in there if one == key), default=np.inf)
            found.events += whose == "planar"
            worst = max(worst, off)
            if off > AT_ONCE and t < first[0]:
                first = t, f"{key[0]} of {key[1]}, {key[2]} at {t:.6g} s in the {whose} motion alone"
    found.event, found.first = worst, first[1]


def work(job: Job, pipe: multiprocessing.connection.Connection) -> None:
    try:
        found = compared(job)
    except NoCounterpartError as error:
        found = Found(error=f"no counterpart: {error}")
    except SpatialWorldError as error:
        found = Found(error=f"declined: {error}")
    except Exception as error:
        found = Found(error=f"{type(error).__name__}: {str(error).splitlines()[0][:140]}")
    pipe.send(found)


# --- all of them -----------------------------------------------------------------------------------------------------


def jobs_of(names: list[str], rotations: int) -> tuple[list[Job], dict[str, str]]:
    """What is to be run, and why other scenes are not."""
    labels = [one.label for one in canonical_suite() if one.scene.dimension == 2]
    labels += [*EXTRA, *own_scenes()]
    jobs, left = list[Job](), dict[str, str]()
    for label in labels:
        if names and label not in names and label.split(":")[0] not in names:
            continue
        scene = scene_of(label)
        kinds = {one.kind for body in scene.bodies for one in shapes.simple_shapes(body.shape)}
        try:
            in_space(scene, "sphere")
            simulate_at(adapter.world_of(scene), [0.0])
        except (NoCounterpartError, WorldError, UnresolvedContact) as error:
            left[label] = str(error).splitlines()[0]
            continue
        for discs in DISCS if "disc" in kinds else ("",):
            jobs += [Job(label=label, discs=discs, rotation=k) for k in range(rotations)]
    return jobs, left


def run(jobs: list[Job], limit: float, at_once: int) -> Iterator[tuple[Job, Found]]:
    """Each in a process of its own, killed at the limit [s]; as they end."""
    fork = multiprocessing.get_context("fork")
    waiting, running = list(reversed(jobs)), dict[Job, tuple[Any, Any, float]]()
    while waiting or running:
        while waiting and len(running) < at_once:
            job = waiting.pop()
            here, there = fork.Pipe(duplex=False)
            process = fork.Process(target=work, args=(job, there), daemon=True)
            process.start()
            there.close()
            running[job] = process, here, time.monotonic()
        multiprocessing.connection.wait([pipe for _, pipe, _ in running.values()], timeout=0.2)
        for job, (process, pipe, began) in list(running.items()):
            late = time.monotonic() - began > limit
            if not (pipe.poll() or late or not process.is_alive()):
                continue
            try:
                found = pipe.recv() if pipe.poll() else Found(error=f"no end in {limit:g} s")
            except EOFError:
                found = Found(error="the process died")
            process.kill()
            process.join()
            pipe.close()
            del running[job]
            yield job, found


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", help="families or labels; all without")
    arguments.add_argument("--rotations", type=int, default=3)
    arguments.add_argument("--limit", type=float, default=60.0, help="s, for each motion")
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    jobs, left = jobs_of(given.names, given.rotations)
    Reference().warm_up()  # kernels are compiled once, before processes are forked
    ends = run(jobs, given.limit, given.jobs)
    found = dict(track(ends, description="motions", total=len(jobs), transient=True))
    table = Table("scene", "turn", "until (s)", "pose (m, rad)", "events", "event (s)", "s", "")
    for job in jobs:
        one = found[job]
        what = one.error or "; ".join([*one.notes, *([one.first] if one.first else [])])
        figures = ("", "", "", "") if one.error else (
            f"{one.until:.3g}", f"{one.pose:.1e}", str(one.events), f"{one.event:.1e}"
        )  # fmt: skip
        table.add_row(
            job.title, str(job.rotation), *figures, f"{one.seconds:.1f}", ("MISS: " if one.missed else "") + what
        )
    Console(width=200).print(table)
    for label, why in left.items():
        print(f"no counterpart in space: {label}: {why}")
    titles = {job.title for job in jobs}
    good = {title for title in titles if not any(found[job].missed for job in jobs if job.title == title)}
    agree = {job.label.split(":")[0] for job in jobs if job.title in good}
    some = {job.label.split(":")[0] for job in jobs if job.title not in good}
    print(
        f"{len(good)} of {len(titles)} agree in all turns, of {len(agree)} families, all of {len(agree - some)}, "
        f"and {len(left)} have no counterpart"
    )
    return 0 if len(good) == len(titles) else 1


if __name__ == "__main__":
    sys.exit(main())
