"""One step of Runge-Kutta 4, modified Euler or Euler, with the contacts and their forces at every stage.

The stages are looked at like states: bodies that penetrate in one end the step.
"""

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import entry
from reference_engine.compiler.structure import Structure, of_shape, zeros
from reference_engine.contactsim import arrays as col
from reference_engine.contactsim.arrays import Bodies
from reference_engine.contactsim.collision import is_close, is_colliding, is_imminent
from reference_engine.contactsim.contact import ACCEPTED, apply_contact_forces
from reference_engine.contactsim.detection import find, least_gap
from reference_engine.planar_model.external import Forces, accelerate

RUNGE_KUTTA, MODIFIED_EULER, EULER = range(3)
WENT, PENETRATES, FULL, NO_FORCES = range(4)


class Stages(Structure):
    """Arrays for the stages of one step; (B + 1, 3) is (x, y, angle) or its rates."""

    bodies: Bodies  # of the stage
    forces: Forces
    motion: Array = of_shape(2, 4, "B + 1", 3)  # twist and acceleration of each stage
    state: Array = of_shape(2, "6 B + 6")  # as `accelerate` takes it, and its rate


def new_stages(forces: Forces, frames: Array) -> Stages:
    sizes = {"B + 1": len(frames), "6 B + 6": 6 * len(frames)}
    bodies = zeros(Bodies, sizes, frame=frames, old_frame=frames.copy())
    return zeros(Stages, sizes, bodies=bodies, forces=forces)


@entry
def evaluate(o, rules, stages, contact_forces, ids, values, seed, work, rate):
    """Accelerations of the stage's bodies; (outcome, rows found, worst violation, True: to be seen to)."""
    bodies, state, state_rate = stages.bodies, stages.state[0], stages.state[1]
    frame, twist, n = bodies.frame, bodies.twist, rate.shape[0]
    for i in range(n):
        for c in range(3):
            state[3 * i + c], state[3 * (n + i) + c] = frame[i, c], twist[i, c]
    accelerate(stages.forces, bodies.now[col.TIME], state, n, state_rate)
    for i in range(n):
        for c in range(3):
            rate[i, c] = state_rate[3 * (n + i) + c]
    if not contact_forces:
        return WENT, 0, 0.0, True
    count = find(o, rules, bodies, ids, values, 0)
    if count < 0 or count > work.A.shape[0]:
        return FULL, count, 0.0, True
    if least_gap(ids, values, count) < 0.0:
        return PENETRATES, count, 0.0, True
    count, violation = apply_contact_forces(o, rules, frame, twist, ids, values, count, seed, work, rate)
    return (NO_FORCES if violation > ACCEPTED else WENT), count, violation, True


@entry
def attempt(
    o, rules, method, contact_forces, time, h, pose, twist, old_pose, has_old, at_end, stages, seed, work, ids, values,
    pose_out, twist_out,
):  # fmt: skip
    """A step of h from (pose, twist): (outcome, rows where it ended, worst violation, anything to be seen to there?).

    The rows are those of the stage that failed, or of the end of the step; without `at_end` of the last stage.
    """
    n, slope, rate, bodies = pose.shape[0], stages.motion[0], stages.motion[1], stages.bodies
    count_of_stages = 4 if method == RUNGE_KUTTA else (2 if method == MODIFIED_EULER else 1)
    bodies.has_old[0] = 1 if has_old else 0
    for i in range(n):
        for c in range(3):
            bodies.old_frame[i, c] = old_pose[i, c]
    for s in range(count_of_stages):
        denominator = 2.0 if method == RUNGE_KUTTA and s < 3 else 1.0
        for i in range(n):
            for c in range(3):
                if s == 0:
                    bodies.frame[i, c], slope[0, i, c] = pose[i, c], twist[i, c]
                else:
                    bodies.frame[i, c] = pose[i, c] + slope[s - 1, i, c] * h / denominator
                    slope[s, i, c] = twist[i, c] + rate[s - 1, i, c] * h / denominator
                bodies.twist[i, c] = slope[s, i, c]
        ahead = 0.0 if s == 0 else h / denominator
        bodies.now[col.TIME], bodies.now[col.STEP] = time + ahead, ahead
        outcome, count, violation, busy = evaluate(o, rules, stages, contact_forces, ids, values, seed, work, rate[s])
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
            bodies.frame[i, c], bodies.twist[i, c] = pose_out[i, c], twist_out[i, c]
    if not at_end:
        return WENT, count, 0.0, busy
    bodies.now[col.TIME], bodies.now[col.STEP] = time + divisor * h / divisor, h
    count = find(o, rules, bodies, ids, values, 0)
    if count < 0:
        return FULL, count, 0.0, True
    busy = False
    for k in range(count):
        imminent = is_imminent(rules, ids, values, k)
        busy = busy or is_colliding(rules, ids, values, k) or (imminent and is_close(rules, ids, values, k, False))
    return WENT, count, 0.0, busy
