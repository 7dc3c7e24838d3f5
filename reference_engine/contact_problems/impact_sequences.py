"""Impacts that come again in the same order, weaker each time, without end: what all that follow give."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import lstsq, mul

TIMES = 3  # that a pattern of impacts must have come before it is believed
LONGEST = 12  # impacts of a pattern, for each contact
MODES = 5  # shares of a pattern that are told apart
SAFETY = 4.0
LASTING, ALIKE = 16, 1e-9  # times that a pattern must have come, and how much alike, to have no end
LEAST_DOUBLED, MOST_DOUBLED = 2, 30  # fewer patterns are waited for


NextImpact = Callable[[Array], tuple[tuple[int, ...], Array] | None]
"""Velocities (n, D) -> the contacts that are struck and their impulses (n, D); None where none approaches."""


@dataclass(frozen=True)
class Rest:
    """Of all impacts that follow, or of those until they become others."""

    impulse: Array  # (n, D) N s
    off: float  # m/s, how far off the velocities may be that they lead to


class Repetition:
    """The impacts so far at n contacts: which were struck, and by what impulses."""

    def __init__(self, K: Array, contacts: int, next_impact: NextImpact) -> None:
        """K (n D, n D)."""
        self.K, self.next_impact = K, next_impact
        self.weight = K.diagonal()[len(K) // contacts - 1 :: len(K) // contacts]  # 1/kg, of each contact
        self.hit: list[tuple[int, ...]] = []
        self.impulse: list[Array] = []  # (n, D) of each impact

    def add(self, contacts: tuple[int, ...], impulse: Array) -> None:
        self.hit.append(contacts)
        self.impulse.append(impulse)

    def restart(self) -> None:
        self.hit.clear()
        self.impulse.clear()

    def period(self) -> int:
        """Impacts after which the last ones have come again, TIMES times; 0 if none have."""
        hit, count = self.hit, len(self.hit)
        for period in range(1, min(LONGEST * len(self.weight), count // TIMES) + 1):
            if hit[-1 - period] == hit[-1]:
                since = (TIMES - 1) * period
                if hit[-since:] == hit[-since - period : -period]:
                    return period
        return 0

    def times(self, period: int, enough: int) -> int:
        """How often a pattern has come in a row; `enough` if more often."""
        hit = self.hit
        most = min(len(hit), enough * period)
        same = next((k for k in range(period, most) if hit[-1 - k] != hit[-1 - k + period]), most)
        return same // period

    def sums(self, period: int, times: int) -> list[Array]:
        """(n, D) of the last patterns, the newest first."""
        count = len(self.impulse)
        ends = (count - k * period for k in range(times))
        return [np.sum(self.impulse[end - period : end], axis=0) for end in ends]

    def rest(self, period: int, velocity: Array, allowed: float) -> Rest | None:
        """What follows, if that can be told to `allowed` m/s. velocity (n, D): now.

        The impulses d of a pattern become a linear map of those before, d_k = A d_k-1, of which a few eigenvalues are
        not small: d_k+1 = -(c_1 d_k + c_2 d_k-1 + ...), with the c of the least misses so far (as in minimal polynomial
        extrapolation; Cabay & Jackson 1976). That holds until contacts come to slide the other way, or others to be
        struck. So the impacts are tried at the velocities foretold after 1, 2, 4, ... patterns, and where they are
        other ones the rest ends before.
        """
        have = self.times(period, MODES + 2)
        d = self.sums(period, have)
        if not d[1].any() or not (size := self.size(d[0])) < (before := self.size(d[1])):
            return None
        left = SAFETY / (1.0 - size / before)
        known = np.stack([(one * self.weight[:, None]).ravel() for one in d], axis=1)
        for modes in range(1, have - 1):
            two = np.concatenate([known[:, : modes + 1], known[:, 1 : modes + 2]])  # what both of the last two agree in
            c = np.append(1.0, lstsq(two[:, 1:], -two[:, 0], rcond=1e-12))
            if abs(total := float(c.sum())) < 1e-12 * float(np.abs(c).sum()):
                continue
            off = left * float(np.abs(mul(two, c)).max()) / abs(total)
            if (
                off <= allowed
                and (rest := self.foretold(period, velocity, d[:modes], c[1:], allowed / left)) is not None
            ):
                return Rest(rest, off + allowed)
        return None

    def foretold(self, period: int, velocity: Array, d: list[Array], c: Array, allowed: float) -> Array | None:
        """(n, D) the sum of what follows d by its recurrence, as far as impacts tried there agree to `allowed` m/s."""
        modes, last = len(c), np.stack([one.ravel() for one in d])
        step = np.eye(modes, k=-1)
        step[0] = -c
        power, summed = step, step  # step^N, and the sum of those up to it
        good, size = None, self.size(d[0])
        for doubled in range(MOST_DOUBLED):
            ahead, total = ((mul(matrix[0], last)).reshape(velocity.shape) for matrix in (power, summed))
            next_one = (mul((mul(step, power))[0], last)).reshape(velocity.shape)
            if not self.size(ahead) <= size:
                return good
            tried = self.tried(period, velocity + (mul(self.K, total.ravel())).reshape(velocity.shape))
            if not self.size(tried - next_one) <= allowed:
                return good
            if doubled >= LEAST_DOUBLED:
                good = total
            if self.size(ahead) <= allowed:
                break
            power, summed = mul(power, power), summed + mul(power, summed)
        return good

    def tried(self, period: int, velocity: Array) -> Array:
        """(n, D) what the impacts of one pattern really give."""
        given = np.zeros_like(velocity)
        for _ in range(period):
            if (found := self.next_impact(velocity + (mul(self.K, given.ravel())).reshape(velocity.shape))) is None:
                break
            given += found[1]
        return given

    def lasts(self, period: int) -> bool:
        """Whether a pattern has come LASTING times, each the same as the one before or that times a number above 1."""
        if self.times(period, LASTING) < LASTING:
            return False
        d = self.sums(period, LASTING)
        shares = [float(np.sum(newer * older)) / float(np.sum(older * older)) for newer, older in pairwise(d)]
        return min(shares) >= 1.0 - ALIKE and all(
            self.size(newer - share * older) <= ALIKE * self.size(newer)
            for share, (newer, older) in zip(shares, pairwise(d))
        )

    def size(self, impulse: Array) -> float:
        return float((self.weight * np.linalg.norm(impulse, axis=1)).max())
