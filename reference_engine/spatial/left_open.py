"""From when on contact forces that the laws leave open move the bodies of an island."""

import numpy as np

from reference_engine.array_types import Array
from reference_engine.contact_problems.open_forces import open_forces
from reference_engine.dense import mul, norm
from reference_engine.spatial import layout as col
from reference_engine.spatial.accelerations import rate_entry
from reference_engine.spatial.frames import Frames
from reference_engine.spatial.layout import Run
from reference_engine.spatial.motion import OpenForces

OFF = 1e-7  # of the largest acceleration: of a gap that stays closed


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
    found = open_forces(frames.L, model.value[contacts, col.FRICTION], slides, force, closed)
    if found is None:
        return None
    moves = np.flatnonzero(model.inverse_mass > 0.0)
    now = rates.reshape(-1, int(col.BODY))[:, col.V :]
    pairs = model.candidate[np.array(contacts)][:, (col.FIRST, col.SECOND)]
    return OpenForces(
        time=time, first=pairs[:, 0], second=pairs[:, 1], body=moves,
        force=np.stack([np.einsum("nij,ni->nj", frames.Q[: frames.n], other) for other in found]),
        acceleration=np.stack([(now + frames.moved(other - force))[moves] for other in found]),
    )  # fmt: skip
