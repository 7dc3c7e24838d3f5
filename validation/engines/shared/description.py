"""What describes a model of the user's own as a scene: names, frames, shapes, masses, overlaps at the start.

What is described is in space; a body has its centre of mass at the origin and principal axes, as every scene's.
"""

import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from scenarios import frames, mass
from scenarios.fields import MIN_SIZE
from scenarios.native import Model
from scenarios.scene import Scene, SpatialScene, same_data

SAME_POINT = 1e-9  # m
MOST_FRICTION = 1e3  # as scenes have it
THINNEST = 1e3 * MIN_SIZE  # m, edge of the box of an inertia
DEEP = 0.05  # of the width of the thinner: a deeper overlap at the start is named
DIAGONAL = 1e-9  # of the trace: a smaller product of inertia is round-off
MOST_NAMES = 8  # in one line
UNNAMED = re.compile(r"[^\w .:+/#\-]")


@contextmanager
def written(model: Model) -> Iterator[Path]:
    """A folder with the model's files, as long as they are read."""
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        for one in model.files:
            path = Path(folder, one.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(one.content())
        yield Path(folder)


@dataclass(slots=True)
class Names:
    """Of members and joints."""

    taken: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def name(self, text: str) -> str:
        """As a scene may have it, and none twice."""
        name = UNNAMED.sub("_", text)[:70]
        self.taken[name] += 1
        return name if self.taken[name] == 1 else self.name(f"{name} #{self.taken[name]}")


class Moving(Protocol):
    @property
    def fixed(self) -> bool: ...


MemberT = TypeVar("MemberT", bound=Moving)


def listed(names: Sequence[str]) -> str:
    """In one line, the first of many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}"


@dataclass(slots=True, kw_only=True)
class GatheredWorld(Generic[MemberT]):
    """Of a world that a function of the user's built: who moves, and what of it is not measured."""

    members: list[MemberT] = field(default_factory=list)
    acted_on: set[int] = field(default_factory=set)  # members
    tied: set[int] = field(default_factory=set)  # members that a joint or connection holds, whatever it is
    unmeasured: dict[str, None] = field(default_factory=dict)
    conserves: bool = True

    def leave_out(self, what: str) -> None:
        self.unmeasured[f"{what}; its gaps are not measured"] = None
        self.act_on_all()

    def free(self) -> list[int]:
        """Members that move and that nothing ties."""
        return [k for k, one in enumerate(self.members) if not one.fixed and k not in self.tied]

    def act_on_all(self) -> None:
        self.acted_on |= {k for k, one in enumerate(self.members) if not one.fixed}

    def name(self, what: str, of: Iterable[str]) -> None:
        if titles := list(of):
            self.unmeasured[f"{what}: {listed(titles)}"] = None


@dataclass(frozen=True, slots=True)
class BodyFrame:
    """Of a described body."""

    body: dict[str, Any]

    def vector(self, of_world: Array) -> list[float]:
        return mul(of_world, mass.rotation_matrix(self.body["orientation"])).tolist()

    def point(self, of_world: Array) -> list[float]:
        return self.vector(of_world - np.array(self.body["position"]))


def shape_of(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """One shape in the body's own frame is that shape; a hull's own frame need not have its centre at the origin."""
    if len(pieces) == 1 and pieces[0]["shape"]["kind"] != "convex-mesh":
        x, q = np.array(pieces[0]["position"]), np.array(pieces[0]["orientation"])
        if norm(x) <= SAME_POINT and norm(q[1:]) <= SAME_POINT:
            return dict(pieces[0]["shape"])
    return {"kind": "compound", "pieces": pieces}


def inertia_box(total: float, moments: Array) -> dict[str, Any]:
    """The box of uniform density with this inertia."""
    squares = 6.0 / total * (moments.sum() - 2.0 * moments)
    edges = np.maximum(np.sqrt(np.maximum(squares, 0.0)), THINNEST)
    return {"kind": "box", "size": edges.tolist()}


def welded_inertia(
    masses: Array, centres: Array, turns: Sequence[Array], moments: Sequence[Array]
) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of bodies that move as one: of each the mass, the centre of mass, and
    the principal axes with their moments, in a frame that they share."""
    total = float(masses.sum())
    centre = mul(masses, centres) / total if total > 0.0 else centres[0]
    tensor: Array = np.zeros((3, 3))
    for own, at, turn, principal in zip(masses, centres, turns, moments):
        arm = at - centre
        tensor = tensor + mul(turn * principal, turn.T)
        tensor = tensor + own * (float(mul(arm, arm)) * np.eye(3) - np.outer(arm, arm))
    return total, centre, tensor


def principal(tensor: Array) -> tuple[Array, Array]:
    """Moments, and the axes as columns."""
    moments = np.diag(tensor)
    if float(np.max(np.abs(tensor - np.diag(moments)))) <= DIAGONAL * float(np.trace(tensor)):
        axes = np.eye(3)
    else:
        moments, axes = frames.principal_axes(0.5 * (tensor + tensor.T))
    largest = int(np.argmax(moments))
    most = float(moments.sum() - moments[largest])
    moments = moments.copy()
    moments[largest] = min(moments[largest], most)  # a plate without thickness is beyond it by round-off
    return moments, axes


def with_overlaps(scene: SpatialScene, found: Mapping[tuple[int, int], float]) -> SpatialScene:
    """What starts deep in one another is named: whether it goes through one another is not judged. `found`: of members
    how deep the engine finds them, m."""
    if not found or scene.native is None:
        return scene
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    widths = [mass.width(body.shape) for body in scene.bodies] + [math.inf] * len(scene.boundaries)
    deep = [(pair, depth) for pair, depth in found.items() if depth > DEEP * min(widths[k] for k in pair)]
    lines = [f"{names[a]} and {names[b]}, which start in one another by {depth:.2g} m" for (a, b), depth in deep]
    given = {"overlap": max(found.values()), "unmeasured": (*scene.native.unmeasured, *lines)}
    return scene.model_copy(update={"native": scene.native.model_copy(update=given)})


def otherwise(given: Scene, found: Scene) -> str:
    """What of the bodies is not as it was described; "" where nothing is. Where they start is another matter."""
    names = [[body.name for body in scene.bodies] for scene in (given, found)]
    if names[0] != names[1]:
        return f"bodies are {', '.join(names[1])[:200]}"
    fields: tuple[Callable[[Any], Any], ...] = (
        lambda body: body.fixed,
        lambda body: body.mass,
        lambda body: body.inertia,
        lambda body: body.shape.model_dump(mode="json"),
    )
    for one, other in zip(given.bodies, found.bodies):
        for part, what in zip(fields, ("whether it moves", "the mass", "the inertia", "the shape")):
            if not same_data(_as_json(part(one)), _as_json(part(other))):
                return f"{what} of {one.name!r}"
    return ""


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
