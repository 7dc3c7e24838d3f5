"""One step from each of many states, each in a world that knows nothing of the others.

After a second of chaos two versions of an engine differ everywhere, whatever was changed. One step from the same
state differs by the change alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scenarios.scene import Scene
from validation.engines.shared.recorder import World, state_of
from validation.records.trajectory import Trajectory, with_samples


def one_step(engine: Any, scene: Scene, dt: float, settings: Mapping[str, Any], states: Trajectory) -> Trajectory:
    """What each sample has become dt later: a sample for a sample, at the same times, without contacts.

    It depends on that sample alone, so it is the same to the last bit in whatever order states are given.
    Raises what the engine raises.
    """
    after = {name: np.empty_like(getattr(states, name)) for name in states.STATE}
    world: World | None = None
    for k, time in enumerate(states.time.tolist()):
        if world is None or not world.forgets:
            world = _built(engine, scene, dt, settings, states)
        world.set_state(*(getattr(states, name)[k] for name in states.STATE), time=time)
        world.step(watched=False)
        for array, part in zip(after.values(), state_of(world)):
            array[k] = part
    return with_samples(states, states.time, after)


def _built(engine: Any, scene: Scene, dt: float, settings: Mapping[str, Any], states: Trajectory) -> World:
    """A world as large as the whole motion needs."""
    world: World = engine.build(scene, dt, settings)
    while (larger := world.finish(states)) is not None:
        world = larger
    return world
