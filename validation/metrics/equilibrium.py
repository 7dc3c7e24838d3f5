"""Whether bodies stay where they are: at rest in an equilibrium, and small pushes do not end it.

Contacts and joints must be able to hold the weights (statics) along the gravity of the scene and also LEAN aslant from
it in every direction: so faces carry their bodies well within their edges, and friction has some in hand. A body on
which nothing rests may also be one that rolls, a ball on a flat floor: it must not get lower by rolling a little either
way, and only its upright weight is asked for.

A balance of forces is not enough where bodies may be jammed: between two walls friction can hold any weight, if
something has pressed it in before, and lets it fall if nothing has (weak and strong stability: Pang & Trinkle 2000). So
walls are asked to hold without their friction, and nothing is held by what is fixed above it.

The corners of the face that two bodies share are nearest points of the two, turned a little against each other.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from reference_engine import elementary
from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios.forces import acted_on, applied_to
from scenarios.given_motion import given_bodies
from scenarios.scenario import Scenario
from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.metrics.axes import rotation_from, turned
from validation.metrics.observation import (
    Array,
    Flags,
    Observation,
    bounding_radius,
    free,
    free_mass,
    length,
    point_speed,
    size,
)
from validation.metrics.proximity import proximities
from validation.metrics.rest import REST_SPEED, rest_start
from validation.metrics.statics import MOST, NEAR, Balance, Contact, contacts_of, supporting, width
from validation.records.trajectory import PlanarTrajectory, SpatialTrajectory, Trajectory, with_samples

CONTACT = 1e-3  # of the smallest free body's diameter: a gap or an overlap of a contact
BALANCED = 0.1  # of a body's weight: what is left over beyond it, nothing holds
CLOSED = 1e-6  # of that: a gap of what may bounce
BOUNCY = 0.7  # restitution: what is dropped from a gap goes on bouncing
SLOW = 1e-3  # of that, within the scene's duration
UNBALANCED = 0.002  # of a weight may be left
LEAN = 0.035  # 2 degrees, of gravity
STEEP = 0.2  # of a normal along gravity, below which it is of a wall
TILTED = 1e-4  # rad
ROLLED = 1e-2  # rad, after which a body may be lower by
LOWER = 1e-6  # of its radius; on its edge it is by 5e-5
TILTS = 24
WAYS = 8  # to roll in space
SAMPLES = 9
ROUND = frozenset({"sphere", "ellipsoid", "capsule"})  # may stand on a point
MOST_SAMPLED = 12  # bodies


def starts_in_equilibrium(scenario: Scenario) -> bool:
    """Whether the scene starts so; False where that is not known: with joints, springs, thrusters, compliant contacts,
    or very many bodies."""
    scene = scenario.scene
    if not only_rigid_contacts(scene) or len(scene.bodies) > MOST:
        return False
    o = at_start(scenario)
    if (point_speed(o)[0, free(o)] * scene.duration > SLOW * size(o)).any():
        return False
    return is_in_equilibrium(o, 0)


def only_rigid_contacts(scene: Scene) -> bool:
    """Whether nothing else acts between bodies, and none moves by a plan."""
    return not (acted_on(scene) or scene.contact.compliant or given_bodies(scene))


def never_slows(o: Observation) -> Flags:
    """(B,) free bodies that friction does not stop: at every look at the second half all bodies lie in an equilibrium
    that friction holds although gravity leans, so that what slides or trembles there gets slower by g LEAN at least;
    and the body is as fast in the last quarter as in the one before, but for half of that.
    """
    none = np.zeros(len(o.scene.bodies), bool)
    if not only_rigid_contacts(o.scene) or free(o).sum() > MOST_SAMPLED or not o.gravity.any():
        return none
    half, late = (int(np.searchsorted(o.time, share * o.time[-1])) for share in (0.5, 0.75))
    if not half < late < len(o.time) - 1:
        return none
    speed, g = _stopped_speed(o), float(norm(o.gravity))
    before, after = (speed[rows].mean(axis=0) for rows in (slice(half, late), slice(late, None)))
    slower = 0.5 * LEAN * g * 0.25 * float(o.time[-1])
    found = free(o) & (after > REST_SPEED * np.sqrt(g * size(o))) & (after > before - slower)
    samples = np.linspace(half, len(o.time) - 1, SAMPLES).astype(int).tolist()
    if not found.any() or not all(is_in_equilibrium(o, sample, rolling=False) for sample in samples):
        return none
    return found


def _stopped_speed(o: Observation) -> Array:
    """(S, B) m/s: `point_speed` without the spin of round bodies about gravity: friction at a point lets it go on."""
    speed = point_speed(o)
    if o.is_planar:
        return speed
    turning = bounding_radius(o) * np.abs((o.trajectory.spin * _up(o)).sum(axis=2))
    is_round = np.array([body.shape.kind in ROUND for body in o.scene.bodies])
    return np.where(is_round, np.maximum(speed - turning, length(o.trajectory.velocity)), speed)


def unbalanced(o: Observation) -> list[int]:
    """Bodies whose weight nothing can hold at the last sample, nor at the mean of their poses at rest; [] where all may
    rest, where bodies are too many, and where the method does not settle.

    Asked of scenes whose only other forces are of contacts and joints. The mean, because what swings about its
    equilibrium is balanced there alone: a chain so taut that it pulls by a thousand times its weight is slower than
    what counts as rest, and off balance by a fifth of its weight when 1e-4 m away.
    """
    if free(o).sum() > MOST or applied_to(o.scene):
        return []
    last, near = len(o.time) - 1, proximities(o)
    rows = np.flatnonzero(supporting(o) & (near.sample == last))
    pairs = {(int(near.a[row]), int(near.b[row])) for row in rows}
    contacts = [*contacts_of(o, rows), *(c for c in _lifted(o, last) if (c.a, c.b) in pairs)]
    unheld = _unheld(o, last, contacts)
    return np.flatnonzero(free(o))[unheld & _unheld(_at_mean(o), 0, contacts)].tolist() if unheld.any() else []


def _unheld(o: Observation, sample: int, contacts: list[Contact]) -> Flags:
    """Of the free bodies, those of whose weight a tenth or more is left over."""
    left = Balance(o, sample, contacts, any_moment=True).left(-free_mass(o)[:, None] * o.gravity)
    return np.zeros(int(free(o).sum()), bool) if left is None else left > BALANCED


def _at_mean(o: Observation) -> Observation:
    """One sample: the mean of the poses from the start of rest on."""
    motion, resting = o.trajectory, o.time >= rest_start(o)
    shift = motion.position[resting].mean(axis=0) - motion.position[-1]
    if isinstance(motion, PlanarTrajectory):
        turn = np.zeros((len(shift), 3))
        turn[:, 2] = motion.angle[resting].mean(axis=0) - motion.angle[-1]
    else:
        cosine, sine = rotation_from(motion.orientation[-1:], motion.orientation[resting])  # of half the turn
        turn = (2.0 * np.where(cosine < 0.0, -sine, sine)).mean(axis=0)
    return poses(o, len(o.time) - 1, turn[None], shift[None])


def _lifted(o: Observation, sample: int) -> Iterator[Contact]:
    """Contacts as they are where one body after another is lifted off what is below it, by what counts as contact:
    where corners or rims meet, the shallowest overlap shows one normal of many, and those that carry need not be it."""
    bodies = np.flatnonzero(free(o))
    lift = o.trajectory.contact_tolerance + NEAR * float(width(o)[bodies].min(initial=np.inf))
    if not len(bodies) or not o.gravity.any():
        return
    shift = np.zeros((len(bodies), len(o.scene.bodies), len(o.gravity)))
    shift[np.arange(len(bodies)), bodies] = lift * _up(o)
    lifted = poses(o, sample, np.zeros((len(bodies), len(o.scene.bodies), 3)), shift)
    near = proximities(lifted)
    own = bodies[near.sample]
    yield from contacts_of(lifted, np.flatnonzero(((near.a == own) | (near.b == own)) & (near.gap >= 0.0)))


def at_start(scenario: Scenario) -> Observation:
    """The scene's initial state, as a motion of one sample."""
    one: dict[str, Any] = {"time": np.zeros(1), "dt": 1.0, "velocity_lag": 0.0}
    if isinstance(scenario.scene, PlanarScene):
        pose, twist = planar_start(scenario.scene)
        motion: Trajectory = PlanarTrajectory(pose=pose[None], twist=twist[None], **one)
    else:
        x, q, v, w = (part[None] for part in spatial_start(scenario.scene))
        motion = SpatialTrajectory(position=x, orientation=q, velocity=v, spin=w, **one)
    return Observation(scenario=scenario, trajectory=motion)


def is_in_equilibrium(o: Observation, sample: int, *, rolling: bool = True) -> bool:
    """Whether contacts hold all free bodies as they lie at this sample; with `rolling` also what may roll, and does not
    by itself."""
    found = contacts_at(o, sample)
    if found is None:
        return False
    if not o.gravity.any():
        return True
    contacts = [*_without_jams(o, found)]
    balance = Balance(o, sample, contacts, any_moment=False)
    weight = -free_mass(o)[:, None] * o.gravity
    if _balanced(balance, weight):
        lean = [float(norm(o.gravity)) * LEAN * across for across in _across(o)]
        leaning = [-free_mass(o)[:, None] * across for across in lean]
        if all(_balanced(balance, weight + aside) for aside in leaning):
            return True
        loose = rolling and _rolls_nowhere(o, sample, contacts)
        if isinstance(loose, np.ndarray) and loose.any():
            return all(_balanced(balance, weight + np.where(loose[:, None], 0.0, aside)) for aside in leaning)
    return False


def _without_jams(o: Observation, contacts: Iterable[Contact]) -> Iterator[Contact]:
    """What holds also where nothing was pressed together before: walls without friction, no fixed ceilings."""
    up, fixed = _up(o), np.append(~free(o), np.ones(len(o.scene.boundaries), bool))
    for c in contacts:
        rise = float((c.normal * up).sum())
        if (fixed[c.a] and rise <= -STEEP) or (fixed[c.b] and rise >= STEEP):
            continue
        yield c if abs(rise) >= STEEP else c._replace(friction=0.0)


def _balanced(balance: Balance, wanted: Array) -> bool:
    left = balance.left(wanted)
    return left is not None and bool((left <= UNBALANCED).all())


def _across(o: Observation) -> Iterator[Array]:
    """Unit vectors across gravity: both in the plane, four in space."""
    up = _up(o)
    if len(up) == 2:
        sides = [np.array([-up[1], up[0]])]
    else:
        from reference_engine.rotation import tangents  # reports look up what metrics are, without kernels

        sides = [*tangents(up)]
    for side in sides:
        yield from (side, -side)


def _up(o: Observation) -> Array:
    return -o.gravity / float(norm(o.gravity))


def contacts_at(o: Observation, sample: int) -> list[Contact] | None:
    """Points of contact at a sample, of each face its corners; None where bodies overlap by more than a contact."""
    limit = CONTACT * size(o)
    start = poses(o, sample, np.zeros((1, len(o.scene.bodies), 3)))
    near = proximities(start)
    if (near.gap < -limit).any():
        return None
    rows = np.flatnonzero(near.gap <= limit)
    rows = rows[[not _bounces(start, row) for row in rows.tolist()]]
    if o.is_planar:  # where each pair has two points
        return contacts_of(start, rows)
    touch = {(c.a, c.b) for c in contacts_of(start, rows)}
    tilted = poses(o, sample, TILTED * _every_way(o))
    near = proximities(tilted)
    limits = limit + 4.0 * TILTED * np.append(bounding_radius(o) * free(o), np.zeros(len(o.scene.boundaries)))
    asked = [near.gap[k] <= limits[a] + limits[b] and (a, b) in touch for k, (a, b) in enumerate(zip(near.a, near.b))]
    found: list[Contact] = []
    for one in contacts_of(tilted, np.flatnonzero(asked)):
        known = (c for c in found if (c.a, c.b) == (one.a, one.b))
        if not any(float(norm(c.point_a - one.point_a)) <= limit for c in known):
            found.append(one)
    return found


def _bounces(o: Observation, row: int) -> bool:
    """Whether the pair in this row of `proximities` goes on bouncing over its gap."""
    near, members = proximities(o), [*o.scene.bodies, *o.scene.boundaries]
    if near.gap[row] <= CLOSED * size(o):
        return False
    return o.scene.pair_law(members[near.a[row]], members[near.b[row]])[1] > BOUNCY


def _every_way(o: Observation) -> Array:
    """(TILTS, B, 3) unit vectors, spread over all directions, no two bodies alike; 0 of what is fixed."""
    k = np.arange(TILTS)
    height = (2.0 * k + 1.0) / TILTS - 1.0
    turn = np.pi * (3.0 - np.sqrt(5.0)) * k  # the golden angle spreads points evenly over a sphere
    out = np.sqrt(1.0 - squared(height))
    spread = np.stack([out * elementary.cos(turn), out * elementary.sin(turn), height], axis=1)
    way = spread[(k[:, None] + 7 * np.arange(len(o.scene.bodies))) % TILTS]
    return np.where(free(o)[:, None], way, 0.0)


def poses(o: Observation, sample: int, turn: Array, shift: Array | None = None) -> Observation:
    """The bodies at rest as they are at a sample, one after another turned (K, B, 3) rad and shifted (K, B, D) m."""
    motion = o.trajectory
    K = len(turn)
    state = {name: np.repeat(getattr(motion, name)[sample : sample + 1], K, axis=0) for name in motion.STATE}
    if shift is None:
        shift = np.zeros((K, len(o.scene.bodies), len(o.gravity)))
    if isinstance(motion, PlanarTrajectory):
        state["pose"] = state["pose"] + np.concatenate([shift, turn[..., 2:]], axis=2)
        state["twist"] = np.zeros_like(state["twist"])
    else:
        from reference_engine.rotation import exponential, product

        q = state["orientation"]
        state["position"] = state["position"] + shift
        state["orientation"] = product(exponential(turn.reshape(-1, 3)).reshape(q.shape), q)
        state |= {name: np.zeros_like(state[name]) for name in ("velocity", "spin")}
    return Observation(scenario=o.scenario, trajectory=with_samples(motion, np.arange(K, dtype=float), state))


def _rolls_nowhere(o: Observation, sample: int, contacts: list[Contact]) -> Flags | None:
    """(B,) bodies that lie on what is level, that carry nothing, and that get no lower by rolling; None where one does
    get lower."""
    up, bodies = _up(o), len(o.scene.bodies)
    below: dict[int, list[Contact]] = {}
    carries: set[int] = set()
    for c in contacts:
        for body, rise in ((c.a, -float((c.normal * up).sum())), (c.b, float((c.normal * up).sum()))):
            below.setdefault(body, []).append(c)
            if rise < 1.0 - LEAN:
                carries.add(body)
    asked = [i for i in np.flatnonzero(free(o)).tolist() if i in below and i not in carries]
    loose = np.zeros(bodies, bool)
    loose[asked] = True
    axes = _axes(o)
    turn, shift = np.zeros((len(asked) * len(axes), bodies, 3)), np.zeros((len(asked) * len(axes), bodies, len(up)))
    for k, (i, axis) in enumerate((i, axis) for i in asked for axis in axes):
        foot = np.mean([c.point_b if c.a == i else c.point_a for c in below[i]], axis=0)
        turn[k, i] = ROLLED * axis
        shift[k, i] = rolled(o.trajectory.position[sample, i] - foot, ROLLED * axis)
    if not asked:
        return loose
    near = proximities(poses(o, sample, turn, shift))
    for k, i in enumerate(i for i in asked for _ in axes):
        gap = near.gap[(near.sample == k) & ((near.a == i) | (near.b == i))].min(initial=np.inf)
        if float((shift[k, i] * up).sum()) - gap < -LOWER * bounding_radius(o)[i]:
            return None
    return loose


def _axes(o: Observation) -> list[Array]:
    if o.is_planar:
        return [np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])]
    first, second, *_ = [side for k, side in enumerate(_across(o)) if k % 2 == 0]
    turn = 2.0 * np.pi * np.arange(WAYS) / WAYS
    return [elementary.cos(angle) * first + elementary.sin(angle) * second for angle in turn]


def rolled(arm: Array, turn: Array) -> Array:
    """By how much the end of an arm gets on when it is turned."""
    in_space = np.append(arm, np.zeros(3 - len(arm)))
    return np.asarray(turned(in_space, turn) - in_space)[: len(arm)]
