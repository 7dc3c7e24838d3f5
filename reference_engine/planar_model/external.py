"""What acts on bodies besides contacts and connectors, as kernels.

The state y of B bodies is flat: poses (x, y, angle), 3 B of them, then as many of their rates. A rate has the
same order. The fixed background is body -1, at rest at the origin; it needs no row of its own.
"""

import math
from typing import Any

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.kernels import entry, kernel
from reference_engine.compiler.structure import PackedStruct, Structure, of_shape
from reference_engine.elementary_kernels import angle_of
from reference_engine.planar_model.forces import Attraction, ConstantForce, Spring, Thruster
from reference_engine.planar_model.functions import Functions, call_function
from reference_engine.planar_model.world import World
from reference_engine.trigonometry import sine_and_cosine


class Forces(Structure):
    """F forces in the world's order, on B bodies; K corners of profiles, R rubber bands."""

    mass: Array = of_shape("B", 3)  # kg, kg, kg m^2; infinite if fixed
    weight: Array = of_shape("B", 3)  # m/s^2 and 0: gravity
    drag: Array = of_shape(3)  # kg/s, kg/s, kg m^2/s, at most 0: minus the damping
    air: Array = of_shape(1)  # kg/m, the quadratic damping
    ids: Indices = of_shape("F", 5)
    row: Array = of_shape("F", 9)
    knots: Array = of_shape("K", 3)  # s and factor, or s and point, m: profile after profile, path after path
    bands: Indices = of_shape("R")  # which forces are rubber bands
    free: Indices = of_shape("free")  # the bodies that are not fixed
    function: Indices = of_shape(1)  # address of what Python adds last; 0 where there is none


# ids: kind; bodies, the second of a spring alone; corners of the profile or path from FIRST_KNOT to before END_KNOT, or
# none
KIND, FIRST, SECOND, FIRST_KNOT, END_KNOT = range(5)
ATTRACTION, SPRING, BAND, TURNING_FORCE, FIXED_FORCE = range(5)  # KIND
# row: arms from centres of mass, in the frames of the bodies; of a spring length, stiffness, damping and the velocity
# of a point of the background; of a push force, torque and how fast it turns in its body's frame; of an attraction its
# strength
P1X, P1Y, P2X, P2Y, LENGTH, STIFFNESS, DAMPING, UX, UY = range(9)
FX, FY, TORQUE, RATE = LENGTH, STIFFNESS, DAMPING, UX
STRENGTH = STIFFNESS
HEAD, TAIL = range(2)  # ends of a spring
FIXED, NOTHING = (math.inf,) * 3, (0.0,) * 3  # of a body that nothing moves
SWERVES = 0.1  # rad, between the velocity and the force against it
AT_STAND = 1e-9  # s before it
KINK = 0.02  # 4/6, times what the weights do to a jump at worst


def pack_forces(world: World, *, background: bool = False) -> tuple[Forces, Functions]:
    """The world's forces, gravity and damping for the kernels, and the Python functions that these call.

    With `background` there is a row more, the last, for a body that nothing moves. The functions must live as long as
    the forces are used, and be asked (`check`) whether one has failed.
    """
    numbers, functions = forces_in_numbers(world, background=background)
    return PackedStruct(Forces, numbers).structure, functions


def forces_in_numbers(world: World, *, background: bool) -> tuple[tuple[list[Any], ...], Functions]:
    """The same as lists, one for each field of Forces."""
    mass: list[float] = []
    weight: list[float] = []
    for body in world.bodies:
        m = body.mass
        mass += FIXED if body.fixed else (m, m, body.inertia or math.inf)
        weight += NOTHING if body.fixed else (*(m * g / m for g in world.gravity), 0.0)  # bits of a force over its mass
    if background:
        mass += FIXED
        weight += NOTHING
    ids: list[int] = []
    rows: list[float] = []
    knots: list[float] = []
    given = [force for force in world.forces if not callable(force)]
    for force in given:
        corners = corners_of(force)
        kind, bodies, row = packed(force, world)
        ids += (kind, *bodies, len(knots) // 3, len(knots) // 3 + len(corners))
        rows += row
        for corner in corners:
            knots += corner
    bands = [k for k, force in enumerate(given) if isinstance(force, Spring) and force.pulls_only]
    free = [i for i, body in enumerate(world.bodies) if not body.fixed]
    functions = Functions(world, mass)
    drag = [-world.damping, -world.damping, -world.rotational_damping]
    air = [world.quadratic_damping]
    return (mass, weight, drag, air, ids, rows, knots, bands, free, [functions.address]), functions


def corners_of(force: Any) -> list[tuple[float, float, float]]:
    """Of a thruster's profile, but for one without change; of a spring's path."""
    if isinstance(force, Thruster) and len(force.profile) > 1:
        return [(time, factor, 0.0) for time, factor in force.profile]
    if isinstance(force, Spring):
        return [(time, x, y) for time, (x, y) in force.first_path]
    return []


def packed(
    force: Attraction | ConstantForce | Spring | Thruster, world: World
) -> tuple[int, tuple[int, int], tuple[float, ...]]:
    """Kind, bodies and row of one force; points become arms. A profile of one corner has been multiplied with."""
    if isinstance(force, Attraction):
        return ATTRACTION, (-1, -1), (0.0, 0.0, 0.0, 0.0, 0.0, force.strength, 0.0, 0.0, 0.0)
    if isinstance(force, Spring):
        arms = *world.arm(force.first, force.first_point), *world.arm(force.second, force.second_point)
        row = (*arms, force.length, force.stiffness, force.damping, *force.first_velocity)
        return BAND if force.pulls_only else SPRING, (force.first, force.second), row
    (fx, fy), torque, turns, rate = force.force, 0.0, True, 0.0
    if isinstance(force, ConstantForce):
        torque, turns = force.torque, force.turns
    else:
        rate, turns = force.turn_rate, force.turns
        if len(force.profile) == 1:
            fx, fy = fx * force.profile[0][1], fy * force.profile[0][1]
    kind = TURNING_FORCE if turns else FIXED_FORCE
    return kind, (force.body, -1), (*world.arm(force.body, force.point), 0.0, 0.0, fx, fy, torque, rate, 0.0)


@entry
def accelerate(forces, time, y, B, rate_out):
    """rate_out[3 B + 3 i + c]: accelerations of all bodies from gravity, damping and all forces; 0 of fixed ones.

    The poses' part of `rate_out` is left as it is. Where a profile jumps, the force is the one after the jump.
    """
    for at in range(3 * B, 6 * B):
        rate_out[at] = 0.0
    for k in range(forces.ids.shape[0]):
        kind = forces.ids[k, KIND]
        if kind == ATTRACTION:
            attract(forces, k, y, B, rate_out)
        elif kind in (SPRING, BAND):
            pull(forces, k, time, y, B, rate_out)
        else:
            thrust(forces, k, time, y, B, rate_out)
    for k in range(forces.free.shape[0]):
        i = forces.free[k]
        for c in range(3):
            at = 3 * (B + i) + c
            if forces.drag[c] != 0.0:
                rate_out[at] += forces.drag[c] * y[at] / forces.mass[i, c]
            rate_out[at] += forces.weight[i, c]
        if forces.air[0] != 0.0:
            at = 3 * (B + i)
            drag = forces.air[0] * np.sqrt(y[at] * y[at] + y[at + 1] * y[at + 1])
            rate_out[at] -= drag * y[at] / forces.mass[i, 0]
            rate_out[at + 1] -= drag * y[at + 1] / forces.mass[i, 1]
    if forces.function[0] != 0:
        call_function(forces.function[0], time, y, rate_out)  # type: ignore[call-arg]  # numba adds the first


@kernel
def weight_alone(forces):
    """Does nothing but gravity act, so that free bodies fall along parabolas?"""
    drags = forces.drag[0] != 0.0 or forces.drag[2] != 0.0 or forces.air[0] != 0.0
    return not drags and forces.ids.shape[0] == 0 and forces.function[0] == 0


@kernel
def add_force(forces, body, rx, ry, fx, fy, B, rate_out):
    """Force (fx, fy) [N] at (rx, ry) [m] from the centre of mass, world axes."""
    if body >= 0:
        at = 3 * (B + body)
        rate_out[at] += fx / forces.mass[body, 0]
        rate_out[at + 1] += fy / forces.mass[body, 1]
        rate_out[at + 2] += (rx * fy - ry * fx) / forces.mass[body, 2]


@kernel
def attract(forces, k, y, B, rate_out):
    """strength m1 m2 / r^2 between the centres of every two free bodies."""
    for i in range(B):
        for j in range(i + 1, B):
            m_i, m_j = forces.mass[i, 0], forces.mass[j, 0]
            if m_i < np.inf and m_j < np.inf:
                dx, dy = y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1]
                r = np.sqrt(dx * dx + dy * dy)
                size = forces.row[k, STRENGTH] * m_i * m_j / (r * r)
                fx, fy = size * (dx / r), size * (dy / r)
                add_force(forces, i, 0.0, 0.0, -fx, -fy, B, rate_out)
                add_force(forces, j, 0.0, 0.0, fx, fy, B, rate_out)


@kernel
def thrust(forces, k, time, y, B, rate_out):
    """A force at a point of a body, turning with it or not, and a torque, times the factor of the profile."""
    body, px, py = forces.ids[k, FIRST], forces.row[k, P1X], forces.row[k, P1Y]
    fx, fy = forces.row[k, FX], forces.row[k, FY]
    s, c = sine_and_cosine(y[3 * body + 2])
    if forces.row[k, RATE] != 0.0:
        sine, cosine = sine_and_cosine(forces.row[k, RATE] * time)
        fx, fy = fx * cosine - fy * sine, fx * sine + fy * cosine
    if forces.ids[k, KIND] == TURNING_FORCE:
        fx, fy = fx * c - fy * s, fx * s + fy * c
    factor = factor_at(forces, k, time)
    x, y_ = y[3 * body], y[3 * body + 1]  # arms as world points less the centre, for the bits of the faithful mode
    rx, ry = x + (px * c - py * s) - x, y_ + (px * s + py * c) - y_
    add_force(forces, body, rx, ry, factor * fx, factor * fy, B, rate_out)
    rate_out[3 * (B + body) + 2] += factor * forces.row[k, TORQUE] / forces.mass[body, 2]


@kernel
def factor_at(forces, k, time):
    """Linear between the corners of the profile, constant before and after; 1 without a profile."""
    first, end = forces.ids[k, FIRST_KNOT], forces.ids[k, END_KNOT]
    if first == end:
        return 1.0
    after = first
    while after < end and forces.knots[after, 0] <= time:
        after += 1
    if after == first:
        return forces.knots[first, 1]
    t, factor = forces.knots[after - 1, 0], forces.knots[after - 1, 1]
    if after == end:
        return factor
    return factor + (forces.knots[after, 1] - factor) / (forces.knots[after, 0] - t) * (time - t)


@kernel
def acts(forces, k, time):
    """Does spring k act now? One with a path does from its first time to before its last."""
    first, end = forces.ids[k, FIRST_KNOT], forces.ids[k, END_KNOT]
    return first == end or forces.knots[first, 0] <= time < forces.knots[end - 1, 0]


@kernel
def on_path(forces, k, time):
    """The point that a spring's path has come to [m], and its velocity [m/s]; of the nearest stretch outside of it."""
    first, end = forces.ids[k, FIRST_KNOT], forces.ids[k, END_KNOT]
    after = first + 1
    while after < end - 1 and forces.knots[after, 0] <= time:
        after += 1
    t, x, y = forces.knots[after - 1, 0], forces.knots[after - 1, 1], forces.knots[after - 1, 2]
    span = forces.knots[after, 0] - t
    ux, uy = (forces.knots[after, 1] - x) / span, (forces.knots[after, 2] - y) / span
    return x + ux * (time - t), y + uy * (time - t), ux, uy


@kernel
def spring_end(forces, k, side, time, y):
    """An end of a spring: (arm from the centre of mass, point) [m], world axes."""
    body, px, py = forces.ids[k, FIRST + side], forces.row[k, P1X + 2 * side], forces.row[k, P1Y + 2 * side]
    if body < 0:
        if side == HEAD and forces.ids[k, FIRST_KNOT] < forces.ids[k, END_KNOT]:
            px, py, _, _ = on_path(forces, k, time)
        elif side == HEAD:
            px, py = px + forces.row[k, UX] * time, py + forces.row[k, UY] * time
        return 0.0, 0.0, px, py
    s, c = sine_and_cosine(y[3 * body + 2])
    rx, ry = px * c - py * s, px * s + py * c
    return rx, ry, y[3 * body] + rx, y[3 * body + 1] + ry


@kernel
def end_velocity(forces, k, side, rx, ry, time, y, B):
    """Of that end [m/s]."""
    body = forces.ids[k, FIRST + side]
    if body < 0 and side == HEAD and forces.ids[k, FIRST_KNOT] < forces.ids[k, END_KNOT]:
        _, _, ux, uy = on_path(forces, k, time)
        return ux, uy
    if body < 0:
        return (forces.row[k, UX], forces.row[k, UY]) if side == HEAD else (0.0, 0.0)
    at = 3 * (B + body)
    return y[at] - y[at + 2] * ry, y[at + 1] + y[at + 2] * rx


@kernel
def pull(forces, k, time, y, B, rate_out):
    """tension = stiffness (length - length at rest) + damping d length / dt; none at length 0, which has no direction.

    A rubber band has none while it is shorter than at rest.
    """
    if not acts(forces, k, time):
        return
    r1x, r1y, x1, y1 = spring_end(forces, k, HEAD, time, y)
    r2x, r2y, x2, y2 = spring_end(forces, k, TAIL, time, y)
    dx, dy = x2 - x1, y2 - y1
    length = np.sqrt(dx * dx + dy * dy)
    stretch = length - forces.row[k, LENGTH]
    if length == 0.0 or (forces.ids[k, KIND] == BAND and stretch < 0.0):
        return
    dx, dy = dx / length, dy / length
    ux, uy = end_velocity(forces, k, HEAD, r1x, r1y, time, y, B)
    vx, vy = end_velocity(forces, k, TAIL, r2x, r2y, time, y, B)
    tension = forces.row[k, STIFFNESS] * stretch + forces.row[k, DAMPING] * ((vx - ux) * dx + (vy - uy) * dy)
    add_force(forces, forces.ids[k, FIRST], r1x, r1y, tension * dx, tension * dy, B, rate_out)
    add_force(forces, forces.ids[k, SECOND], r2x, r2y, -tension * dx, -tension * dy, B, rate_out)


@kernel
def stretch_of(forces, k, time, y):
    """Length of spring k less its length at rest [m]."""
    _, _, x1, y1 = spring_end(forces, k, HEAD, time, y)
    _, _, x2, y2 = spring_end(forces, k, TAIL, time, y)
    return np.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2) - forces.row[k, LENGTH]


@entry
def next_knot(forces, time):
    """The first time after `time` at which a profile has a corner [s]; infinite if none."""
    first = np.inf
    for k in range(forces.knots.shape[0]):
        if time < forces.knots[k, 0] < first:
            first = forces.knots[k, 0]
    return first


@kernel
def quickest_turn(forces):
    """rad/s, of a force that turns by a plan, in its body's frame or the world's; 0 where none does."""
    quickest = 0.0
    for k in range(forces.ids.shape[0]):
        if forces.ids[k, KIND] in (TURNING_FORCE, FIXED_FORCE):
            quickest = max(quickest, abs(forces.row[k, RATE]))
    return quickest


@kernel
def acts_by_plan(forces):
    """May forces change while no body moves? By profiles and paths, turns, springs that are pulled, and by Python."""
    if forces.function[0] != 0 or forces.knots.shape[0] > 0 or quickest_turn(forces) > 0.0:
        return True
    for k in range(forces.ids.shape[0]):
        pulled = forces.row[k, UX] != 0.0 or forces.row[k, UY] != 0.0
        if pulled and forces.ids[k, KIND] in (SPRING, BAND):
            return True
    return False


@kernel
def first_turn(forces, y, rate, h, tolerance):
    """Seconds until a body that moves against a force that stays as it is comes to a stand; infinite if none does.

    There |v| v has a kink. With g the acceleration without drag and k = air / mass: v' = -g - k v^2, so it takes
    arctan(v sqrt(k / g)) / sqrt(k g). It needs no care where the body swerves, when it stands already, and where a step
    of length h over the kink is off by no more than the tolerance: the third derivative of v jumps by 4 k g^2, which
    makes an error of that times h^3/6 and what the weights of the method do to a jump.
    """
    first, B = np.inf, y.shape[0] // 6
    for q in range(forces.free.shape[0]):
        at, k = 3 * (B + forces.free[q]), forces.air[0] / forces.mass[forces.free[q], 0]
        vx, vy = y[at], y[at + 1]
        speed = np.sqrt(vx * vx + vy * vy)
        gx, gy = -rate[at] - k * speed * vx, -rate[at + 1] - k * speed * vy
        against, across = vx * gx + vy * gy, vx * gy - vy * gx
        g = np.sqrt(gx * gx + gy * gy)
        if against > 0.0 and abs(across) < SWERVES * against and KINK * k * g * g * h**3 > tolerance:
            time = angle_of(speed * np.sqrt(k / g), 1.0) / np.sqrt(k * g)
            if time > AT_STAND:
                first = min(first, time)
    return first


@entry
def potential_energy(forces, time, y, B):
    """Of gravity (0 at the origin), attraction (0 at infinity) and springs [J]; pushes have none."""
    total = 0.0
    for i in range(B):
        if forces.mass[i, 0] < np.inf:
            height = forces.weight[i, 0] * y[3 * i] + forces.weight[i, 1] * y[3 * i + 1]
            total -= forces.mass[i, 0] * height
    for k in range(forces.ids.shape[0]):
        kind = forces.ids[k, KIND]
        if kind == ATTRACTION:
            for i in range(B):
                for j in range(i + 1, B):
                    m_i, m_j = forces.mass[i, 0], forces.mass[j, 0]
                    if m_i < np.inf and m_j < np.inf:
                        r = np.sqrt((y[3 * i] - y[3 * j]) ** 2 + (y[3 * i + 1] - y[3 * j + 1]) ** 2)
                        total -= forces.row[k, STRENGTH] * m_i * m_j / r
        elif kind in (SPRING, BAND):
            stretch = stretch_of(forces, k, time, y)
            if acts(forces, k, time) and (kind == SPRING or stretch > 0.0):
                total += 0.5 * forces.row[k, STIFFNESS] * stretch * stretch
    return total
