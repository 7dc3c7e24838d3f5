"""What is done to a model at its start to try it (`scenarios.native.Probe`), by pybullet's own functions."""

import math
from collections.abc import Sequence

import numpy as np
import pybullet as pb

from reference_engine.array_types import Array
from scenarios import frames, mass
from scenarios.native import Probe
from validation.engines.engine import ModelError
from validation.engines.pybullet.description import Described
from validation.engines.pybullet.links import w_first
from validation.engines.pybullet.loading import Loaded, is_fixed
from validation.engines.pybullet.trees import BASE, xyzw


def set_up(loaded: Loaded, found: Described, probe: Probe) -> None:
    """Raises ModelError where the probe's body is no free base of the model."""
    if probe.kind == "drop":
        for body in loaded.bodies:
            if not is_fixed(loaded, body):
                position, orientation = loaded.call(pb.getBasePositionAndOrientation, body)
                set_base(loaded, body, np.add(position, (0.0, 0.0, probe.size)), orientation)
    elif probe.kind in ("push", "tip"):
        body = free_base(loaded, found, probe.body)
        (_throw if probe.kind == "push" else _tip)(loaded, body, probe)
    elif probe.kind == "separation":
        body = free_base(loaded, found, probe.body)
        position, orientation = loaded.call(pb.getBasePositionAndOrientation, body)
        set_base(loaded, body, np.add(position, probe.first * np.array(probe.direction)), orientation)


def free_base(loaded: Loaded, found: Described, name: str) -> int:
    names = [body.name for body in found.scene.bodies]
    if name in names:
        body, link = found.address[names.index(name)]
        if link == BASE and not is_fixed(loaded, body):
            return int(body)
    raise ModelError(f"probe: {name!r:.80} is no free body of the model")


def set_base(loaded: Loaded, body: int, position: Array, orientation: Sequence[float]) -> None:
    """Where its base goes, with all that hangs on it; its velocity stays."""
    velocity, spin = loaded.call(pb.getBaseVelocity, body)
    loaded.call(pb.resetBasePositionAndOrientation, body, position.tolist(), orientation)
    loaded.call(pb.resetBaseVelocity, body, velocity, spin)


def _masses(loaded: Loaded, body: int) -> tuple[float, Array]:
    """kg of all links, and their common centre, m."""
    total, moment = 0.0, np.zeros(3)
    for link in loaded.links(body):
        kilograms = float(loaded.call(pb.getDynamicsInfo, body, link)[0])
        if link == BASE:
            at = loaded.call(pb.getBasePositionAndOrientation, body)[0]
        else:
            at = loaded.call(pb.getLinkState, body, link, 0, 1)[0]
        total, moment = total + kilograms, moment + kilograms * np.array(at)
    return total, moment / total


def _throw(loaded: Loaded, body: int, probe: Probe) -> None:
    total, _ = _masses(loaded, body)
    velocity, spin = loaded.call(pb.getBaseVelocity, body)
    loaded.call(pb.resetBaseVelocity, body, [velocity[0] + probe.size / total, *velocity[1:]], spin)


def _tip(loaded: Loaded, body: int, probe: Probe) -> None:
    """About the centre of mass of all that hangs on the base, along the world's first axis."""
    _, centre = _masses(loaded, body)
    position, orientation = loaded.call(pb.getBasePositionAndOrientation, body)
    half = 0.5 * probe.size
    turn = mass.rotation_matrix((math.cos(half), math.sin(half), 0.0, 0.0))
    axes = turn @ mass.rotation_matrix(w_first(orientation))
    placed = centre + turn @ (np.array(position) - centre) + (0.0, 0.0, probe.lift)
    set_base(loaded, body, placed, xyzw(np.array(frames.quaternion_of(axes))))
