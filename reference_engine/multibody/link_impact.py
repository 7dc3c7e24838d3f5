"""An impact of a mechanism on the world: the impact goes through the joints, which hold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.contact_problems.impact_laws import Impact, impact, inverse_mass_through_joints
from reference_engine.dense import mul, norm, solve
from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.links import vector
from reference_engine.multibody.mechanism import Mechanism, with_states


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkImpact:
    """What an impact did to a mechanism."""

    impact: Impact
    mechanism: Mechanism  # as it goes on
    energy_before: float  # J, kinetic
    energy_after: float  # J, kinetic


def link_impact(
    mechanism: Mechanism,
    link: int,
    point: ArrayLike,
    *,
    normal: ArrayLike | None = None,
    friction: float,
    restitution: float,
    law: str = "newton",
) -> LinkImpact:
    """The mechanism after a point of a link, as both are at its start, has struck the world.

    point: m, in the link's frame; normal: out of the world, of any length [up]. Components of the impact are
    (tangential, normal) in the plane, the tangential one to the right of the normal, and x, y, z in space. Two-sided
    joints hold through the impact, one-sided ones and ropes do not act. `law` is one of `impact`'s.

    Raises MechanismError for what does not fit, ImpactError where the law has no answer.
    """
    D = mechanism.dimension
    if not 0 <= link < len(mechanism.links) or mechanism.links[link].fixed:
        raise MechanismError(f"link: {link} is none of the mechanism's that can move")
    at = vector("strike", "point", point, (D,))
    n = vector("strike", "normal", np.eye(D)[-1] if normal is None else normal, (D,))
    if not n.any():
        raise MechanismError("strike: normal has no direction")
    n = n / norm(n)
    system = System(mechanism)
    bilateral = ~system.rows.one_sided
    system.check_start(bilateral)
    q, v = system.split(system.start)
    constraints = system.constraints_at(q, bilateral)
    arm = mul(constraints.rotation[system.number[link]][:, :D], at)
    axes = np.array([[n[1], -n[0], 0.0], [n[0], n[1], 0.0]]) if D == 2 else np.eye(3)
    rates = np.zeros((D, system.links, 6))
    rates[:, system.number[link], :3], rates[:, system.number[link], 3:] = axes, np.cross(arm, axes)
    J = rates[:, :, system.poses.columns].reshape(D, -1)
    rows = constraints.jacobian[:-1][:, bilateral][:, :, system.poses.columns]
    G = rows.transpose(1, 0, 2).reshape(bilateral.sum(), -1)
    M = system.mass_matrix(constraints.rotation)
    K = inverse_mass_through_joints(M, J, joints=G) if len(G) else inverse_mass_through_joints(M, J)
    found = impact(
        K, mul(J, v.ravel()), friction=friction, restitution=restitution, law=law, normal=None if D == 2 else n
    )
    after = v + solve(M, mul(J.T, found.impulse)).reshape(v.shape)
    after = after + system.unscaled(
        constraints.least(-system.rates(constraints, after)[bilateral]), constraints.rotation
    )
    energies = [0.5 * float(mul(mul(twist.ravel(), M), twist.ravel())) for twist in (v, after)]
    return LinkImpact(
        impact=found, mechanism=with_states(mechanism, system.moving, q, after), energy_before=energies[0],
        energy_after=energies[1],
    )  # fmt: skip
