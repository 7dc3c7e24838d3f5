"""An arm that falls until stops of its hinges meet it, in the own APIs of Rapier and PhysX: what energy it gains there.

    python -P ci/benchmarks/stopped_arm.py

Nothing of Upright is imported. The arm is pybullet's Kuka iiwa (kuka_iiwa/model.urdf), upright at the start, without
damping. A stop gives nothing back, so the energy falls where one is met, and never rises. The most that it rises by, J,
is printed for sweeps as few as the profile `fair` has, for more, and without stops: the median and the largest of
several starts, which differ by the spin of the last link.
"""

import math
import sys

import numpy as np

try:
    import rapier3d as rapier
    import sapien
    from sapien import physx
except ImportError as missing:
    sys.exit(print(f"left out: {missing.name} is not installed; make engines-extra"))

R = math.sqrt(0.5)
# kg; kg m^2; centre of mass, m; axes (w-x-y-z); the hinge's point from there, m, about the body's z; its stops, rad
LINKS = (
    (4.0, (0.045087, 0.041245, 0.024744), (0.0, -0.03, 0.2775), (1.0, 0.0, 0.0, 0.0), (0.0, 0.03, -0.12), 2.967),
    (4.0, (0.043426, 0.024605, 0.039652), (-0.0003, 0.042, 0.419), (0.0, 0.0, R, R), (-0.0003, -0.059, -0.042), 2.094),
    (3.0, (0.031295, 0.027442, 0.013941), (0.0, 0.03, 0.6945), (1.0, 0.0, 0.0, 0.0), (0.0, -0.03, -0.13), 2.967),
    (2.7, (0.023024, 0.012546, 0.019569), (0.0, -0.034, 0.847), (R, R, 0.0, 0.0), (0.0, -0.067, -0.034), 2.094),
    (1.7, (0.015586, 0.014214, 0.007103), (0.0, -0.021, 1.0405), (0.0, 0.0, 0.0, 1.0), (0.0, -0.021, -0.076), 2.967),
    (1.8, (0.007605, 0.005967, 0.007379), (0.0, 0.0004, 1.1806), (0.0, 0.0, R, R), (0.0, -0.0006, -0.0004), 2.094),
    (0.3, (0.000393, 0.000396, 0.000603), (0.0, 0.0, 1.281), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, -0.02), 3.054),
)  # fmt: skip
G, DT, SECONDS = 9.81, 1e-3, 2.0
SPINS = (0.0, 0.01, 0.02, 0.03, 0.04)  # rad/s
Z_TO_X = (0.5, 0.5, 0.5, 0.5)  # axes whose x is z: both engines turn hinges about x


def product(p, q):
    w, x = p[0], np.array(p[1:])
    v, y = q[0], np.array(q[1:])
    return np.array([w * v - x @ y, *(w * y + v * x + np.cross(x, y))])


def back(q):
    return np.array([q[0], -q[1], -q[2], -q[3]])


def turned(q, vector):
    return product(product(np.array(q), [0.0, *vector]), back(q))[1:]


def joints():
    """Of each link: the frame of its hinge in the link before, or the world, and in itself."""
    at, axes = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    for _, _, position, orientation, point, _ in LINKS:
        hinge = np.array(position) + turned(orientation, point)
        world = product(np.array(orientation), Z_TO_X)
        yield (turned(back(axes), hinge - at), product(back(axes), world)), (np.array(point), np.array(Z_TO_X))
        at, axes = np.array(position), np.array(orientation)


def energy(states):
    """J, of positions, orientations, velocities and spins."""
    total = 0.0
    for (m, inertia, *_), (x, q, v, w) in zip(LINKS, states):
        own = turned(back(q), w)
        total += m * (0.5 * float(np.dot(v, v)) + G * float(x[2])) + 0.5 * float(np.dot(inertia, own * own))
    return total


def gained(step, read):
    least, most = energy(read()), 0.0
    for _ in range(round(SECONDS / DT)):
        step()
        now = energy(read())
        least, most = min(least, now), max(most, now - least)
    return most


def in_rapier(substeps, spin, *, stops=True):
    world = rapier.PhysicsWorld(gravity=(0.0, 0.0, -G))
    p = world.integration_parameters
    p.dt, p.num_solver_iterations, p.num_internal_pgs_iterations = DT, substeps, 4
    before, bodies = world.add_body(rapier.RigidBody.fixed()), []
    for (m, inertia, position, orientation, _, stop), frames in zip(LINKS, joints()):
        pose = rapier.Isometry3(position, rapier.Rotation3(*orientation))
        body = rapier.RigidBody.dynamic().position(pose).can_sleep(False).allow_fast_rotation(True)
        body = body.additional_mass_properties(rapier.MassProperties((0.0, 0.0, 0.0), m, inertia))
        handle = world.add_body(body.gyroscopic_forces(True), [])
        there, here = (rapier.Isometry3(tuple(at.tolist()), rapier.Rotation3(*q.tolist())) for at, q in frames)
        joint = rapier.GenericJoint.builder(rapier.JointAxesMask.LOCKED_REVOLUTE_AXES)
        joint = joint.local_frame1(there).local_frame2(here)
        if stops:
            joint = joint.limits(rapier.JointAxis.ANG_X, -stop, stop)
        world.impulse_joints.insert(before, handle, joint.build())
        bodies.append(world.rigid_bodies[handle])
        before = handle

    bodies[-1].angvel = (0.0, 0.0, spin)

    def read():
        for body in bodies:
            x, y, z, w = body.rotation.to_tuple()
            yield body.translation.to_tuple(), (w, x, y, z), body.linvel.to_tuple(), body.angvel.to_tuple()

    return gained(world.step, read)


def in_physx(sweeps, spin, *, stops=True):
    config = physx.PhysxSceneConfig()
    config.gravity = (0.0, 0.0, -G)
    physx.set_scene_config(config)
    system = physx.PhysxCpuSystem()
    system.timestep = DT
    scene = sapien.Scene([system])
    bodies = []
    for (m, inertia, position, orientation, _, stop), (there, here) in zip(LINKS, joints()):
        made = physx.PhysxRigidDynamicComponent()
        made.mass, made.inertia, made.cmass_local_pose = m, inertia, sapien.Pose()
        made.linear_damping = made.angular_damping = made.sleep_threshold = 0.0
        made.max_angular_velocity, made.solver_position_iterations = 1e6, sweeps
        entity = sapien.Entity()
        entity.add_component(made)
        entity.pose = sapien.Pose(position, orientation)
        for along in (0.0, 0.5):  # m: the axis of a hinge is kept at two points, since limits of swing do nothing
            joint = physx.PhysxDriveComponent(made)
            if bodies:
                joint.parent = bodies[-1]
            poses = [sapien.Pose(at + turned(q, (along, 0.0, 0.0)), q) for at, q in (there, here)]
            joint.pose_in_parent, joint.pose_in_child = poses
            joint.set_limit_y(0.0, 0.0)
            joint.set_limit_z(0.0, 0.0)
            if not along:
                joint.set_limit_x(0.0, 0.0)
                if stops:
                    joint.set_limit_twist(-stop, stop)
            entity.add_component(joint)
        scene.add_entity(entity)
        bodies.append(made)
    bodies[-1].angular_velocity = (0.0, 0.0, spin)
    return gained(
        system.step,
        lambda: [(b.entity.pose.p, b.entity.pose.q, b.linear_velocity, b.angular_velocity) for b in bodies],
    )


if __name__ == "__main__":
    for engine, of, name, few, many in (
        (in_rapier, "Rapier", "sub-steps", 8, 64),
        (in_physx, "PhysX", "sweeps", 40, 255),
    ):
        for sweeps, stops in ((few, True), (many, True), (few, False)):
            found = sorted(engine(sweeps, spin, stops=stops) for spin in SPINS)
            what = f"{of}, {sweeps} {name}{'' if stops else ', no stops'}"
            print(f"{what}: {found[len(found) // 2]:.3g} J, at most {found[-1]:.3g} J", flush=True)
