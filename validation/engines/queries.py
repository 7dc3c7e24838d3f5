"""What engines can be asked of two shapes in given poses, without a motion: contact, gap, normal.

An engine that can be asked has `queries`, by name, and `answer(query, scene, settings, poses)`: the scene has two free
bodies without gravity, and what is answered of a pose depends on that pose alone.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from scenarios.scene import Scene
from validation.engines.shared.recorder import World
from validation.records.queries import Answers, Poses, no_answers

Answered = Literal["contact", "gap", "depth", "distance", "normal"]
"""contact: whether they overlap; gap: the signed distance in every pose; depth: the gap where there is contact;
distance: the gap where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One way to ask. What its documents allow is no fault."""

    call: str  # what is called, by its names in the engine's API
    shapes: frozenset[str]  # kinds of shapes that the engine has exactly, none stands in for another
    answers: frozenset[Answered]
    margin: float = 0.0  # m: contacts are reported up to this gap
    tolerance: float = 0.0  # m, by which gaps may be off, of the engine's documents
    relative: float = 0.0  # likewise, as a share of the two bodies' size
    rounding: Mapping[str, float] = field(default_factory=dict)
    """m, by kind of shape: edges and rims are round with this radius, so corners are inside by up to 0.73 of it."""
    sizes: tuple[float, float] = (0.0, math.inf)  # m: smaller and larger bodies are beyond what the documents allow
    documented: str = ""  # where the documents say so
    cannot: str = ""  # what cannot be asked, and why


CONTACTS: frozenset[Answered] = frozenset({"contact", "depth", "normal"})
CORNER = 3.0**0.5 - 1.0  # of the radius: by how much a corner that is rounded lies inside the sharp one


def contacts_of_step(build: Callable[[], World], scene: Scene, poses: Poses, *, forgets: bool | None = None) -> Answers:
    """The contacts that a world reports of a step, from each pose at rest; of several the deepest.

    `forgets`: whether a world may be used again. Raises what the engine raises.
    """
    found = no_answers(len(poses), scene.dimension)
    world: World | None = None
    for k in range(len(poses)):
        if world is None or not (world.forgets if forgets is None else forgets):
            world = build()
        world.set_state(*_state(poses, k))
        world.step(watched=True)
        fill(found, k, world.contacts())
    return found


def fill(found: Answers, k: int, rows: Any) -> None:
    """The deepest of the contacts (a, b, points, normals, gaps, ...) as answer k."""
    if rows is None or not len(rows[0]):
        return
    a, _, _, normals, gaps, *_ = rows
    gaps = np.asarray(gaps, np.float64)
    deepest = int(np.argmin(gaps))  # of one that is NaN, that one
    found.contact[k], found.gap[k] = True, gaps[deepest]
    found.normal[k] = np.asarray(normals[deepest]) * (1.0 if a[deepest] == 0 else -1.0)


def _state(poses: Poses, k: int) -> tuple[Any, ...]:
    """Of both bodies at rest, as `World.set_state` takes it."""
    position, orientation = poses.position[k], poses.orientation[k]
    if position.shape[1] == 2:
        return np.column_stack([position, orientation]), np.zeros((2, 3))
    return position, orientation, np.zeros((2, 3)), np.zeros((2, 3))
