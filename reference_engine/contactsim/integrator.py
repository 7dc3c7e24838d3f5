"""One step of Runge-Kutta 4, modified Euler or Euler, with the contacts and their forces at every stage.

The stages are looked at like states: bodies that penetrate in one end the step.
"""

from dataclasses import dataclass

import numpy as np

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import entry
from reference_engine.compiler.structure import Structure, of_shape, zeros
from reference_engine.contactsim.collision import is_close, is_colliding, is_imminent
from reference_engine.contactsim.contact import ACCEPTED, apply_contact_forces
from reference_engine.contactsim.detection import find, least_gap
from reference_engine.planar_model.external import Forces, accelerate

RUNGE_KUTTA, MODIFIED_EULER, EULER = range(3)
WENT, PENETRATES, FULL, NO_FORCES = range(4)


@dataclass(frozen=True, eq=False)
class Stages(Structure):
    """Arrays for the stages of one step; (B + 1, 3) is (x, y, angle) or its rates."""

    forces: Forces
    motion: Array = of_shape(2, 4, "B + 1", 3)  # twist and acceleration of each stage
    pose: Array = of_shape(2, "B + 1", 3)  # of the stage, and at the start of the step
    trig: Array = of_shape(2, "B + 1", 4)  # of both cosine and sine of the angle; centre of mass in the body's frame
    crossings: Array = of_shape(2, 2)
    state: Array = of_shape(2, "6 B + 6")  # as `accelerate` takes it, and its rate


def new_stages(forces: Forces, frames: Array) -> Stages:
    n = len(forces.mass)
    return zeros(Stages, {"B + 1": n, "6 B + 6": 6 * n}, forces=forces, trig=np.stack([frames, frames]))


@entry
def evaluate(o, rules, stages, twist, has_old, time, step, contact_forces, ids, values, seed, work, rate):
    """Accelerations at the stage's pose; (outcome, rows found, worst violation, True: to be seen to)."""
    n, pose, state, state_rate = twist.shape[0], stages.pose[0], stages.state[0], stages.state[1]
    for i in range(n):
        for c in range(3):
            state[3 * i + c], state[3 * (n + i) + c] = pose[i, c], twist[i, c]
    accelerate(stages.forces, time, state, n, state_rate)
    for i in range(n):
        for c in range(3):
            rate[i, c] = state_rate[3 * (n + i) + c]
    if not contact_forces:
        return WENT, 0, 0.0, True
    count = find(
        o, rules, pose, stages.trig[0], twist, stages.pose[1], stages.trig[1], has_old, time, step, ids, values,
        0, stages.crossings,
    )  # fmt: skip
    if count < 0 or count > work.A.shape[0]:
        return FULL, count, 0.0, True
    if least_gap(ids, values, count) < 0.0:
        return PENETRATES, count, 0.0, True
    count, violation = apply_contact_forces(o, rules, pose, twist, ids, values, count, seed, work, rate)
    return (NO_FORCES if violation > ACCEPTED else WENT), count, violation, True


@entry
def attempt(
    o, rules, method, contact_forces, time, h, pose, twist, old_pose, has_old, at_end, stages, seed, work, ids, values,
    pose_out, twist_out,
):  # fmt: skip
    """A step of h from (pose, twist): (outcome, rows where it ended, worst violation, anything to be seen to there?).

    The rows are those of the stage that failed, or of the end of the step; without `at_end` of the last stage.
    """
    n, slope, rate = pose.shape[0], stages.motion[0], stages.motion[1]
    count_of_stages = 4 if method == RUNGE_KUTTA else (2 if method == MODIFIED_EULER else 1)
    for i in range(n):
        for c in range(3):
            stages.pose[1, i, c] = old_pose[i, c]
    for s in range(count_of_stages):
        denominator = 2.0 if method == RUNGE_KUTTA and s < 3 else 1.0
        for i in range(n):
            for c in range(3):
                if s == 0:
                    stages.pose[0, i, c], slope[0, i, c] = pose[i, c], twist[i, c]
                else:
                    stages.pose[0, i, c] = pose[i, c] + slope[s - 1, i, c] * h / denominator
                    slope[s, i, c] = twist[i, c] + rate[s - 1, i, c] * h / denominator
        ahead = 0.0 if s == 0 else h / denominator
        outcome, count, violation, busy = evaluate(
            o, rules, stages, slope[s], has_old, time + ahead, ahead, contact_forces, ids, values, seed, work, rate[s]
        )
        if outcome != WENT:
            return outcome, count, violation, busy
    divisor = 6.0 if method == RUNGE_KUTTA else float(count_of_stages)
    for i in range(n):
        for c in range(3):
            moved, gained = slope[0, i, c], rate[0, i, c]
            for s in range(1, count_of_stages):
                weight = 2.0 if method == RUNGE_KUTTA and s < 3 else 1.0
                moved += weight * slope[s, i, c]
                gained += weight * rate[s, i, c]
            pose_out[i, c] = pose[i, c] + moved * h / divisor
            twist_out[i, c] = twist[i, c] + gained * h / divisor
    if not at_end:
        return WENT, count, 0.0, busy
    end = time + divisor * h / divisor
    count = find(
        o, rules, pose_out, stages.trig[0], twist_out, stages.pose[1], stages.trig[1], has_old, end, h, ids, values,
        0, stages.crossings,
    )  # fmt: skip
    if count < 0:
        return FULL, count, 0.0, True
    busy = False
    for k in range(count):
        imminent = is_imminent(rules, ids, values, k)
        busy = busy or is_colliding(rules, ids, values, k) or (imminent and is_close(rules, ids, values, k, False))
    return WENT, count, 0.0, busy
