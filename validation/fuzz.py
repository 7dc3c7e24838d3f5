"""Searches random scenes for one in which an engine breaks a law that needs no reference, and shrinks it.

Three oracles: energy that a passive scene gained, momentum that an isolated one did not keep, and a simulation that
crashed, hung or was not finite. hypothesis draws and shrinks; each scene is simulated in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase

from scenarios import mass
from scenarios.catalogue.scene_file import scenario_from_scene
from scenarios.scene import HalfPlane, PlanarScene, Scene, colliding_pairs, content_hash, masses
from scenarios.strategies import planar_scenes, time_steps
from validation.engines import EngineChoice
from validation.metrics import measure
from validation.processes.pool import Pool
from validation.runner import Limits, Plan, Request, plan_cases, simulate_one
from validation.simulation import BROKEN, Simulation

ENERGY_SHARE = 0.05  # of the energy scale: discretised engines gain a little by pushing overlaps apart
MOMENTUM_SHARE = 1e-3  # of the momentum scale
BATCH = 200  # scenes between two looks at what was found
EXAMPLE_LIMIT = 10.0  # s of wall-clock time for one scene: a few bodies for seconds; more is a hang
ORACLES = ("energy gained", "momentum not kept", "broken")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A law that an engine broke in a scene."""

    oracle: str  # one of ORACLES
    message: str  # with figures
    scene: PlanarScene
    dt: float


@dataclass(slots=True, kw_only=True)
class Search:
    """What a search did."""

    tried: int = 0  # scenes simulated
    declined: int = 0
    wall: float = 0.0
    faults: list[Fault] = field(default_factory=list)


class _FoundError(AssertionError):
    """Tells hypothesis that this scene is what we look for."""


def judge_scene(scene: PlanarScene, simulation: Simulation) -> tuple[str, str] | None:
    """Oracle and message of the law that this motion breaks; None if it breaks none."""
    if simulation.outcome in BROKEN:
        return "broken", f"{simulation.outcome}: {simulation.reason}"
    assert simulation.trajectory is not None
    scenario = scenario_from_scene("fuzzed", scene)
    found = {m.metric: m.value for m in measure(scenario, simulation.trajectory)}
    energy, allowed = found["energy_gain"], ENERGY_SHARE * energy_scale(scene)
    if energy > allowed:
        return "energy gained", f"energy rose by {energy:.3g} J without a source; tolerated: {allowed:.3g} J"
    axes = kept_momentum(scene)
    if axes:
        velocity = simulation.trajectory.velocity
        m = np.where(np.isinf(masses(scene)), 0.0, masses(scene))
        momentum = np.einsum("b,sbi->si", m, velocity)
        elapsed = simulation.trajectory.time[:, None]
        drift = np.abs(momentum - momentum[0] - m.sum() * np.array(scene.gravity) * elapsed)[:, axes].max()
        allowed = MOMENTUM_SHARE * momentum_scale(scene)
        if drift > allowed:
            return (
                "momentum not kept",
                f"momentum changed by {drift:.3g} kg m/s without an outer force; tolerated: {allowed:.3g} kg m/s",
            )
    return None


def energy_scale(scene: PlanarScene) -> float:
    """J: what the bodies have at the start, and what lifting each by its own size would take."""
    g = float(np.hypot(*scene.gravity))
    total = 0.0
    for body in scene.bodies:
        if body.mass is not None:
            size = mass.reach(body.shape)
            total += 0.5 * body.mass * (body.velocity[0] ** 2 + body.velocity[1] ** 2 + (size * body.spin) ** 2)
            total += body.mass * g * size
    return total


def momentum_scale(scene: PlanarScene) -> float:
    """kg m/s: of the speeds at the start and of a fall through each body's size."""
    g = float(np.hypot(*scene.gravity))
    total = 0.0
    for body in scene.bodies:
        if body.mass is not None:
            fall = (2.0 * g * mass.reach(body.shape)) ** 0.5
            total += body.mass * (float(np.hypot(*body.velocity)) + fall)
    return total


def kept_momentum(scene: PlanarScene) -> list[int]:
    """Axes along which nothing outside pushes: all of a scene of free bodies, x over level frictionless ground."""
    if scene.damping.linear or scene.springs or scene.thrusters or scene.joints:
        return []
    if any(body.fixed for body in scene.bodies):
        return []
    if not scene.boundaries:
        return [0, 1]
    level = all(isinstance(b, HalfPlane) and abs(b.normal[0]) < 1e-12 for b in scene.boundaries)
    by_name = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    ground = {boundary.name for boundary in scene.boundaries}
    smooth = all(scene.pair_law(by_name[a], by_name[b])[0] == 0.0 for a, b in colliding_pairs(scene) if b in ground)
    return [0] if level and smooth and scene.gravity[0] == 0.0 else []


class Fuzzer:
    """Simulates and judges scenes on one engine, remembering each verdict, until the time is over."""

    def __init__(self, pool: Pool, engine: EngineChoice, profile: str | None, seconds: float) -> None:
        self.pool, self.engine, self.profile = pool, engine, profile
        self.deadline = time.monotonic() + seconds
        self.search = Search()
        self._seen: dict[tuple[str, float], tuple[str, str] | None] = {}
        self._known: set[str] = set()  # oracles whose fault is already found
        self._last: dict[str, Fault] = {}
        self.limits = Limits(workers=1, time_limit=EXAMPLE_LIMIT)
        flags = [self._accepts(friction=True), self._accepts(restitution=True)]
        self.strategy = planar_scenes(friction=flags[0], restitution=flags[1])

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    def run(self, seed: int, progress: Callable[[Search], None] = lambda search: None) -> Search:
        """Batches of scenes from consecutive seeds; each oracle's first fault, shrunk while there is time."""
        started = time.monotonic()
        while not self.is_over and len(self._known) < len(ORACLES):
            fault = self._batch(seed)
            seed += 1
            if fault is not None:
                self._known.add(fault.oracle)
                self.search.faults.append(fault)
            progress(self.search)
        self.search.wall = time.monotonic() - started
        return self.search

    def _batch(self, seed: int) -> Fault | None:
        self._last.clear()
        wanted: list[str] = []  # the oracle of the first fault of this batch: shrinking keeps to it

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(scene=self.strategy, dt=time_steps())
        def try_one(scene: PlanarScene, dt: float) -> None:
            verdict = self._judge(scene, dt)
            if verdict is None or verdict[0] in self._known or verdict[0] != (wanted or [verdict[0]])[0]:
                return
            wanted[:] = [verdict[0]]
            self._last["fault"] = Fault(oracle=verdict[0], message=verdict[1], scene=scene, dt=dt)
            raise _FoundError

        try:
            try_one()
        except _FoundError:
            return self._last["fault"]
        except hypothesis.errors.HypothesisException:
            # A verdict that changed between two runs of one scene: the engine is not deterministic there.
            return self._last.get("fault")
        return None

    def _judge(self, scene: PlanarScene, dt: float) -> tuple[str, str] | None:
        key = (content_hash(scene), dt)
        if key in self._seen:
            return self._seen[key]
        if self.is_over:
            return None
        plan = self._plan(scene, dt)
        if plan.declined is not None:
            self.search.declined += 1
            verdict = None
        elif plan.unavailable is not None:
            verdict = ("broken", plan.unavailable)
        else:
            self.search.tried += 1
            verdict = judge_scene(scene, simulate_one(self.pool, plan, self.limits))
        self._seen[key] = verdict
        return verdict

    def _plan(self, scene: Scene, dt: float) -> Plan:
        request = Request(
            scenario=scenario_from_scene("fuzzed", scene), engine=self.engine, profile=self.profile, dt=dt
        )
        plan = plan_cases(self.pool, [request])[0]
        self.profile = plan.case.identity.profile  # as resolved
        return plan

    def _accepts(self, **law: Any) -> bool:
        """Whether the engine takes a scene with friction, or with restitution."""
        values = dict.fromkeys(law, 0.5)
        ball = {"name": "ball", "shape": {"kind": "disc", "radius": 0.5}, "mass": 1.0, "position": (0.0, 1.0)}
        ground = {"kind": "half-plane", "name": "ground"}
        scene = PlanarScene.model_validate(
            {"duration": 1.0, "bodies": [ball | values], "boundaries": [ground | values]}
        )
        plan = self._plan(scene, 1.0 / 240.0)
        return plan.declined is None and plan.unavailable is None
