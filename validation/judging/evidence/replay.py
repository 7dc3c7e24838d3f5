"""One step from the same states, on two sides: how far apart, and where. It locates a change and never signs it.

Two replays of one version agree to the last bit, so any distance between two sides is a change between them. The
distance of a side's replay from its own recorded motion shows how much of a step an engine carries on beside the state
(impulses to start from): nothing smaller is claimed of the motion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reference_engine.array_types import Array, Flags, Indices
from reference_engine.dense import cross, norm
from scenarios import mass
from scenarios.forces import jointed
from scenarios.scenario import Scenario
from scenarios.scene import Scene
from validation.metrics import flight, proximity
from validation.metrics.observation import Observation, bounding_radius, length, point_speed
from validation.records.trajectory import PlanarTrajectory, Trajectory, with_samples

Phase = Literal["flight", "on joints", "rest", "rolling", "sliding", "impact"]
"""What a body does in a step, by the liveliest of its contacts; on joints: it has no contact, and is not free."""
PHASES: tuple[Phase, ...] = get_args(Phase)
SAME_TIME = 1e-6  # of a step
CREEP = 1e-3  # of the fastest speed: slower is not moving, without gravity


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """One body in one step: the two sides move its fastest point otherwise."""

    sample: int
    time: float  # s
    body: str
    partner: str  # what it is in contact with; "" for nothing
    phase: Phase
    size: float  # m/s; infinite where a side is not finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The steps of bodies in one phase of motion."""

    phase: Phase
    steps: int  # of bodies
    apart: int  # of these, so many in some bit
    greatest: float  # m/s


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A scenario's steps on both sides, from the states of the first."""

    states: int = 0  # that a step was taken from; 0: none, for this `reason`
    apart: int = 0  # of these, so many differ in some bit
    first: Apart | None = None
    greatest: Apart | None = None
    shares: tuple[Share, ...] = ()
    own: float = math.nan  # m/s, of the first side's replay from its own recorded motion; NaN: no next step is recorded
    reason: str = ""

    @property
    def claimed(self) -> bool:
        """Whether the greatest difference is more than what this side's steps carry on beside the state."""
        return self.greatest is not None and not self.greatest.size <= self.own


def chosen(motion: Trajectory, most: int) -> Trajectory:
    """At most so many samples, evenly spread, of those that have a step left to go; all finite."""
    last = float(motion.time[-1]) - 0.5 * motion.dt
    finite = np.ones(len(motion.time), bool)
    for name in motion.STATE:
        finite &= np.isfinite(getattr(motion, name)).all(axis=(1, 2))
    usable = np.flatnonzero(finite & (motion.time < last))
    spread = np.linspace(0, len(usable) - 1, min(most, len(usable))).round().astype(np.int64)
    return taken(motion, usable[spread])


def taken(motion: Trajectory, rows: NDArray[np.int64]) -> Trajectory:
    """These samples, without contacts."""
    return with_samples(motion, motion.time[rows], {name: getattr(motion, name)[rows] for name in motion.STATE})


def distance(one: Trajectory, other: Trajectory, scene: Scene) -> Array:
    """(S, B) m/s: how differently the fastest point of each body moves in the step that ends here, at most.

    |dv| + r |dw| of the velocities, or (|dx| + r |turn|) / dt of the poses where that is more.
    """
    radius = np.array([mass.bounding_radius(body.shape) for body in scene.bodies])
    with np.errstate(invalid="ignore", over="ignore"):
        if isinstance(one, PlanarTrajectory) and isinstance(other, PlanarTrajectory):
            turn, spin = np.abs(one.angle - other.angle), np.abs(one.spin - other.spin)
        else:
            assert not isinstance(one, PlanarTrajectory) and not isinstance(other, PlanarTrajectory)
            p, q = one.orientation, other.orientation  # q and -q are one rotation
            turn = 2.0 * np.minimum(length(p - q), length(p + q))
            spin = length(one.spin - other.spin)
        speed = length(one.velocity - other.velocity) + radius * spin
        moved = (length(one.position - other.position) + radius * turn) / one.dt
        apart = np.maximum(speed, moved)
    return np.where(np.isnan(apart), np.inf, apart)


def own_distance(motion: Trajectory, states: Trajectory, after: Trajectory, scene: Scene) -> float:
    """m/s, the greatest distance of a side's replay from the step that it recorded; NaN where none was recorded."""
    rows, follows = followed(motion, states)
    if not len(rows):
        return math.nan
    return float(distance(taken(after, rows), taken(motion, follows), scene).max())


def followed(motion: Trajectory, states: Trajectory) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of states, which are samples of a motion, whose next step it has a sample of; and that sample's row."""
    follows = np.searchsorted(motion.time, states.time + (1.0 - SAME_TIME) * states.dt)
    follows = np.minimum(follows, len(motion.time) - 1)
    has = np.abs(motion.time[follows] - states.time - states.dt) <= SAME_TIME * states.dt
    return np.flatnonzero(has), follows[has]


def compare(
    scenario: Scenario, states: Trajectory, one: Trajectory, other: Trajectory, rows: Sequence[int] | None = None
) -> Replay:
    """Of a step from each state on both sides; phases are the first side's. `rows`: of the states in their motion."""
    apart = distance(one, other, scenario.scene)
    if not len(apart):
        return Replay(reason="no state has a step left to go")
    where = locate(scenario, states, one)
    steps = np.flatnonzero(apart.any(axis=1))
    shares = [
        Share(phase=phase, steps=int(of.sum()), apart=int((apart[of] > 0.0).sum()), greatest=float(apart[of].max()))
        for i, phase in enumerate(PHASES)
        if (of := where.phase == i).any()
    ]
    found = [where.apart(apart, k, rows) for k in (*steps[:1].tolist(), int(apart.max(axis=1).argmax()))]
    return Replay(
        states=len(apart),
        apart=len(steps),
        first=found[0] if len(steps) else None,
        greatest=found[-1] if len(steps) else None,
        shares=tuple(shares),
    )


# --- phases of motion ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What each body did in the step from each state. S states of B bodies."""

    names: Sequence[str]  # of the bodies, then of the boundaries
    time: Array  # (S,) s
    phase: Indices  # (S, B) into PHASES
    partner: Indices  # (S, B) of the contact that it is of; -1 for none

    def apart(self, size: Array, state: int, rows: Sequence[int] | None = None) -> Apart:
        """Of the body that is furthest apart in the step from a state, by sizes (S, B)."""
        body = int(size[state].argmax())
        partner = int(self.partner[state, body])
        return Apart(
            sample=state if rows is None else int(rows[state]),
            time=float(self.time[state]),
            body=self.names[body],
            partner="" if partner < 0 else self.names[partner],
            phase=PHASES[self.phase[state, body]],
            size=float(size[state, body]),
        )


def locate(scenario: Scenario, states: Trajectory, after: Trajectory) -> Located:
    """A contact counts where bodies are near by our own geometry and something besides gravity moved them in the step.

    Slower than what gravity gives in a step is not moving: approach above that is an impact, slip sliding, a turn
    against one another without slip rolling, none of these rest.
    """
    scene = scenario.scene
    o = Observation(scenario=scenario, trajectory=_interleaved(states, after))
    alone: Flags = flight.flight(o).after[::2]
    still = float(norm(np.array(scene.gravity))) * states.dt or CREEP * float(point_speed(o).max(initial=0.0))
    tied = jointed(scene)
    phase = np.array([[PHASES.index("on joints" if body.name in tied else "flight") for body in scene.bodies]])
    phase = np.repeat(phase, len(states.time), axis=0)
    partner, nearest = np.full(phase.shape, -1), np.full(phase.shape, np.inf)
    near = proximity.proximities(o)
    kind = _kinds(o, still)
    reached = near.gap + np.minimum(0.0, proximity.rates(o).now) * states.dt <= proximity.near_distance(o)
    for row in np.flatnonzero(reached & (near.sample % 2 == 0)).tolist():
        state, pair = int(near.sample[row]) // 2, (int(near.a[row]), int(near.b[row]))
        for body, other in (pair, pair[::-1]):
            if body >= len(scene.bodies) or scene.bodies[body].fixed or alone[state, body]:
                continue
            rank = (kind[row], -near.gap[row])
            if rank > (phase[state, body] if partner[state, body] >= 0 else -1, -nearest[state, body]):
                phase[state, body], partner[state, body], nearest[state, body] = kind[row], other, near.gap[row]
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    return Located(names=names, time=states.time, phase=phase, partner=partner)


def _interleaved(states: Trajectory, after: Trajectory) -> Trajectory:
    """A motion of pairs of samples, a state and what became of it."""
    time = np.maximum.accumulate(np.stack([states.time, states.time + states.dt], axis=1).ravel())
    both = [[getattr(motion, name) for motion in (states, after)] for name in states.STATE]
    rows = [np.stack(pair, axis=1).reshape(len(time), *pair[0].shape[1:]) for pair in both]
    return with_samples(states, time, dict(zip(states.STATE, rows)))


def _kinds(o: Observation, still: float) -> Indices:
    """(K,) into PHASES: of every row of `proximities` by the motion of its two material points."""
    near, trajectory, bodies = proximity.proximities(o), o.trajectory, len(o.scene.bodies)

    def motion(body: Indices, point: Array) -> tuple[Array, Array]:
        """Velocity of the point, and spin; of a boundary none."""
        of = np.minimum(body, bodies - 1)
        spin = trajectory.spin[near.sample, of]
        arm = point - trajectory.position[near.sample, of]
        if o.is_planar:
            turning = spin[:, None] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
        else:
            turning = cross(spin, arm)
        moves = (body < bodies).astype(np.float64)
        return (trajectory.velocity[near.sample, of] + turning) * moves[:, None], (spin.T * moves).T

    (velocity_a, spin_a), (velocity_b, spin_b) = motion(near.a, near.point_a), motion(near.b, near.point_b)
    rate = velocity_b - velocity_a
    normal_rate = np.einsum("ki,ki->k", rate, near.normal)
    slip = length(rate - normal_rate[:, None] * near.normal)
    radius = np.append(bounding_radius(o), np.full(len(o.scene.boundaries), np.inf))
    turn = np.abs(spin_b - spin_a) if o.is_planar else length(spin_b - spin_a)
    rolls = turn * np.minimum(radius[near.a], radius[near.b]) > still
    found = np.where(
        slip > still, PHASES.index("sliding"), np.where(rolls, PHASES.index("rolling"), PHASES.index("rest"))
    )
    return np.where(normal_rate < -still, PHASES.index("impact"), found)
