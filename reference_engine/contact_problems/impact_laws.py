"""One impact at one contact: the way in, with every law by its name; those that are one formula follow.

K [1/kg], the inverse effective mass there: an impulse j changes the relative velocity by K j.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.contact_problems.impact_process import ImpactError, process, straight_directions
from reference_engine.dense import eigh, inverse, is_positive, mul, norm, pinv, solve
from reference_engine.rotation import tangents

INCREMENTAL = ("newton", "poisson", "stronge")
SPEED_TOLERANCE = 1e-15  # of the speed: slower sliding is none, and so is a slower approach or parting
SINGULAR = 1e-13  # of the greatest entry, or eigenvalue, of K: an eigenvalue that is none
REDUNDANT = 1e-12  # of the greatest singular value: rows that others say already
REACHED = 1e-9  # of the speed: contacts that cannot move as wanted miss it by more
LAWS = (*INCREMENTAL, "chatterjee-ruina", "stick-or-slip")


@dataclass(frozen=True, kw_only=True)
class Impact:
    """What the impact did; components as those that were given."""

    impulse: Array  # (D,) N s, on the body whose velocity is counted positive
    velocity: Array  # (D,) m/s, relative, after
    energy_change: float  # J
    compression_impulse: float | None = None  # N s, normal, up to the greatest compression
    compression_work: float | None = None  # J, of the normal impulse up to there
    normal_work: float | None = None  # J, of the normal impulse to the end
    phases: tuple[tuple[str, str], ...] = ()  # slip (in the plane slip-1, slip+1) or stick, and what ended it
    factor: float | None = None  # kappa of Chatterjee & Ruina


def impact(
    inverse_mass: ArrayLike,
    velocity: ArrayLike,
    *,
    friction: float,
    restitution: float,
    law: str = "poisson",
    normal: ArrayLike | None = None,
    tangential_restitution: float = 0.0,
) -> Impact:
    """The impact of two bodies at one contact, from their relative velocity (D,) [m/s]; D = 2 in the plane, 3 in space.

    inverse_mass: K (D, D) [1/kg] at the contact, u after = u before + K j; `inverse_mass` has it for bodies and
    through joints, which may leave it singular, as of a pendulum's point. normal: unit (D,), the way in which the
    bodies part; the last axis if not given. An approach has a negative normal velocity; at zero nothing happens, unless
    friction would press the bodies into one another, which is an impact without an approach (Painleve's; Genot &
    Brogliato 1999): by the algebraic laws they then stick.

    Laws: `newton`, `poisson`, `stronge` follow Coulomb's friction through the impact (Routh 1905 in the plane, exactly;
    Darboux 1880 and Keller 1986 in space, to 1e-12) and differ in what ends it: the speed of approach times e, the
    impulse of compression times e, its work times e^2 (Stronge 1990). Without friction, and where the bodies slide on
    in one direction, they agree. Stronge's always takes energy away; Newton's may give some (Kane 1984), Poisson's too.
    `chatterjee-ruina` and `stick-or-slip` are algebraic and part at e times the approach; what sliding does meanwhile
    is not asked. `chatterjee-ruina` knows tangential_restitution, from -1 to 1.

    Raises ValueError naming the argument that is not what it must be, ImpactError where the law has no answer.
    """
    u0 = np.array(velocity, np.float64)
    if u0.shape not in ((2,), (3,)) or not np.isfinite(u0).all():
        raise ValueError(f"velocity: {velocity!r} is not two or three finite numbers")
    D = len(u0)
    K = checked_inverse_mass(inverse_mass, D, SINGULAR)
    size = float(np.abs(K).max())
    for name, value, most in (("friction", friction, math.inf), ("restitution", restitution, 1.0)):
        if not (0.0 <= value <= most and math.isfinite(value)):
            raise ValueError(f"{name}: {value!r} is not a number from 0 " + ("up" if most > 1.0 else "to 1"))
    if not -1.0 <= tangential_restitution <= 1.0:
        raise ValueError(f"tangential_restitution: {tangential_restitution!r} is not a number from -1 to 1")
    if law not in LAWS:
        raise ValueError(f"law: {law!r} is not one of {', '.join(LAWS)}")
    Q = frame(np.eye(D)[-1] if normal is None else np.array(normal, np.float64), D)
    K, u0 = mul(mul(Q, K), Q.T), mul(Q, u0)
    if not K[-1, -1] > SINGULAR * size:
        raise ValueError(f"inverse_mass: {K[-1, -1]:g} 1/kg along the normal: the contact cannot move that way")
    if abs(u0[-1]) <= SPEED_TOLERANCE * norm(u0):
        u0[-1] = 0.0
    if u0[-1] > 0.0:
        raise ValueError(f"velocity: its normal part is {u0[-1]:g} m/s: the bodies part already")
    if norm(u0[:-1]) <= SPEED_TOLERANCE * norm(u0):
        u0[:-1] = 0.0
    if law in INCREMENTAL:
        return result(Q, K, u0, **asdict(process(K, u0, friction, restitution, law)))
    if law == "chatterjee-ruina":
        impulse, factor = chatterjee_ruina(K, u0, friction, restitution, tangential_restitution)
        return result(Q, K, u0, impulse, factor=factor)
    impulse, mode = stick_or_slip(K, u0, friction, restitution)
    return result(Q, K, u0, impulse, phases=((mode, "end"),))


def checked_inverse_mass(given: ArrayLike, rows: int, round_off: float) -> Array:
    """K (rows, rows), symmetric; no eigenvalue is below -round_off of the greatest entry. Raises ValueError."""
    K = np.array(given, np.float64)
    if K.shape != (rows, rows) or not np.isfinite(K).all():
        raise ValueError(f"inverse_mass: shape {K.shape}, or not finite; with this velocity it is ({rows}, {rows})")
    size = float(np.abs(K).max())
    mean = 0.5 * (K + K.T)
    symmetric = np.allclose(K, K.T, rtol=1e-9, atol=1e-12 * size)
    if not symmetric or (size > 0.0 and not is_positive(mean + round_off * size * np.eye(rows))):
        raise ValueError("inverse_mass: it is not symmetric, or has a negative eigenvalue; J M^-1 J^T has none")
    return mean


def impulse_of(law: str, K: Array, u0: Array, mu: float, e: float) -> Array:
    """(D,) N s by `impact`'s law of what it has checked: the normal is the last axis, and is approached along it."""
    if mu == 0.0:
        return np.append(np.zeros(len(u0) - 1), -(1.0 + e) * u0[-1] / K[-1, -1])
    if law in INCREMENTAL:
        return process(K, u0, mu, e, law).impulse
    return chatterjee_ruina(K, u0, mu, e, 0.0)[0] if law == "chatterjee-ruina" else stick_or_slip(K, u0, mu, e)[0]


def frame(normal: Array, D: int) -> Array:
    """(D, D): rows are the axes, the normal last. Of the last axis itself, what is given."""
    if normal.shape != (D,) or not abs(float(norm(normal)) - 1.0) <= 1e-9:
        raise ValueError(f"normal: {normal!r} is not a unit vector ({D},)")
    n = normal / norm(normal)
    if D == 2:
        return np.array([[n[1], -n[0]], n])
    if n[2] == 1.0:
        return np.eye(3)
    first, second = tangents(n)
    return np.stack([-first, -second, n])


def result(Q: Array, K: Array, u0: Array, impulse: Array, **more: Any) -> Impact:
    after = u0 + mul(K, impulse)
    return Impact(
        impulse=mul(Q.T, impulse), velocity=mul(Q.T, after), energy_change=0.5 * float(mul(impulse, u0 + after)), **more
    )


def inverse_mass(mass: float, inertia: ArrayLike, arm: ArrayLike) -> Array:
    """Of one body at the point `arm` [m] from its centre of mass: (2, 2) in the plane, (3, 3) in space [1/kg].

    K = 1/m - [r] I^-1 [r], with [r] a = r x a: positive definite. inertia: about the centre of mass, in the axes of
    the arm [kg m^2], a number in the plane, (3, 3) in space. Bodies that an impulse pushes apart add up; one that
    nothing moves has mass and inertia infinite.

    Raises ValueError where mass or inertia is not positive, or shapes do not fit.
    """
    r, about = np.asarray(arm, np.float64), np.asarray(inertia, np.float64)
    if not mass > 0.0:
        raise ValueError(f"mass: {mass:g} kg is not positive")
    if r.shape == (2,) and about.shape == ():
        if not about > 0.0:
            raise ValueError(f"inertia: {float(about):g} kg m^2 is not positive")
        across = np.array([-r[1], r[0]])
        return np.eye(2) / mass + np.outer(across, across) / float(about)
    if r.shape != (3,) or about.shape != (3, 3):
        raise ValueError(
            f"arm, inertia: shapes {r.shape} and {about.shape}; allowed: (2,) and one number, or (3,) and (3, 3)"
        )
    if np.isinf(about).any():
        return np.eye(3) / mass
    if (
        not np.allclose(about, about.T, rtol=0.0, atol=1e-12 * float(np.abs(about).max()))
        or not eigh(about)[0][0] > 0.0
    ):
        raise ValueError("inertia: it is not symmetric and positive definite")
    cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    return np.eye(3) / mass - mul(cross, solve(about, cross))


def inverse_mass_through_joints(mass_matrix: ArrayLike, jacobian: ArrayLike, joints: ArrayLike | None = None) -> Array:
    """K = J M^-1 J^T [1/kg] of contacts whose velocities are J q' in the generalised velocities q'.

    mass_matrix (Q, Q). jacobian (n D, Q), D = 2 in the plane, 3 in space, contacts one after the other. joints (R, Q):
    rows G with G q' = 0, which hold through the impact, redundant ones too; M^-1 - M^-1 G^T (G M^-1 G^T)^+ G M^-1 then
    takes the place of M^-1. The impulses change q' by that, times J^T j.

    Raises ValueError where shapes do not fit or the mass matrix is not symmetric and positive definite.
    """
    M, J = np.asarray(mass_matrix, np.float64), np.asarray(jacobian, np.float64)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or J.ndim != 2 or J.shape[1] != len(M):
        raise ValueError(f"mass_matrix, jacobian: shapes {M.shape} and {J.shape}; they must be (Q, Q) and (n D, Q)")
    if not np.allclose(M, M.T, rtol=1e-9, atol=1e-12 * float(np.abs(M).max())) or not eigh(M)[0][0] > 0.0:
        raise ValueError("mass_matrix: it is not symmetric and positive definite")
    mobile = inverse(M)
    if joints is not None:
        G = np.asarray(joints, np.float64)
        if G.ndim != 2 or G.shape[1] != len(M):
            raise ValueError(f"joints: shape {G.shape}; with this mass matrix it is (R, {len(M)})")
        half = mul(mobile, G.T)
        mobile = mobile - mul(mul(half, pinv(mul(G, half), rcond=REDUNDANT)), half.T)
    K = mul(mul(J, mobile), J.T)
    return 0.5 * (K + K.T)


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
