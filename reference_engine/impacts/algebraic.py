"""Impact laws that are one formula: nothing is followed through the impact."""

import numpy as np
from numpy.typing import NDArray

from reference_engine.impacts.incremental import ImpactError

Array = NDArray[np.float64]


def chatterjee_ruina(K: Array, u0: Array, mu: float, e: float, tangential: float) -> tuple[Array, float]:
    """Impulse (D,) [N s] and the factor of its part that sticks (Chatterjee & Ruina 1998, J. Appl. Mech. 65).

    Between the plastic impulse without friction P_I and the one that stops all motion P_II: (1 + e) P_I +
    kappa (P_II - P_I), kappa = 1 + e_t, or what keeps it in Coulomb's cone. It parts at -e times the approach always.
    """
    approach = float(u0[-1])
    frictionless = np.zeros(len(u0))
    frictionless[-1] = -approach / K[-1, -1]
    rest = -np.linalg.solve(K, u0) - frictionless
    kappa = 1.0 + tangential
    impulse = (1.0 + e) * frictionless + kappa * rest
    if np.linalg.norm(impulse[:-1]) > mu * impulse[-1]:
        room = float(np.linalg.norm(rest[:-1])) - mu * float(rest[-1])
        kappa = (1.0 + e) * mu * float(frictionless[-1]) / room
        impulse = (1.0 + e) * frictionless + kappa * rest
    return impulse, kappa


def stick_or_slip(K: Array, u0: Array, mu: float, e: float) -> tuple[Array, str]:
    """Impulse (D,) [N s] and "stick" or "slip": Newton's coefficient, with no tangential velocity left where friction

    can do that, else sliding on in the direction of the approach (Kane & Levinson 1985). It may make energy.
    """
    stopping = -np.linalg.solve(K, u0 + np.append(np.zeros(len(u0) - 1), e * u0[-1]))
    if np.linalg.norm(stopping[:-1]) <= mu * stopping[-1]:
        return stopping, "stick"
    against = u0[:-1] if np.any(u0[:-1]) else -stopping[:-1]
    rate = np.append(-mu * against / np.linalg.norm(against), 1.0)
    effective = float(K[-1] @ rate)
    if effective <= 0.0:
        raise ImpactError(f"sliding on, friction presses more than it is pressed: mu = {mu:g}, K = {K.tolist()}")
    return -(1.0 + e) * u0[-1] / effective * rate, "slip"
