"""One impact at one contact: the way in, with every law by its name."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array
from reference_engine.contact_problems.algebraic_impacts import chatterjee_ruina, stick_or_slip
from reference_engine.contact_problems.impact_process import Process, process
from reference_engine.dense import eigh, mul, norm
from reference_engine.rotation import tangents

INCREMENTAL = ("newton", "poisson", "stronge")
ROUND_OFF = 1e-15  # of the speed: slower sliding is none, and so is a slower approach or parting
SINGULAR = 1e-13  # of the greatest entry of K: an eigenvalue that is none
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

    inverse_mass: K (D, D) [1/kg] at the contact, u after = u before + K j; `effective_mass` has it for bodies and
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
    K, u0 = np.array(inverse_mass, np.float64), np.array(velocity, np.float64)
    if u0.shape not in ((2,), (3,)) or not np.isfinite(u0).all():
        raise ValueError(f"velocity: {velocity!r} is not two or three finite numbers")
    D = len(u0)
    if K.shape != (D, D) or not np.isfinite(K).all():
        raise ValueError(f"inverse_mass: shape {K.shape}, or not finite; with this velocity it is ({D}, {D})")
    size = float(np.abs(K).max())
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-12 * size) or not eigh(K)[0][0] >= -SINGULAR * size:
        raise ValueError("inverse_mass: it is not symmetric, or has a negative eigenvalue")
    for name, value, most in (("friction", friction, math.inf), ("restitution", restitution, 1.0)):
        if not (0.0 <= value <= most and math.isfinite(value)):
            raise ValueError(f"{name}: {value!r} is not a number from 0 " + ("up" if most > 1.0 else "to 1"))
    if not -1.0 <= tangential_restitution <= 1.0:
        raise ValueError(f"tangential_restitution: {tangential_restitution!r} is not a number from -1 to 1")
    if law not in LAWS:
        raise ValueError(f"law: {law!r} is not one of {', '.join(LAWS)}")
    Q = frame(np.eye(D)[-1] if normal is None else np.array(normal, np.float64), D)
    K, u0 = mul(mul(Q, 0.5 * (K + K.T)), Q.T), mul(Q, u0)
    if not K[-1, -1] > SINGULAR * size:
        raise ValueError(f"inverse_mass: {K[-1, -1]:g} 1/kg along the normal: the contact cannot move that way")
    if abs(u0[-1]) <= ROUND_OFF * norm(u0):
        u0[-1] = 0.0
    if u0[-1] > 0.0:
        raise ValueError(f"velocity: its normal part is {u0[-1]:g} m/s: the bodies part already")
    if norm(u0[:-1]) <= ROUND_OFF * norm(u0):
        u0[:-1] = 0.0
    if law in INCREMENTAL:
        found = process(K, u0, friction, restitution, law)
        return result(Q, K, u0, found.impulse, found)
    if law == "chatterjee-ruina":
        impulse, factor = chatterjee_ruina(K, u0, friction, restitution, tangential_restitution)
        return result(Q, K, u0, impulse, factor=factor)
    impulse, mode = stick_or_slip(K, u0, friction, restitution)
    return result(Q, K, u0, impulse, phases=((mode, "end"),))


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


def result(
    Q: Array,
    K: Array,
    u0: Array,
    impulse: Array,
    found: Process | None = None,
    phases: tuple[tuple[str, str], ...] = (),
    factor: float | None = None,
) -> Impact:
    after = u0 + mul(K, impulse)
    return Impact(
        impulse=mul(Q.T, impulse),
        velocity=mul(Q.T, after),
        energy_change=0.5 * float(mul(impulse, u0 + after)),
        compression_impulse=found.compression_impulse if found else None,
        compression_work=found.compression_work if found else None,
        normal_work=found.normal_work if found else None,
        phases=found.phases if found else phases,
        factor=factor,
    )
