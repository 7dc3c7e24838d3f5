"""Builds cases, results and scenes as a run would hand them over, small ones."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from scenarios.catalogue import scenario_of
from scenarios.scene import PlanarScene, parse_scene
from validation.judging.judge import judge
from validation.judging.verdict import Verdict
from validation.records.case import Case, Identity, Result, RunInfo
from validation.records.measurement import Measurement
from validation.records.simulation import Simulation, Status
from validation.records.stored import Baseline
from validation.records.trajectory import Contacts, PlanarTrajectory, SpatialTrajectory

STACK = scenario_of("stack:n=3")
MOMENT = datetime(2026, 11, 3, 12, 30, 15, 250_000, tzinfo=UTC)


def info(branch: str = "main", **given: Any) -> RunInfo:
    known: dict[str, Any] = {
        "started": MOMENT,
        "commit": "4f2c1d",
        "branch": branch,
        "dirty": False,
        "machine": "bench",
        "platform": "linux-x86_64",
        "python": "3.11.7",
        "packages": {"pymunk": "7.3.1"},
        "command": "upright run",
        "labels": {"ci": "yes"},
    }
    return RunInfo(**known | given)


def judged(
    baseline: Baseline | None, found: Result, laws: dict[str, float] | None = None, *of: Any, **given: Any
) -> Verdict:
    """As bodies of 1 m in the catalogue's stack, under these laws alone."""
    return judge(baseline, found, replace(STACK, laws=laws or {}), *of, **given)


def case(
    scenario: str = "stack",
    engine: str = "pymunk",
    *,
    parameters: dict[str, Any] | None = None,
    overrides: str = "",
    settings: dict[str, Any] | None = None,
    version: str = "7.3.1",
    alias: str = "",
    profile: str = "fair",
    scene_hash: str = "0",
) -> Case:
    parameters = {"n": 10} if parameters is None else parameters
    given = ",".join(f"{name}={value}" for name, value in parameters.items())
    return Case(
        identity=Identity(
            scenario=scenario,
            given=json.dumps(parameters, sort_keys=True),
            engine=engine,
            profile=profile,
            dt=1.0 / 240.0,
            platform="linux-x86_64",
            alias=alias,
        ),
        label=f"{scenario}:{given}" if given else scenario,
        engine_label=f"{engine}:{overrides}" if overrides else engine,
        scene_hash=scene_hash,
        engine_version=version,
        settings={"iterations": 50, "slop": 1e-3} if settings is None else settings,
        parameters=json.dumps(parameters, sort_keys=True),
    )


def measurement(metric: str = "penetration_mean", value: float = 4e-4, unit: str = "m", **given: Any) -> Measurement:
    known: dict[str, Any] = {"better": "lower", "noise": "exact"}
    return Measurement(metric=metric, value=value, unit=unit, **known | given)


def falling(*, samples: int = 30, bodies: int = 2, contact_impulse: float | None = None) -> PlanarTrajectory:
    """Bodies that fall freely, turning as they go."""
    time = np.arange(samples) / 60.0
    pose = np.zeros((samples, bodies, 3))
    twist = np.zeros((samples, bodies, 3))
    pose[..., 1] = 10.0 - 0.5 * 9.81 * time[:, None] ** 2 + np.arange(bodies)
    pose[..., 2] = 0.3 * time[:, None]
    twist[..., 1] = -9.81 * time[:, None]
    twist[..., 2] = 0.3
    contacts = None
    if contact_impulse is not None:
        contacts = Contacts(
            sample=np.array([3]),
            a=np.array([0]),
            b=np.array([2]),
            point=np.zeros((1, 2)),
            normal=np.array([[0.0, 1.0]]),
            gap=np.zeros(1),
            impulse=np.array([[0.0, contact_impulse]]),
        )
    return PlanarTrajectory(time=time, pose=pose, twist=twist, dt=1 / 240, velocity_lag=-1 / 480, contacts=contacts)


def tumbling(*, samples: int = 30, bodies: int = 2, seed: int = 1) -> SpatialTrajectory:
    random = np.random.default_rng(seed)
    orientation = random.normal(size=(samples, bodies, 4))
    return SpatialTrajectory(
        time=np.arange(samples) / 60.0,
        position=random.normal(size=(samples, bodies, 3)),
        orientation=orientation / np.linalg.norm(orientation, axis=2, keepdims=True),
        velocity=random.normal(size=(samples, bodies, 3)),
        spin=random.normal(size=(samples, bodies, 3)),
        dt=1 / 240,
        velocity_lag=0.0,
    )


def result(of: Case | None = None, *measurements: Measurement, **given: Any) -> Result:
    """Completed, with a motion; `given` goes to the simulation."""
    known: dict[str, Any] = {
        "outcome": "completed",
        "trajectory": falling(),
        "step_times": np.full(120, 1e-5),
        "wall_time": 0.25,
        "peak_memory": 5_000_000_000,
    }
    return Result.of(
        case=of or case(),
        simulation=Simulation(**known | given),
        measurements=measurements or (measurement(),),
        headline="penetration_mean",
    )


def failed(of: Case, outcome: Status, reason: str) -> Result:
    """No motion and no measurement."""
    return Result.of(case=of, simulation=Simulation(outcome=outcome, reason=reason), headline="penetration_mean")


def scene(height: float = 2.0) -> PlanarScene:
    ball = {"name": "ball", "shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "position": [0.0, height]}
    made = parse_scene({"dimension": 2, "duration": 1.0, "bodies": [ball]})
    assert isinstance(made, PlanarScene)
    return made
