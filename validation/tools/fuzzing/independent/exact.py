"""Laws that an exact engine keeps to the tolerance of its integrator, whatever its contacts do.

`contacts` has those of contact forces and impulses; `laws` says what is asked of which engine.

`SHARE` is of the size of what is compared: local errors of 1e-13 a step, ten thousand steps, and a hundred times what
that makes, for constraints of poor condition.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from reference_engine.array_types import Flags
from scenarios.forces import Damping
from scenarios.joint_forces import driven_joints
from scenarios.scene import Scene, colliding_pairs
from validation.tools.fuzzing.independent.measured import elastic_contact, is_isolated
from validation.tools.fuzzing.independent.motion import Motion, is_planar
from validation.tools.fuzzing.independent.moving_axes import only_moved, seen_in_moving_axes

SHARE = 1e-7
APART = {2: 1e-12, 3: 1e-11}  # of the size, in the plane and in space: joints of engines that project
RESTING = 1e-12  # of what stands still
TAUT = 1e-9  # of its length: a rope that is shorter is slack
MET = 1e-12  # of the extent of the scene: how closely joints are met; a chain that is taut by that sags by its root
Broken = tuple[str, str, tuple[str, ...]]  # oracle, message, bodies


class Cluster(NamedTuple):
    """Bodies that joints tie together, and to nothing else."""

    which: Flags  # (B,)
    names: tuple[str, ...]


def clusters(motion: Motion) -> list[Cluster]:
    """Of free bodies that nothing ties to the world or to what is fixed."""
    scene, bodies = motion.scene, [body.name for body in motion.scene.bodies]
    group = {name: {name} for name in bodies}
    tied = {body.name for body in scene.bodies if body.fixed}
    for tie in scene.joints:
        if tie.b is None:
            tied.add(tie.a)
            continue
        merged = group[tie.a] | group[tie.b]
        for name in merged:
            group[name] = merged
    found, seen = [], set[str]()
    for name in bodies:
        if name not in seen and not group[name] & tied:
            which = np.array([other in group[name] for other in bodies])
            found.append(Cluster(which, tuple(other for other in bodies if other in group[name])))
        seen |= group[name]
    return found


def has_loop(scene: Scene) -> bool:
    """Whether joints tie something to itself, or to the world by two ways."""
    world: set[str | None] = {None, *(body.name for body in scene.bodies if body.fixed)}
    group = dict.fromkeys(world, world) | {body.name: {body.name} for body in scene.bodies if not body.fixed}
    for tie in scene.joints:
        if group[tie.a] is group[tie.b]:
            return True
        merged = group[tie.a] | group[tie.b]
        for name in merged:
            group[name] = merged
    return False


def is_driven(scene: Scene) -> bool:
    """Whether a spring has an end that moves by a plan, or something acts along a joint: neither is worked out here."""
    return any(spring.anchor_path for spring in scene.springs) or bool(driven_joints(scene))


# --- momenta of what nothing acts on --------------------------------------------------------------------------------


def isolated(motion: Motion, step: float = 0.0) -> Iterator[Broken]:
    """Momentum, and angular momentum about the centre of mass, of a scene that nothing outside acts on.

    step, s: of an engine that takes what overlaps apart at the end of a step, by what it has moved in it, without a
    change of its speed: so much of m v^2 h its angular momentum is off.
    """
    if not is_isolated(motion.scene):
        return
    every = np.ones(len(motion.mass), bool)
    P, L = motion.momentum(every), motion.moment_of_momentum(every)
    fallen = motion.mass.sum() * motion.gravity * (motion.time - motion.time[0])[:, None]
    speed = np.linalg.norm(motion.v, axis=2).max(axis=0)
    size = float((motion.mass * speed).sum() + np.linalg.norm(fallen, axis=1).max())
    drift = float(np.linalg.norm(P - P[0] - fallen, axis=1).max())
    if drift > SHARE * size:
        yield "momentum not kept", f"momentum changes by {drift:.3g} kg m/s of {size:.3g}, and nothing acts", ()
    span = float(np.ptp(motion.x, axis=1).max() + motion.radius.max())
    size = size * span + float(np.linalg.norm(motion.spin_momentum, axis=2).max(axis=0).sum())
    drift = float(np.linalg.norm(L - L[0], axis=1).max())
    if drift > SHARE * size + 2.0 * step * float(motion.kinetic.sum(axis=1).max()):
        message = f"angular momentum changes by {drift:.3g} kg m^2/s of {size:.3g}, and nothing acts"
        yield "angular momentum not kept", message, ()


# --- joints -------------------------------------------------------------------------------------------------------


def joints_met(motion: Motion) -> Iterator[Broken]:
    size = float(np.abs(motion.x).max() + motion.radius.max())
    for joint in motion.scene.joints:
        names = tuple(name for name in (joint.a, joint.b) if name is not None)
        gap, turn = motion.joint_gap(joint), motion.joint_turn(joint)
        if gap.max() > gap[0] + APART[motion.scene.dimension] * size:
            yield "joint not met", f"joint {joint.name!r} is apart by {gap.max():.3g} m", names
        if turn.max() > SHARE:
            yield "joint not met", f"joint {joint.name!r} turns by {turn.max():.3g} rad as it must not", names


# --- energy -------------------------------------------------------------------------------------------------------


def energy_conserved(motion: Motion, elastic: bool) -> Iterator[Broken]:
    """Between impacts friction alone takes energy; at one that is all elastic and without friction none is lost.

    elastic: whether the law of impact is known to keep it there.
    """
    scene = motion.scene
    if is_driven(scene) or scene.thrusters:
        return
    E, kinetic, doubt = motion.energy, motion.kinetic, np.zeros(len(motion.time) - 1)
    if any(body.motion is not None for body in scene.bodies):
        body = only_moved(scene)
        if body is None:
            return
        E, kinetic, doubt = seen_in_moving_axes(motion, body)
    damped = scene.damping != Damping() or any(spring.damping for spring in scene.springs)
    laws = _laws(scene)
    smooth, bounces = not damped and all(mu == 0.0 for mu, _ in laws), all(e == 1.0 for _, e in laws)
    ropes = any(joint.kind == "rope" for joint in scene.joints)
    g = float(np.linalg.norm(motion.gravity))
    size = float(
        np.abs(E).max() + kinetic.max(axis=0).sum() + (motion.mass * g * np.ptp(motion.x, axis=0).max(axis=1)).sum()
    )
    lifted = float((motion.mass * g * np.abs(motion.x).max(axis=(0, 2))).sum())
    allowed = SHARE * size + RESTING * (lifted + motion.mass.sum() * RESTING)
    if has_loop(scene):
        span = 1.0 + float(np.abs(motion.x).max() + motion.radius.max())
        allowed += float(motion.mass.sum()) * g * span * np.sqrt(MET)
    change, apart = np.diff(E), np.diff(motion.time) > 0.0
    gains, losses = change - doubt, -change - doubt
    gained = np.where(apart, gains, -np.inf).max(initial=-np.inf)
    if gained > allowed:
        k = int(np.argmax(np.where(apart, gains, -np.inf)))
        message = f"{gained:.3g} J come from nowhere between {motion.time[k]:.6g} and {motion.time[k + 1]:.6g} s"
        yield "energy gained", message, ()
    lossless = np.where(apart, smooth, smooth and bounces and elastic and not ropes)
    if smooth and ropes:  # a rope that goes taut: in the plane between two samples of one time
        lossless = apart if is_planar(motion) else apart & ~_goes_slack(motion)
    lost = np.where(lossless, losses, -np.inf).max(initial=-np.inf)
    if lost > allowed:
        k = int(np.argmax(np.where(lossless, losses, -np.inf)))
        message = f"{lost:.3g} J are lost between {motion.time[k]:.6g} and {motion.time[k + 1]:.6g} s, by nothing"
        yield "energy lost", message, ()


def _goes_slack(motion: Motion) -> Flags:
    """(S - 1,) whether a rope is slack at one of two samples, or both: it may go taut, and slack again, in between."""
    found = np.zeros(len(motion.time) - 1, bool)
    for joint in motion.scene.joints:
        if joint.kind == "rope":
            far = np.linalg.norm(motion.point(joint.a, joint.anchor_a) - motion.point(joint.b, joint.anchor_b), axis=1)
            slack = far < (1.0 - TAUT) * joint.length
            found |= slack[:-1] | slack[1:]
    return found


def compliant_energy(motion: Motion) -> Iterator[Broken]:
    """What compliant contacts hold counts; damping, friction and rolling resistance take some, and nothing gives any.

    Where the scene has none of these all of it is there; but for what meets too slowly to count as elastic.
    """
    scene, held = motion.scene, elastic_contact(motion)
    given = scene.contact.compliant
    if given is None or held is None:
        return
    E, m = motion.energy + held[0], float(motion.mass.sum())
    size = float(motion.kinetic.sum(axis=1).max() + np.abs(E - E[0]).max() + held[0].max())
    slow = max(pair.v_small for pair in given.pairs)
    gained, lost = float((E - np.minimum.accumulate(E)).max()), float((np.maximum.accumulate(E) - E).max())
    if gained > SHARE * size:
        yield "energy gained", f"{gained:.3g} J come from nowhere, what contacts hold counted", ()
    elastic = all(p.restitution == 1.0 and not p.sliding_friction and not p.rolling_resistance for p in given.pairs)
    if elastic and scene.damping == Damping() and lost > SHARE * size + m * slow**2:
        yield "energy lost", f"{lost:.3g} J are lost by nothing, what contacts hold counted", ()


def _laws(scene: Scene) -> list[tuple[float, float]]:
    members = {member.name: member for member in (*scene.bodies, *scene.boundaries)}
    return [scene.pair_law(members[a], members[b]) for a, b in colliding_pairs(scene)]
