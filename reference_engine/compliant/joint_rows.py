"""The conditions of joints, one row each, as arrays: of which bodies, with what in the frames of both.

Three kinds cover all joints, with d from the first's point to the second's, n and u fixed in the first body, w in the
second (Haug 1989, Computer Aided Kinematics and Dynamics of Mechanical Systems, ch. 9):

    ALONG     g = n . d [m]      TURN     g = u . w - c [1]      LENGTH     g = |d| - L [m]
"""

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.compiler.structure import Structure, of_shape
from reference_engine.compliant.world import CompliantWorld
from reference_engine.dense import mul
from reference_engine.multibody.joints import Coupling, Distance
from reference_engine.multibody.rows import fixed_directions, fixed_turns, lifted
from reference_engine.rotation import matrices

ALONG, TURN, LENGTH = range(3)
DIRECTION, FIRST_POINT, SECOND_POINT, VALUE, COLUMNS = 0, 3, 6, 9, 10  # JointRows.row; TURN: w in the second's place
SIDE = 6  # JointWork.jacobian: of a body velocity and spin, the first body's before the second's


class JointRows(Structure):
    """R rows; what does not change."""

    kind: Indices  # (R,)
    body: Indices  # (R, 2); -1 is the world
    row: Array  # (R, 10) see above
    joint: Indices  # (R,) which joint a row is of
    island: Indices  # (B,) of bodies that joints link to one another: the first of them; -1 of what no joint holds


class JointWork(Structure):
    """Scratch."""

    jacobian: Array = of_shape("R", 2 * SIDE)  # g' = jacobian . (v, omega of the first; v, omega of the second)
    gap: Array = of_shape("R")  # m, 1
    bias: Array = of_shape("R")  # g'' without accelerations
    given: Array = of_shape("R", 2 * SIDE)  # the inverse masses times the jacobian
    matrix: Array = of_shape("R", "R")  # jacobian times given, then its factor
    diagonal: Array = of_shape("R")
    order: Indices = of_shape("R")  # of elimination
    unknown: Array = of_shape("R")
    blurred: Array = of_shape("B")  # of islands: see joints.spread_blur
    force: Array = of_shape("R")  # N, N m: of the rows, at the last state asked for


def pack_joints(world: CompliantWorld) -> JointRows:
    """Of the joints of a world, in their order; a turn is held as it is at the start."""
    kinds, bodies, rows, joints = list[int](), list[tuple[int, int]](), list[Array](), list[int]()
    for k, joint in enumerate(world.joints):
        ends = joint.first, joint.second
        points = lifted(joint.first_point), lifted(joint.second_point)
        first, second = (np.eye(3) if i < 0 else rotation_of(world, i) for i in ends)
        of_joint: list[tuple[int, Array]] = []
        if isinstance(joint, Distance):
            of_joint.append((LENGTH, np.concatenate([np.zeros(3), *points, [joint.length]])))
        if isinstance(joint, Coupling):
            relative = mul(second.T, first)
            directions = fixed_directions(joint, planar=False)
            of_joint += [(ALONG, np.concatenate([n, *points, [0.0]])) for n in directions]
            for u, w in fixed_turns(joint, relative, planar=False, path=f"joints[{k}]"):
                of_joint.append((TURN, np.concatenate([u, np.zeros(3), w, [float(mul(mul(relative, u), w))]])))
        for kind, row in of_joint:
            kinds.append(kind)
            bodies.append(ends)
            rows.append(row)
            joints.append(k)
    return JointRows(
        kind=np.array(kinds, np.int64),
        body=np.array(bodies, np.int64).reshape(-1, 2),
        row=np.array(rows, np.float64).reshape(-1, COLUMNS),
        joint=np.array(joints, np.int64),
        island=islands(world),
    )


def islands(world: CompliantWorld) -> Indices:
    """(B,) of moving bodies that joints link, the least number of all of these; -1 of others."""
    island = np.full(len(world.bodies), -1)
    moves = [not body.fixed for body in world.bodies]
    pairs = [[i for i in (joint.first, joint.second) if i >= 0 and moves[i]] for joint in world.joints]
    for i in {i for pair in pairs for i in pair}:
        island[i] = i
    for _ in pairs:
        for pair in pairs:
            island[pair] = island[pair].min()
    return island


def rotation_of(world: CompliantWorld, i: int) -> Array:
    """(3, 3) of body i at the start, body to world."""
    q = np.array(world.bodies[i].orientation, np.float64)
    return matrices(q / np.sqrt((q * q).sum()))
