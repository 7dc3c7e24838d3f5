"""One step of Runge-Kutta 4, modified Euler or Euler, with the contacts and their forces at every stage.

The stages are looked at like states: bodies that penetrate in one end the step. `engine` does the same stage by stage
where a force is a Python function.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_engine.geometry.kernels import entry, kernel
from reference_engine.planar.external import Forces, accelerate
from reference_engine.planar.faithful import arrays as col
from reference_engine.planar.faithful.collision import is_close, is_colliding, is_imminent
from reference_engine.planar.faithful.contact import ACCEPTED, apply_contact_forces
from reference_engine.planar.faithful.detection import find, least_gap

Array = NDArray[np.float64]

RUNGE_KUTTA, MODIFIED_EULER, EULER = range(3)
WENT, PENETRATES, NO_ROOM, NO_FORCES = range(4)


class Stages(NamedTuple):
    """Room for the stages of one step; (B + 1, 3) is (x, y, angle) or its rates."""

    slope: Array  # (4, B + 1, 3)
    rate: Array  # (4, B + 1, 3)
    pose: Array  # (B + 1, 3)
    old_pose: Array  # (B + 1, 3) at the start of the step
    trig: Array  # (B + 1, 4) cosine and sine of the angle; centre of mass in the frame of the body
    old_trig: Array  # (B + 1, 4)
    crossings: Array  # (2, 2)
    forces: Forces
    state: Array  # (6 B + 6,) as `accelerate` takes it
    state_rate: Array  # (6 B + 6,)


def room_for_stages(forces: Forces, frames: Array) -> Stages:
    n = len(forces.mass)
    return Stages(
        np.zeros((4, n, 3)), np.zeros((4, n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), frames.copy(),
        frames.copy(), np.zeros((2, 2)), forces, np.zeros(6 * n), np.zeros(6 * n),
    )  # fmt: skip


@kernel
def evaluate(o, rules, stages, twist, time, step, contact_forces, ids, values, seed, work, rate):
    """Accelerations at the stage's pose; (outcome, rows found, worst violation)."""
    n = twist.shape[0]
    for i in range(n):
        for c in range(3):
            stages.state[3 * i + c], stages.state[3 * (n + i) + c] = stages.pose[i, c], twist[i, c]
    accelerate(stages.forces, time, stages.state, n, stages.state_rate)
    for i in range(n):
        for c in range(3):
            rate[i, c] = stages.state_rate[3 * (n + i) + c]
    if not contact_forces:
        return WENT, col.ZERO, 0.0
    count = find(
        o, rules, stages.pose, stages.trig, twist, stages.old_pose, stages.old_trig, col.YES, time, step, ids, values,
        col.ZERO, stages.crossings,
    )  # fmt: skip
    if count < 0 or count > work.A.shape[0]:
        return NO_ROOM, count, 0.0
    if least_gap(ids, values, count) < 0.0:
        return PENETRATES, count, 0.0
    count, violation = apply_contact_forces(o, rules, stages.pose, twist, ids, values, count, seed, work, rate)
    return (NO_FORCES if violation > ACCEPTED else WENT), count, violation


@entry
def attempt(
    o, rules, method, contact_forces, time, h, pose, twist, stages, seed, work, ids, values, pose_out, twist_out
):  # fmt: skip
    """A step of h from (pose, twist): (outcome, rows where it ended, worst violation, anything to be seen to there?).

    The rows are those of the stage that failed, or of the end of the step.
    """
    n = pose.shape[0]
    count_of_stages = 4 if method == RUNGE_KUTTA else (2 if method == MODIFIED_EULER else 1)
    for i in range(n):
        for c in range(3):
            stages.old_pose[i, c] = pose[i, c]
    for s in range(count_of_stages):
        part = 2.0 if method == RUNGE_KUTTA and s < 3 else 1.0
        for i in range(n):
            for c in range(3):
                if s == 0:
                    stages.pose[i, c], stages.slope[0, i, c] = pose[i, c], twist[i, c]
                else:
                    stages.pose[i, c] = pose[i, c] + stages.slope[s - 1, i, c] * h / part
                    stages.slope[s, i, c] = twist[i, c] + stages.rate[s - 1, i, c] * h / part
        ahead = 0.0 if s == 0 else h / part
        outcome, count, violation = evaluate(
            o, rules, stages, stages.slope[s], time + ahead, ahead, contact_forces, ids, values, seed, work,
            stages.rate[s],
        )  # fmt: skip
        if outcome != WENT:
            return outcome, count, violation, True
    divisor = 6.0 if method == RUNGE_KUTTA else float(count_of_stages)
    for i in range(n):
        for c in range(3):
            slope, rate = stages.slope[0, i, c], stages.rate[0, i, c]
            for s in range(1, count_of_stages):
                weight = 2.0 if method == RUNGE_KUTTA and s < 3 else 1.0
                slope += weight * stages.slope[s, i, c]
                rate += weight * stages.rate[s, i, c]
            pose_out[i, c] = pose[i, c] + slope * h / divisor
            twist_out[i, c] = twist[i, c] + rate * h / divisor
    end = time + divisor * h / divisor
    count = find(
        o, rules, pose_out, stages.trig, twist_out, stages.old_pose, stages.old_trig, col.YES, end, h, ids, values,
        col.ZERO, stages.crossings,
    )  # fmt: skip
    if count < 0:
        return NO_ROOM, count, 0.0, True
    busy = False
    for k in range(count):
        imminent = is_imminent(rules, ids, values, k)
        busy = busy or is_colliding(rules, ids, values, k) or (imminent and is_close(rules, ids, values, k, col.NO))
    return WENT, count, 0.0, busy
