"""Whether reported impulses obey the law of friction, once they are known to be what moves the bodies."""

import math

import numpy as np

from reference_engine.dense import norm
from scenarios.forces import jointed
from validation.metrics.axes import moment, to_body_axes, to_world_axes
from validation.metrics.flight import applied_wrenches, outer_acceleration
from validation.metrics.metric import Metric, Sentence
from validation.metrics.observation import (
    Array,
    Flags,
    Observation,
    bounding_radius,
    free,
    free_inertia,
    free_mass,
    length,
    shared,
)
from validation.records.trajectory import Contacts, PlanarTrajectory

BALANCE = 0.05  # of the impulses and the weight's: how exactly reported impulses explain the change of momentum
MOST = 0.9  # of the bodies and samples that can be checked must balance, or the report is no evidence
LEAST_LOAD = 0.01  # of the weight: a contact that carries less is measured against this
MOMENTUM_TOLERANCE = 1e-6  # of the largest momentum of a body: single precision, several operations
ONE_STEP = 1e-6  # of dt: how exactly two samples are one step apart


def cone_violation(o: Observation) -> float | None:
    """Largest of (|j_t| - mu j_n) and -j_n over the reported contacts, relative to the impulse scale of the contact.

    The scale is |j|, or 1 % of the weight of the lighter body over one step where that is more, and no less than
    round-off. NaN where the reported impulses do not explain how the momentum changes: then they are no evidence. Left
    out where none is reported.
    """
    contacts = o.trajectory.contacts
    if contacts is None or not np.isfinite(contacts.impulse).any():
        return None
    balanced = balance(o)
    if balanced is None:
        return math.nan
    members = (*o.scene.bodies, *o.scene.boundaries)
    pairs, law = np.unique(contacts.a * len(members) + contacts.b, return_inverse=True)
    sides = (divmod(pair, len(members)) for pair in pairs.tolist())
    mu = np.array([o.scene.pair_law(members[a], members[b])[0] for a, b in sides])[law.reshape(-1)]
    j_n = np.einsum("ci,ci->c", contacts.impulse, contacts.normal)
    j_t = length(contacts.impulse - j_n[:, None] * contacts.normal)
    m = np.append(np.where(free(o), free_mass(o), math.inf), np.full(len(o.scene.boundaries), math.inf))
    weight = np.minimum(m[contacts.a], m[contacts.b]) * float(norm(o.gravity)) * o.trajectory.dt
    scale = np.maximum(length(contacts.impulse), np.maximum(LEAST_LOAD * weight, momentum_tolerance(o)))
    excess = np.maximum(j_t - mu * np.maximum(j_n, 0.0), -j_n)
    share = np.where(scale > 0.0, excess / np.where(scale > 0.0, scale, 1.0), 0.0)
    return max(0.0, float(share[balanced].max(initial=0.0)))


@shared
def momentum_tolerance(o: Observation) -> float:
    """N s: what the largest momentum that a body ever has leaves uncertain."""
    return MOMENTUM_TOLERANCE * float((length(o.trajectory.velocity) * free_mass(o)).max())


@shared
def balance(o: Observation) -> Flags | None:
    """(C,) contacts whose two bodies balance over the step that ends at the sample; None where most do not.

    m (v - v_before) = (m g + F) dt + sum of j,  I (w - w_before) = T dt + sum of (point - x) x j, with F and T the
    applied force and torque, and x of the sample or of the one before: engines report points at the pose where they
    solve. Bodies with joints, whose impulses nobody reports, are not checked, and neither are samples without the one
    a step before.
    """
    contacts, dt = o.trajectory.contacts, o.trajectory.dt
    assert contacts is not None
    samples, bodies = o.trajectory.velocity.shape[:2]
    one_step = np.zeros(samples, bool)
    one_step[1:] = np.abs(o.interval - dt) <= ONE_STEP * dt
    checked = np.zeros((samples, bodies), bool)
    for side in (contacts.a, contacts.b):
        of_body = side < bodies
        checked[contacts.sample[of_body], side[of_body]] = True
    names = [body.name for body in o.scene.bodies]
    tied = jointed(o.scene)
    checked &= one_step[:, None] & free(o) & np.array([name not in tied for name in names])
    if not checked.any():
        return None
    linear, angular, scale = unexplained(o, contacts)
    fine = checked & (linear <= BALANCE * scale) & (angular <= BALANCE * bounding_radius(o) * scale)
    if fine.sum() < MOST * checked.sum():
        return None
    still = np.concatenate([fine | ~free(o), np.ones((samples, len(o.scene.boundaries)), bool)], axis=1)
    return one_step[contacts.sample] & still[contacts.sample, contacts.a] & still[contacts.sample, contacts.b]


def unexplained(o: Observation, contacts: Contacts) -> tuple[Array, Array, Array]:
    """(S, B) each: linear (N s) and angular (N m s) impulse missing in the balance, and the scale of impulses (N s).

    Of the angular one the smaller of the two that x and x before give; they differ by (x - x_before) x sum of j.
    """
    bodies = o.trajectory.velocity.shape[1]
    m, dt = free_mass(o), o.trajectory.dt
    x, v, spin = o.trajectory.position, o.trajectory.velocity, o.trajectory.spin
    inertia = free_inertia(o)
    if isinstance(o.trajectory, PlanarTrajectory):
        L = (inertia * spin)[..., None]
    else:
        q = o.trajectory.orientation
        L = to_world_axes(q, inertia * to_body_axes(q, spin))
    fall = np.broadcast_to(outer_acceleration(o), v.shape) * m[:, None] * dt
    linear = np.diff(v * m[:, None], axis=0, prepend=v[:1] * m[:, None]) - fall
    angular = np.diff(L, axis=0, prepend=L[:1])
    applied = applied_wrenches(o)
    if applied is not None:
        angular -= applied.torque * dt
    total, scale = np.zeros_like(v), length(fall) + momentum_tolerance(o) / BALANCE
    for sign, side in ((-1.0, contacts.a), (1.0, contacts.b)):
        of_body = side < bodies
        at = (contacts.sample[of_body], side[of_body])
        j, arm = sign * contacts.impulse[of_body], contacts.point[of_body] - x[at]
        np.add.at(total, at, j)
        np.subtract.at(angular, at, moment(arm, j))
        np.add.at(scale, at, length(j))
    earlier = angular - moment(np.diff(x, axis=0, prepend=x[:1]), total)
    return length(linear - total), np.minimum(length(angular), length(earlier)), scale


METRICS = (
    Metric(
        cone_violation,
        "1",
        "round-off",
        happens="perhaps",
        law="friction cone",
        sentence=Sentence("reported contact forces leave the friction cone by {new} of their size"),
    ),
)
