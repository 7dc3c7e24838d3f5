"""What is done to a model of one's own to try it: probes, made from the scene that describes it.

Sizes go by the bodies' own: so far, so fast and so slanted that a person sees what follows, and rounded to one digit.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from scenarios import mass
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.native import Model, Probe, ProbeKind
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory

KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)
MOST_BODIES = 50  # that are probed one by one
DROPPED = 0.1  # of the smallest width
THROWN = 0.2  # of the width is how high the push would throw the body
APART, BEFORE = 1e-5, 2e-4
"""m: a step of a sweep of separations, and how deep in one another the two are where it begins."""
SWEEP_STEP = 0.02  # s, of a sweep: each step is a sample
UPWARDS = 0.5  # cosine: a steeper normal is one of support
TIPPED = math.radians(10.0)


def probes_of(scene: Scene, kinds: Sequence[ProbeKind]) -> list[Probe]:
    """In the order of `KINDS`; those that the model has something for."""
    return [probe for kind in KINDS if kind in kinds for probe in _of(scene, kind)]


def probed(model: Model, probe: Probe) -> Model:
    """The model that this is done to. What holds it plays no recorded controls."""
    start = model.start.model_copy(update={"controls": None}) if probe.kind == "hold" else model.start
    return model.model_copy(update={"probe": probe, "start": start})


def free_bodies(scene: Scene) -> list[Any]:
    """Those that nothing ties."""
    assert scene.native is not None
    return [body for body in scene.bodies if body.name in scene.native.free]


def _of(scene: Scene, kind: ProbeKind) -> Iterator[Probe]:
    bodies = free_bodies(scene)[:MOST_BODIES]
    g = float(norm(np.array(scene.gravity)))
    match kind:
        case "settle":
            yield Probe(kind=kind)
        case "hold":
            if scene.native is not None and scene.native.servos:
                yield Probe(kind=kind)
        case "drop":
            if bodies and g > 0.0:
                yield Probe(kind=kind, size=_digit(DROPPED * min(mass.width(body.shape) for body in bodies)))
        case "push":
            for body in bodies:
                speed = math.sqrt(2.0 * (g or 1.0) * THROWN * mass.width(body.shape))
                yield Probe(kind=kind, body=body.name, size=_digit((body.mass or 0.0) * speed))
        case "tip":
            bearing = _bearing(scene, {body.name for body in bodies})
            for body in [one for one in bodies if one.name not in bearing]:
                lift = mass.bounding_radius(body.shape) * math.sin(TIPPED)
                yield Probe(kind=kind, body=body.name, size=TIPPED, lift=_digit(lift))
        case "separation" if scene.native is not None and scene.native.sweeps:
            yield from _separations(scene, {body.name for body in bodies})


def _separations(scene: Scene, free: set[str]) -> Iterator[Probe]:
    """Of each free body from each that it is in contact with at the start or near, along our own normal."""
    for a, b, gap, normal in _near(scene)[:MOST_BODIES]:
        moved, other, sign = (b, a, 1.0) if b in free else (a, b, -1.0)
        if moved in free:
            way = [*(sign * normal).tolist(), 0.0][:3]  # in the plane there is no third
            first = -(gap + BEFORE)
            yield Probe(kind="separation", body=moved, other=other, size=APART, first=first, direction=tuple(way))


def _bearing(scene: Scene, free: set[str]) -> set[str]:
    """Names of what free bodies stand on."""
    gravity = np.array(scene.gravity)
    up = -gravity / (float(norm(gravity)) or 1.0)
    rises = [(a, b, float(mul(normal, up))) for a, b, _, normal in _near(scene)]
    return {a if rise > 0.0 else b for a, b, rise in rises if abs(rise) > UPWARDS and (b if rise > 0.0 else a) in free}


def _near(scene: Scene) -> list[tuple[str, str, float, Array]]:
    """Pairs that may collide and are near at the start: gap, m, and normal from the first to the second."""
    from validation.metrics.observation import Observation
    from validation.metrics.proximity import proximities

    near = proximities(Observation(scenario=scenario_from_scene("model", scene), trajectory=_at_start(scene)))
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    return [
        (names[a], names[b], gap, normal)
        for a, b, gap, normal in zip(near.a.tolist(), near.b.tolist(), near.gap.tolist(), near.normal)
    ]


def _at_start(scene: Scene) -> PlanarTrajectory | SpatialTrajectory:
    """Its first sample alone."""
    if isinstance(scene, PlanarScene):
        pose, twist = (part[None] for part in planar_start(scene))
        return PlanarTrajectory(time=np.zeros(1), dt=SWEEP_STEP, velocity_lag=0.0, pose=pose, twist=twist)
    state: dict[str, Any] = dict(zip(SpatialTrajectory.STATE, (part[None] for part in spatial_start(scene))))
    return SpatialTrajectory(time=np.zeros(1), dt=SWEEP_STEP, velocity_lag=0.0, **state)


def _digit(value: float) -> float:
    """To one digit."""
    return float(f"{value:.0e}")
