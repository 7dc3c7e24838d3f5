"""Impacts at several places at once. Which impulses follow is a law of its own: all at once, or one after the other."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from reference_engine.complementarity.cone_problem import ConeProblem
from reference_engine.complementarity.cone_solve import solve_cones
from reference_engine.complementarity.errors import ContactForceError
from reference_engine.complementarity.friction_forces import friction_forces
from reference_engine.impacts.incremental import ImpactError
from reference_engine.impacts.laws import LAWS, impact

Array = NDArray[np.float64]

ORDERS = ("simultaneous", "sequential", "grouped")
TOGETHER = ("newton", "poisson")  # the laws that a complementarity problem can say
BLOWS = 1000  # for each place
ACCURACY = 1e-12  # of complementarity problems, of the greatest speed
STOPPED = 4.0 * ACCURACY  # of the greatest speed: a slower approach is what such a problem leaves
TIE = 1e-12  # approaches that differ by less are equal, and the first is struck first


@dataclass(frozen=True, kw_only=True)
class MultipleImpact:
    """What the impacts did, at n places; components as those that were given."""

    impulse: Array  # (n, D) N s
    velocity: Array  # (n, D) m/s, relative, after
    energy_change: float  # J
    blows: tuple[tuple[int, ...], ...]  # the places that were struck together, blow by blow


def multiple_impact(
    inverse_mass: ArrayLike,
    velocity: ArrayLike,
    *,
    friction: ArrayLike,
    restitution: ArrayLike,
    law: str = "newton",
    order: str = "simultaneous",
) -> MultipleImpact:
    """Impacts at n places in touch, from their relative velocities (n, D) [m/s]; the last component is the normal one.

    inverse_mass: K (n D, n D) [1/kg] = J M^-1 J^T, places one after the other: u after = u before + K j; of bodies and
    mechanisms `inverse_mass_through_joints` has it. An approach has a negative normal velocity. friction, restitution:
    numbers or (n,).

    simultaneous  one complementarity problem: 0 <= j_n  perp  u_n+ + e u_n >= 0, and Coulomb's law between j_t and the
                  slip afterwards (`newton`; Moreau 1988); or compression and then restitution by e times its impulse,
                  each with that law (`poisson`; Glocker & Pfeiffer 1995), in the plane. Moreau's law may send what
                  parted into an approach; another blow follows then
    sequential    one place after the other, the fastest approach first, until none approaches; any law of `impact`
    grouped       the fastest with those approaching places that it moves, directly or by others, simultaneously;
                  then the next, until none approaches

    Without friction none makes energy, for equal e; Newton's law keeps it at e = 1. They differ where an impulse goes
    on through a body at rest: of a cradle's balls in touch the last one leaves by the sequential and grouped orders,
    all move on by the simultaneous.

    Raises ValueError naming the argument that is not what it must be, ImpactError where there is no answer or no end.
    """
    K, u = np.array(inverse_mass, np.float64), np.array(velocity, np.float64)
    if u.ndim != 2 or u.shape[1] not in (2, 3) or not len(u) or not np.isfinite(u).all():
        raise ValueError(f"velocity: shape {u.shape}, or not finite; it is (n, 2) or (n, 3)")
    n, D = u.shape
    if K.shape != (n * D, n * D) or not np.isfinite(K).all():
        raise ValueError(
            f"inverse_mass: shape {K.shape}, or not finite; with these velocities it is ({n * D}, {n * D})"
        )
    size = float(np.abs(K).max())
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-12 * size) or not np.linalg.eigvalsh(K)[0] >= -1e-9 * size:
        raise ValueError("inverse_mass: it is not symmetric, or has a negative eigenvalue; J M^-1 J^T has none")
    mu, e = numbers("friction", friction, n, math.inf), numbers("restitution", restitution, n, 1.0)
    if order not in ORDERS:
        raise ValueError(f"order: {order!r} is not one of {', '.join(ORDERS)}")
    allowed = LAWS if order == "sequential" else TOGETHER if D == 2 else TOGETHER[:1]
    if law not in allowed:
        raise ValueError(f"law: {law!r} is not one of {', '.join(allowed)}, those of {order} places in {D} dimensions")
    K = 0.5 * (K + K.T)
    after, impulse = u.copy(), np.zeros((n, D))
    blows: list[tuple[int, ...]] = []
    slow = STOPPED * float(np.abs(u).max())
    while (fastest := fastest_approach(after[:, -1], slow)) is not None:
        if len(blows) == BLOWS * n:
            raise ImpactError(f"{len(blows)} blows at {n} places, and {-after[:, -1].min():g} m/s still approach")
        places = together(order, K, after[:, -1], slow, fastest)
        rows = (places[:, None] * D + np.arange(D)).ravel()
        if order == "sequential":
            one = fastest
            struck = impact(
                K[np.ix_(rows, rows)], after[one], friction=mu[one], restitution=e[one], law=law
            ).impulse.ravel()
        else:
            struck = strike(law, K[np.ix_(rows, rows)], after[places], mu[places], e[places], slow)
        impulse[places] += struck.reshape(-1, D)
        after += (K[:, rows] @ struck).reshape(n, D)
        blows.append(tuple(int(k) for k in places))
    energy = 0.5 * float(np.sum(impulse * (u + after)))
    return MultipleImpact(impulse=impulse, velocity=after, energy_change=energy, blows=tuple(blows))


def numbers(name: str, given: ArrayLike, n: int, most: float) -> Array:
    array = np.array(given, np.float64)
    array = np.full(n, array) if array.ndim == 0 else array
    if array.shape != (n,) or not (np.isfinite(array) & (array >= 0.0) & (array <= most)).all():
        raise ValueError(f"{name}: {given!r} is not a number from 0 {'up' if most > 1.0 else 'to 1'}, or {n} of them")
    return array


def fastest_approach(normal: Array, slow: float) -> int | None:
    approach = -normal
    most = float(approach.max())
    return int(np.argmax(approach >= most * (1.0 - TIE))) if most > slow else None


def together(order: str, K: Array, normal: Array, slow: float, fastest: int) -> NDArray[np.int64]:
    """The places of one blow."""
    n = len(normal)
    if order == "simultaneous":
        return np.arange(n)
    if order == "sequential":
        return np.array([fastest])
    approaching = np.flatnonzero(normal < -slow)
    D = len(K) // n
    moved = np.abs(K.reshape(n, D, n, D)).max(axis=(1, 3)) > 0.0
    _, group = sparse.csgraph.connected_components(moved[np.ix_(approaching, approaching)])
    return approaching[group == group[np.flatnonzero(approaching == fastest)[0]]]


def strike(law: str, K: Array, u: Array, mu: Array, e: Array, slow: float) -> Array:
    """(n D,) the impulses of one complementarity problem, or of two."""
    solve = planar if u.shape[1] == 2 else spatial
    scale = float(np.abs(u).max())
    none = np.zeros(len(u))
    if law == "newton":
        bounced = u.copy()
        bounced[:, -1] += np.where(np.abs(u[:, -1]) > slow, e, 0.0) * u[:, -1]  # those that part too, else energy grows
        return solve(K, bounced, mu, none, scale)
    compression = solve(K, u, mu, none, scale)
    given_back = np.zeros_like(u)
    given_back[:, -1] = e * np.maximum(0.0, compression.reshape(u.shape)[:, -1])
    known = compression + given_back.ravel()
    return known + solve(K, u + (K @ known).reshape(u.shape), mu, given_back[:, -1], scale)


def planar(K: Array, u: Array, mu: Array, base: Array, scale: float) -> Array:
    normal_first = np.arange(len(K)).reshape(-1, 2)[:, ::-1].ravel()
    kind = np.where(mu > 0.0, "gripping", "smooth")
    found = friction_forces(
        K[np.ix_(normal_first, normal_first)], u.ravel()[normal_first], kind, mu, base=base,
        tolerance=ACCURACY, scale=scale,
    )  # fmt: skip
    if found.outcome == "none":
        raise ImpactError(f"no impulses obey Coulomb's law at these {len(u)} places, friction {mu.tolist()}")
    return found.force[:, ::-1].ravel()


def spatial(K: Array, u: Array, mu: Array, base: Array, scale: float) -> Array:
    normal_first = np.roll(np.arange(len(K)).reshape(-1, 3), 1, axis=1).ravel()
    W = sparse.csr_array(K[np.ix_(normal_first, normal_first)])
    try:
        found = solve_cones(ConeProblem(W, np.roll(u, 1, axis=1), mu), tolerance=ACCURACY)
    except ContactForceError as error:
        raise ImpactError(str(error)) from error
    return np.roll(found.impulse, -1, axis=1).ravel()
