"""What happened: whether bodies went through one another, came apart, hang, moved, fell over, came to rest.

From the motion and the scene alone, by our own geometry, for any scene. The limits are those of a person who looks:

- went through: an overlap of half the width of the thinner of the two, if they do not part where they met, or the
  centre of mass crosses the other between two samples (a fast body is in a thin one at no sample); or two that start in
  one another part on the far side.
- came apart: a joint gapes by half the diameter of the smaller of the two that it joins.
- blew up: more energy comes from nowhere than the scene has (`energy_scale`) and forces of a model have turned over, if
  nothing starts deep in one another.
- hangs: a body that touches nothing misses its free fall by half of it; or all bodies are at rest and no contact and
  joint forces balance the weights (`unbalanced`), by a tenth of a weight at least.
- moved, never moved: some point gets further than a twentieth of the body's diameter, no point a hundredth.
- fell over, stood: at the end turned from upright by more than 45 degrees, by less than 15; of bodies that are not
  round and hang on no joint. A cylinder that rolls on its side has not fallen.
- keeps moving: at rest it would be in an equilibrium that friction holds (`equilibrium`), and it does not slow down.
- bounced: falls and rises, each by a twentieth of its diameter, another number of times than in its exact motion.
- stopped: in the second half a body gets less than a twentieth as far as its exact motion.
- left its support, kept it, was dropped, was held: of the free bodies of a model (`supports`).
- came to rest: `rest_time`. never rested: neither at twice that speed for half as long.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reference_engine.dense import norm
from reference_engine.elementary import squared
from scenarios.catalogue.shared.laws import energy_scale
from scenarios.contact import may_gain_energy
from scenarios.scene import Bowl, HollowSphere
from validation.metrics.energy import gained, is_worked_on, sums_of_model, turned_over_at_joints
from validation.metrics.equilibrium import never_slows, starts_in_equilibrium, unbalanced
from validation.metrics.facts import bounced, exact_motion, facts, stopped
from validation.metrics.flight import velocity_at_pose
from validation.metrics.joint_gap import gap_of
from validation.metrics.observation import Flags, Observation, bounding_radius, free, free_mass, length, of_scenario
from validation.metrics.passage import overlaps, passages
from validation.metrics.rest import can_rest, rest_start
from validation.metrics.statics import in_contact_only, meets_next, supported, width
from validation.metrics.supports import support_facts
from validation.records.outcome import OPPOSITE, Outcome

UNSEEN = 1e-3  # m/s
APART = 0.5  # of the diameter of the smaller
MISSED = 0.5  # of the free fall
ALL = ""  # all of the scene, in place of a body


def outcomes_of(o: Observation) -> tuple[Outcome, ...]:
    """Faults first; then facts, each right or wrong as the scenario says."""
    expected = _expected(o)
    found = (*_through(o), *_apart(o), *_blown_up(o), *_hanging(o), *stopped(o), *bounced(o), *_never_slowed(o))
    faults = (replace(fault, right=False) for fault in found)
    return (*faults, *(judged for fact in (*facts(o), *support_facts(o)) for judged in _against(expected, fact)))


@of_scenario
def _expected(o: Observation) -> set[tuple[str, str]]:
    """(fact, body): what the scenario says, its exact motion does, or an equilibrium at the start implies."""
    expected: set[tuple[str, str]] = set(o.scenario.expected)
    if (exact := exact_motion(o)) is not None:
        expected |= {(fact.kind, name) for fact in facts(exact) for name in fact.bodies or (ALL,)}
    elif not expected and starts_in_equilibrium(o.scenario):
        still = [body.name for body in o.scene.bodies if not body.fixed]
        expected |= {(kind, name) for kind in ("never moved", "stood") for name in still} | {("came to rest", ALL)}
    return expected


@of_scenario
def _energy_scale(o: Observation) -> float:
    """J: what is in play, and at least what all bodies have at a speed that nobody sees."""
    return energy_scale(o.scene) + 0.5 * float(free_mass(o).sum()) * squared(UNSEEN)


def _against(expected: set[tuple[str, str]], fact: Outcome) -> Iterator[Outcome]:
    """The fact, apart for the bodies of which it is right, wrong, and of which nothing is known."""
    verdicts: dict[bool | None, list[str]] = {}
    for name in fact.bodies or (ALL,):
        right = (fact.kind, name) in expected or None
        verdicts.setdefault(False if (OPPOSITE[fact.kind], name) in expected else right, []).append(name)
    for verdict, names in verdicts.items():
        yield replace(fact, right=verdict, bodies=() if names == [ALL] else tuple(names))


# --- always wrong --------------------------------------------------------------------------------------------------


def _through(o: Observation) -> Iterator[Outcome]:
    members = [*o.scene.bodies, *o.scene.boundaries]
    for (a, b), sample in passages(o).items():
        body, other = (a, b) if free(o)[a] else (b, a)
        left = isinstance(members[other], (Bowl, HollowSphere))
        gone = float(length(o.trajectory.position[-1, body] - o.trajectory.position[sample, body]))
        yield Outcome(
            kind="left" if left else "went through",
            bodies=(members[body].name, members[other].name),
            time=float(o.time[sample]),
            value=gone,
            unit="m",
        )


def _apart(o: Observation) -> Iterator[Outcome]:
    across = {body.name: 2.0 * r for body, r in zip(o.scene.bodies, bounding_radius(o))}
    for joint in o.scene.joints:
        gap = gap_of(o, joint)
        limit = APART * min(across[name] for name in (joint.a, joint.b) if name is not None)
        if getattr(o.scene, "native", None) is not None and gap[0] > limit:
            continue  # a model that starts open closes as softly as it says
        if (gap > limit).any():
            ends = tuple(name for name in (joint.a, joint.b) if name is not None)
            time = float(o.time[int(np.argmax(gap > limit))])
            yield Outcome(kind="came apart", bodies=ends, time=time, value=float(gap[-1]), unit="m")


def _blown_up(o: Observation) -> Iterator[Outcome]:
    if "energy_gain" in o.scenario.meaningless or is_worked_on(o) or may_gain_energy(o.scene):
        return  # some laws of impact gain it; thrusters and pulls do
    if overlaps(o)[1]:
        return  # what starts in one another has to part, and no law says with how much energy
    gain, summed = gained(o), sums_of_model(o)
    turned = turned_over_at_joints(o) if summed is None else summed.turned_over
    beyond = gain > _energy_scale(o) + turned
    if beyond.any():
        time = float(o.time[int(np.argmax(beyond))])
        yield Outcome(kind="blew up", time=time, value=float(gain.max()), unit="J")


def _hanging(o: Observation) -> Iterator[Outcome]:
    """The first time of each body: in a flight that is none, then at rest."""
    if not o.gravity.any():
        return
    names, found, flying = [body.name for body in o.scene.bodies], set(), ~(supported(o) | meets_next(o))
    for i in np.flatnonzero(in_contact_only(o)).tolist():
        for first, last in _runs(flying[:, i]):
            missed = missed_fall(o, i, first, last)
            if missed is not None and names[i] not in found:
                found.add(names[i])
                yield Outcome(kind="hangs", bodies=(names[i],), time=float(o.time[first]), value=missed, unit="m")
    if can_rest(o) and not np.isnan(rest_start(o)):
        for i in unbalanced(o):
            if names[i] not in found:
                yield Outcome(kind="hangs", bodies=(names[i],), time=rest_start(o))


def _never_slowed(o: Observation) -> Iterator[Outcome]:
    if can_rest(o) and np.isnan(rest_start(o)):
        which = never_slows(o)
        if which.any():
            names = tuple(o.scene.bodies[i].name for i in np.flatnonzero(which))
            yield Outcome(kind="keeps moving", bodies=names, time=0.5 * float(o.time[-1]))


def missed_fall(o: Observation, i: int, first: int, last: int) -> float | None:
    """m, by which body i misses its free fall between two samples; None where it falls as it should."""
    fallen = (o.time[first:last] - o.time[first])[:, None]
    flown = o.trajectory.position[first, i] + fallen * velocity_at_pose(o)[first, i]
    miss = length(o.trajectory.position[first:last, i] - flown - 0.5 * squared(fallen) * o.gravity)
    fall = 0.5 * float(norm(o.gravity)) * squared(fallen[:, 0])
    wrong = (miss > MISSED * fall) & (fall > MISSED * width(o)[i])
    return float(miss.max()) if wrong.any() else None


def _runs(flags: Flags) -> Iterator[tuple[int, int]]:
    """First and beyond-the-last index of each run of True."""
    edges = np.flatnonzero(np.diff(flags.astype(int), prepend=0, append=0))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist())
