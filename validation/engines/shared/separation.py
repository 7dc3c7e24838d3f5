"""A sweep of separations (`scenarios.native.Probe`): where it begins, and that of worlds which functions build."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from scenarios.native import Probe
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.engines.engine import DeclinedError, ModelError
from validation.engines.shared import recorder

FURTHEST = 0.1  # m, that a sweep may begin beyond where the probe says


def beginning(meets: Callable[[float], bool], length: float) -> float:
    """m, from where the probe says: the first whole number of sweeps of this length, m, at whose end the two are not in
    contact; FURTHEST where they always are. `meets`: whether they are, so far apart, m."""
    begun = 0.0
    while begun + length <= FURTHEST and meets(begun + length):
        begun += length
    return begun


def is_sweep(scene: Scene) -> bool:
    """Whether it is of a model, one of whose bodies is swept away from another."""
    native = getattr(scene, "native", None)
    probe: Probe | None = None if native is None else native.model.probe
    return probe is not None and probe.kind == "separation"


class SweptFunction(recorder.World):
    """A world that a function has built, whose bodies start anew before each step, at rest, one of them moved.

    An engine looks for contacts where a step begins, so what it lists after the step is of these poses, which are the
    sweep's: what the step makes of them is left alone. Raises ModelError where the body is none that moves.
    """

    internal_columns = ("in_contact",)

    def __init__(self, world: recorder.World, scene: Scene, dt: float) -> None:
        native = getattr(scene, "native", None)
        assert native is not None and native.model.probe is not None
        self.contact_tolerance = world.contact_tolerance
        self._world, self._probe = world, native.model.probe
        names = [member.name for member in (*scene.bodies, *scene.boundaries)]
        missing = [name for name in (self._probe.body, self._probe.other) if name not in names]
        if missing or self._probe.body not in native.free:
            raise ModelError(f"probe: {(missing or [self._probe.body])[0]!r:.80} is no free body of the world")
        self._swept = names.index(self._probe.body)
        self._pair = {self._swept, names.index(self._probe.other)}
        start = planar_start(scene) if isinstance(scene, PlanarScene) else spatial_start(scene)
        still = len(start) // 2  # of the parts: then come velocities, which are 0
        self._start = [part if k < still else np.zeros_like(part) for k, part in enumerate(start)]
        self._way = np.array(self._probe.direction)[: scene.dimension]
        self._now, self._in_contact, self.steps = self._start, False, 0
        self._begun = beginning(self._meets, recorder.step_count(scene, dt) * self._probe.size)
        self._meets(self._begun)

    def _meets(self, way: float) -> bool:
        """m, away from where the probe begins: whether the engine lists contacts of the two there."""
        first, *rest = (np.array(part) for part in self._start)
        first[self._swept, : len(self._way)] += way * self._way
        self._now = [first, *rest]
        self._world.set_state(*self._now)
        self._world.step(watched=True)
        rows = self._world.contacts()
        self._in_contact = rows is not None and any({int(a), int(b)} == self._pair for a, b in zip(rows[0], rows[1]))
        return self._in_contact

    def step(self, *, watched: bool) -> None:
        self.steps += 1
        self._meets(self._begun + self.steps * self._probe.size)

    def read(self) -> recorder.State:
        return self._now

    def internals(self) -> Sequence[float]:
        return (float(self._in_contact),)

    def contacts(self) -> recorder.Rows | None:
        return self._world.contacts()

    def finish(self, motion: Any) -> recorder.World | None:
        return self._world.finish(motion)

    def options(self) -> dict[str, Any]:
        return self._world.options()

    def set_state(self, *state: Array, time: float = 0.0) -> None:
        raise DeclinedError("a sweep of separations has no step to repeat")
