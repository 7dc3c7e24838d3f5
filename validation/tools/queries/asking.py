"""Asks an engine about two shapes in given poses, in a process of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scenarios import mass
from scenarios.scene import PlanarBody, PlanarScene, Scene, SpatialBody, SpatialScene, write_scene
from validation.engines import EngineChoice
from validation.records.queries import Answers, Poses
from validation.running.planning import engine_remotes
from validation.running.processes.executor import Executor
from validation.running.runner import Limits
from validation.tools.queries.shapes import PLANAR_KINDS

DT = 1e-3  # s, of the step where one is taken
CLEAR = 4.0  # bounding radii between the two bodies in the scene itself


def scene_of(shapes: Sequence[Any]) -> Scene:
    """The two bodies, free, far apart, without gravity or friction."""
    away = CLEAR * sum(mass.bounding_radius(shape) for shape in shapes)
    if shapes[0].kind in PLANAR_KINDS:
        planar = [
            PlanarBody(name=name, shape=shape, mass=1.0, position=(x, 0.0))
            for name, shape, x in zip(("a", "b"), shapes, (0.0, away))
        ]
        return PlanarScene(duration=1.0, gravity=(0.0, 0.0), bodies=tuple(planar))
    moments = [(0.4 * mass.bounding_radius(shape) ** 2,) * 3 for shape in shapes]
    spatial = [
        SpatialBody(name=name, shape=shape, mass=1.0, inertia=moment, position=(x, 0.0, 0.0))
        for name, shape, moment, x in zip(("a", "b"), shapes, moments, (0.0, away))
    ]
    return SpatialScene(duration=1.0, gravity=(0.0, 0.0, 0.0), bodies=tuple(spatial))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks one engine, with one profile."""

    pool: Executor
    choice: EngineChoice
    profile: str
    limit: Limits

    def ask(self, query: str, scene: Scene, poses: Poses) -> tuple[str, str, Answers | None]:
        """How the process ended, why, and its answers where it completed. Raises QueryError where they are none."""
        text = write_scene(scene).encode()
        header = {
            "query": query,
            "dt": DT,
            "profile": self.profile,
            "overrides": dict(self.choice.overrides),
            "scene_bytes": len(text),
            "time_limit": self.limit.time_limit,
            "memory_limit": self.limit.memory_limit,
        }
        remote = engine_remotes(self.pool, {self.choice.word})[self.choice.word]
        number = self.pool.ask(remote, header, text + poses.to_bytes())
        while True:
            for reply in self.pool.wait(0.25):
                if reply.id != number:
                    continue
                outcome, reason = reply.header["outcome"], reply.header["reason"]
                if outcome != "completed":
                    return outcome, reason, None
                return outcome, "", Answers.from_bytes(reply.body, len(poses), scene.dimension)
