"""Whether two ways to take a step agree as far as they should: one module for all who ask it.

The two ways may be two settings of an engine that its documents promise to agree (`validation.engines.relations`), or
two scenes that are one by a symmetry of mechanics, once the second's steps are turned back into the first's. How far
they may be apart is derived for each state: from the precision of the engine, and from how much a step makes of a small
change of its state, which is measured.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.dense import norm
from scenarios import mass
from scenarios.scenario import Scenario
from scenarios.scene import Scene
from validation.engines.relations import Agreement, Relation
from validation.judging.evidence.replay import Apart, distance, locate, taken
from validation.metrics.observation import length
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples

SEED = 1
EXCESS = "relation_excess"
"""A metric: how far two ways of a step, that should agree, are apart, over what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """A relation on one side."""

    met: bool
    size: float  # m/s: how far apart both ways are, at most; of the states where they are further than allowed, if any
    limit: float  # m/s, in that state
    where: Apart | None = None  # None: both ways agree to the bit


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A relation on both sides, from the same states; each has a half of them."""

    relation: Relation
    states: int
    sides: tuple[Agreed, Agreed]

    @property
    def sign(self) -> Literal["worse", "better", "same"]:
        """Of the second side against the first: a relation that held and does not any more is an invariant broken."""
        before, after = (side.met for side in self.sides)
        return "same" if before == after else "worse" if before else "better"


def perturbed(states: Trajectory, scene: Scene, round_off: float) -> Trajectory:
    """Every number of every state changed at random by the root of the round-off, of the size of its kind."""
    random, step = np.random.default_rng(SEED), math.sqrt(round_off)
    speed, extent = _speeds(states, scene), _sizes(states, scene)
    changed = {}
    for name in states.STATE:
        array = getattr(states, name)
        if name == "orientation":
            size = np.ones(array.shape)
        elif name == "pose":
            size = np.concatenate(
                [np.broadcast_to(extent, (*array.shape[:2], 2)), np.ones((*array.shape[:2], 1))], axis=2
            )
        elif name == "position":
            size = np.broadcast_to(extent, array.shape)
        else:
            turning = name == "spin"
            linear = np.broadcast_to(speed, (*array.shape[:2], 1))
            spin = linear / _radius(scene)[:, None]
            size = np.broadcast_to(spin if turning else linear, array.shape).copy()
            if name == "twist":
                size[..., 2:] = spin
        changed[name] = array + step * size * random.uniform(-1.0, 1.0, array.shape)
    if "orientation" in changed:
        changed["orientation"] /= length(changed["orientation"])[..., None]
    free = np.array([not body.fixed for body in scene.bodies])
    moved = {name: np.where(free[:, None], array, getattr(states, name)) for name, array in changed.items()}
    return with_samples(states, states.time, moved)


def limits(
    states: Trajectory, one: Trajectory, moved: Trajectory, scene: Scene, agree: Agreement, round_off: float
) -> Array:
    """(S,) m/s: how far apart two ways of a step may be; `moved` is the first way from the perturbed states.

    n (a V + u |step(x + d) - step(x)| / |d|):  u the round-off, n the numbers of a state, V its fastest speed; n u is
    the round-off of n sums (Higham 2002, sec. 3.1), the quotient the condition of the step. a is u, or its root where
    the step is the minimum of a function, which is flat there (Press et al. 2007, sec. 10.1).
    """
    if agree == "bits":
        return np.zeros(len(states.time))
    numbers = sum(states.STATE.values()) * len(scene.bodies)
    response = distance(one, moved, scene).max(axis=1) / math.sqrt(round_off)
    accuracy = round_off if agree == "round-off" else math.sqrt(round_off)
    return np.asarray(numbers * (accuracy * _speeds(states, scene)[:, 0, 0] + round_off * response))


def agreed(scenario: Scenario, states: Trajectory, one: Trajectory, other: Trajectory, limit: Array) -> Agreed:
    """From S states by two ways, which may be `limit` (S,) m/s apart."""
    apart = distance(one, other, scenario.scene)
    size = apart.max(axis=1)
    beyond = size > limit
    k = int(np.where(beyond, size, -1.0).argmax() if beyond.any() else size.argmax())
    where = None
    if size[k] > 0.0:
        row = np.array([k])
        found = locate(scenario, taken(states, row), taken(one, row))
        where = found.apart(apart[row], 0, row.tolist())
    return Agreed(met=not beyond.any(), size=float(size[k]), limit=float(limit[k]), where=where)


def _radius(scene: Scene) -> Array:
    return np.array([mass.bounding_radius(body.shape) for body in scene.bodies])


def _speeds(states: Trajectory, scene: Scene) -> Array:
    """(S, 1, 1) m/s: of the fastest point, and what gravity adds in a step."""
    spin = np.abs(states.spin) if isinstance(states, PlanarTrajectory) else length(states.spin)
    fastest = (length(states.velocity) + _radius(scene) * spin).max(axis=1)
    return np.asarray(fastest + float(norm(np.array(scene.gravity))) * states.dt)[:, None, None]


def _sizes(states: Trajectory, scene: Scene) -> Array:
    """(S, 1, 1) m: how far the furthest point is from the origin."""
    return np.asarray((length(states.position) + _radius(scene)).max(axis=1))[:, None, None]


# --- motions --------------------------------------------------------------------------------------------------------


def accuracy(agree: Agreement, round_off: float) -> float:
    """Relative, of one step's numbers; 0: to the bit."""
    if agree == "bits":
        return 0.0
    return math.sqrt(round_off) if agree == "minimum" else round_off


def run_limits(
    steps: Indices, size: Array, speed: Array, share: float, dt: float, spread: Array | None = None
) -> Array:
    """(S,) m/s: how far apart (`distance`) two ways of a motion may be after so many steps, (S,).

    a (X / dt (1 + k) + V (1 + k)^2) + (1 + k) E:  a the `share` to which one step is known, X the largest coordinate,
    m, and V the fastest speed, m/s, so far, both (S,). Each of k steps adds such an error of position and of velocity,
    the latter grows into the position (Higham 2002, sec. 4.2). E (S,) m/s: how far starts that differ by that share
    have come apart, which is the growth of the first error; no later one has grown further.
    """
    k = 1.0 + steps
    known = share * (size / dt * k + speed * k * k)
    return np.asarray(known if spread is None else known + k * np.maximum.accumulate(spread))


def first_order_limits(steps: Indices, speed: Array, gravity: float, dt: float) -> Array:
    """(S,) m/s: likewise, how differently bodies may have moved at half the step: they meet what they meet up to a step
    later, by which they get twice their way in a step further, and fall by g dt t more."""
    return np.asarray(2.0 * np.maximum.accumulate(speed) + gravity * dt * (1.0 + steps))
