"""From when on contact forces that the laws leave open move the bodies of an island."""

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.contact_problems.open_forces import open_forces
from reference_engine.dense import mul, norm
from reference_engine.spatial import caps
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import rate_entry
from reference_engine.spatial.frames import Frames
from reference_engine.spatial.layout import Run
from reference_engine.spatial.motion import OpenForces

OFF = 1e-7  # of the largest acceleration: of a gap that stays closed
STILL = 1e-6  # of the largest speed over a cap: where it turns on the spot friction has no direction
THIRDS = (0.0, 2.0 * np.pi / 3.0, 4.0 * np.pi / 3.0)  # rad, of a cap's supports
OVER_A_CAP = [(0.0, 0.0), *((0.5, np.pi / 3.0 * k) for k in range(6)), *((1.0, np.pi / 6.0 * k) for k in range(12))]
"""In radii, and rad from the first support: points that stand for all of a cap."""


def left_open(run: Run, y: Array, contacts: list[int], joints: list[int], time: float) -> OpenForces | None:
    """At the state y (13 a body) with what is active in the run; contacts: all at gap 0, with force or without."""
    active, count, model = run.active, int(run.active.count[0]), run.model
    ids = active.candidate[:count]
    rubs = (active.mode[:count] == col.SLIP) & (model.value[ids, col.FRICTION] > 0.0)
    if not rubs.any() or len(contacts) < 2:
        return None
    rates = np.zeros_like(y)
    rate_entry(run, y, rates)
    given = dict(zip(ids.tolist(), run.work.force[:count].copy()))
    ways = dict(zip(ids[rubs].tolist(), run.work.slip[:count][rubs].copy()))
    frames = Frames(run, y, contacts, joints)
    force, slides = np.zeros((frames.n, 3)), np.zeros((frames.n, 2))
    for n, k in enumerate(contacts):
        if k in given:
            force[n] = mul(frames.Q[n], given[k])
        if k in ways:
            across = mul(frames.Q[n, 1:], ways[k])
            slides[n] = across / norm(across)
    gaps = mul(frames.A, force.ravel())[::3] + frames.b[:, 0]
    closed = (force[:, 0] > 0.0) | (np.abs(gaps) <= OFF * float(np.abs(frames.b).max()))
    within, friction, rows = _within_caps(run, contacts, frames), model.value[contacts, col.FRICTION], frames.L
    rows = np.concatenate(
        [rows, np.einsum("en,nij->eij", within, rows.reshape(frames.n, 3, -1)).reshape(-1, rows.shape[1])]
    )
    others = mul(within, frames.u[:, 1:])
    found = open_forces(
        rows, np.concatenate([friction, friction[within.argmax(axis=1)]]),
        np.concatenate([slides, others / np.sqrt(np.einsum("ei,ei->e", others, others))[:, None]]),
        np.concatenate([force, np.zeros((len(within), 3))]), np.concatenate([closed, np.ones(len(within), bool)]),
    )  # fmt: skip
    if found is None:
        return None
    found = tuple(one[: frames.n] + mul(within.T, one[frames.n :]) for one in found)
    moves = np.flatnonzero(model.inverse_mass > 0.0)
    now = rates.reshape(-1, int(col.BODY))[:, col.V :]
    pairs = model.candidate[np.array(contacts)][:, (col.FIRST, col.SECOND)]
    return OpenForces(
        time=time, first=pairs[:, 0], second=pairs[:, 1], body=moves,
        force=np.stack([np.einsum("nij,ni->nj", frames.Q[: frames.n], other) for other in found]),
        acceleration=np.stack([(now + frames.moved(other - force))[moves] for other in found]),
    )  # fmt: skip


def _within_caps(run: Run, contacts: list[int], frames: Frames) -> Array:
    """(E, n): points of flat caps that slide, each as its three supports' shares, which add up to 1: a force there does
    what such shares of it do at these, and the point moves as they do."""
    found = []
    for k in caps.rims_of(run, contacts):
        if any(one not in contacts for one in caps.supports(k)):
            continue
        at = [contacts.index(one) for one in caps.supports(k)]
        speed = np.sqrt(np.einsum("ni,ni->n", frames.u[at, 1:], frames.u[at, 1:]))
        if speed.min() <= float(run.scale[1]):
            continue
        for radius, angle in OVER_A_CAP:
            shares = np.zeros(frames.n)
            shares[at] = [(1.0 + 2.0 * radius * elementary.cos(angle - third)) / 3.0 for third in THIRDS]
            if norm(mul(shares, frames.u[:, 1:])) > STILL * float(speed.max()):
                found.append(shares)
    return np.array(found).reshape(-1, frames.n)
