"""Impact laws that are one formula: nothing is followed through the impact."""

import math

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.contact_problems.impact_process import ImpactError, straight_directions
from reference_engine.dense import eigh, mul, norm, pinv, solve

SINGULAR = 1e-13  # of the greatest eigenvalue: one that is none
REACHED = 1e-9  # of the speed: contacts that cannot move as wanted miss it by more


def chatterjee_ruina(K: Array, u0: Array, mu: float, e: float, tangential: float) -> tuple[Array, float]:
    """Impulse (D,) [N s] and the factor of its part that sticks (Chatterjee & Ruina 1998, J. Appl. Mech. 65).

    Between the plastic impulse without friction P_I and the one that stops all motion P_II: (1 + e) P_I +
    kappa (P_II - P_I), kappa = 1 + e_t, or what keeps it in Coulomb's cone. It parts at -e times the approach always.
    """
    approach = float(u0[-1])
    frictionless = np.zeros(len(u0))
    frictionless[-1] = -approach / K[-1, -1]
    rest = -stopping_impulse(K, u0) - frictionless
    kappa = 1.0 + tangential
    impulse = (1.0 + e) * frictionless + kappa * rest
    if norm(impulse[:-1]) > mu * impulse[-1]:
        slack = float(norm(rest[:-1])) - mu * float(rest[-1])
        kappa = (1.0 + e) * mu * float(frictionless[-1]) / slack
        impulse = (1.0 + e) * frictionless + kappa * rest
    return impulse, kappa


def stick_or_slip(K: Array, u0: Array, mu: float, e: float) -> tuple[Array, str]:
    """Impulse (D,) [N s] and "stick" or "slip" (Kane & Levinson 1985, "Dynamics", 5.8).

    Newton's coefficient, with no tangential velocity left where friction can do that; else friction is at its cone's
    edge, against the sliding with which they part, which may be other than that of the approach. It may make energy.
    """
    wanted = np.append(np.zeros(len(u0) - 1), -e * u0[-1])
    stopping = -stopping_impulse(K, u0 - wanted)
    reached = norm(u0 + mul(K, stopping) - wanted) <= REACHED * norm(u0)
    if reached and norm(stopping[:-1]) <= mu * stopping[-1]:
        return stopping, "stick"
    if u0[-1] == 0.0:
        return np.zeros(len(u0)), "slip"
    slip = parting_slip(K, u0, mu, e)
    rate = np.append(-mu * slip, 1.0)
    if not (along := float(mul(K[-1], rate))) > 0.0:
        raise ImpactError(f"the contact wedges: sliding with mu = {mu:g} parts by no impulse, K = {K.tolist()}")
    return -(1.0 + e) * u0[-1] / along * rate, "slip"


def stopping_impulse(K: Array, u: Array) -> Array:
    """K^-1 u; where K is singular, the least whose effect is nearest to u."""
    values = eigh(K)[0]
    if values[0] > SINGULAR * values[-1]:
        return solve(K, u)
    inverse: Array = pinv(K, rcond=SINGULAR)
    return mul(inverse, u)


def parting_slip(K: Array, u0: Array, mu: float, e: float) -> Array:
    """(D - 1,) unit: the direction s of sliding after an impulse that is at the cone's edge against it.

    With a = -(1 + e) u0_n, the impulse is a (-mu s, 1) / (K_nn - mu K_nt . s), and the tangential velocity after it,
    times that denominator, h - N s with h = a K_tn + K_nn u0_t and N = mu (a K_tt + u0_t K_nt). In the plane exactly
    one s has it along s with a positive denominator, and it is the direction of h: that without friction.
    """
    aimed = -(1.0 + e) * float(u0[-1])
    h = aimed * K[:-1, -1] + K[-1, -1] * u0[:-1]
    if len(u0) == 2:
        return np.array([math.copysign(1.0, h[0])])
    N = mu * (aimed * K[:2, :2] + np.outer(u0[:2], K[2, :2]))
    for theta in straight_directions(h, N):
        slip = np.array([elementary.cos(theta), elementary.sin(theta)])
        if mul(slip, h - mul(N, slip)) > 0.0 and K[2, 2] > mu * float(mul(K[2, :2], slip)):
            return slip
    raise ImpactError(f"no direction of sliding after the impact: mu = {mu:g}, u = {u0.tolist()}, K = {K.tolist()}")
