"""What a mechanism did."""

from dataclasses import dataclass, replace

from reference_engine.array_types import Array, Indices
from reference_engine.multibody.mechanism import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEvent:
    """A one-sided joint or rope closed with an impulse, came to hold, or let go; what slid with friction sticks."""

    time: float  # s
    joint: int
    kind: str  # "impact", "holds", "lets go", "grips"
    impulse: float = 0.0  # N s, of an impact


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismMotion:
    """S samples of B links; D = 2 in the plane, 3 in space. SI, world axes."""

    time: Array  # (S,) s
    position: Array  # (S, B, D) m, centres of mass
    orientation: Array  # (S, B) rad, not wrapped, in the plane; (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, D) m/s
    spin: Array  # (S, B) or (S, B, 3) rad/s
    energy: Array  # (S,) J, kinetic, of gravity (0 at the origin) and of springs
    joint_gap: Array  # (S,) m, the worst of the joints; angles times the mechanism's size
    reaction: Array  # (S, N) N and N m per size, the multipliers of the joints' rows; 0 of those that do not hold.
    # Of rolling with friction N, then the friction (3,) along world axes.
    row_joint: Indices  # (N,) which joint a row is of
    events: tuple[JointEvent, ...]
    steps: int
    gap_moved: float  # m, the widest gap that a projection had to close
    energy_moved: float  # J, sum over all projections of what each changed of the energy, without sign


def mechanism_at(mechanism: Mechanism, motion: MechanismMotion, sample: int) -> Mechanism:
    """The mechanism as it is at a sample of its motion, to go on from there; its time begins anew at 0."""
    links = tuple(
        replace(
            link,
            position=motion.position[sample, i],
            orientation=motion.orientation[sample, i],
            velocity=motion.velocity[sample, i],
            spin=motion.spin[sample, i],
        )
        for i, link in enumerate(mechanism.links)
    )
    return replace(mechanism, links=links)


def with_states(mechanism: Mechanism, moving: Indices, q: Array, v: Array) -> Mechanism:
    """The mechanism with poses (F, 3 or 7) and twists (F, 3 or 6) of its moving links."""
    links, D = list(mechanism.links), mechanism.dimension
    for k, i in enumerate(moving):
        turned, spin = (q[k, 2], v[k, 2]) if D == 2 else (q[k, 3:], v[k, 3:])
        links[i] = replace(links[i], position=q[k, :D], orientation=turned, velocity=v[k, :D], spin=spin)
    return replace(mechanism, links=tuple(links))
