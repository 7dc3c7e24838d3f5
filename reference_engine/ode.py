"""scipy's DOP853 with the same bits on every processor: its sums in one order, its roots by square roots.

Hairer, Norsett & Wanner 1993, sec. II.4 (steps), II.5 (the method); coefficients and dense output's polynomial are
scipy's. A class for `solve_ivp(method=Dop853)`, or to step by hand.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.integrate._ivp.rk import Dop853DenseOutput

from reference_engine.array_types import Array

SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0


def eighth_root(x: float) -> float:
    return math.sqrt(math.sqrt(math.sqrt(x)))


def _mean_square(x: Array) -> float:
    return float(np.einsum("i,i->", x, x)) / x.size


class Dop853(DOP853):
    t: float
    h_abs: float
    y: Array
    f: Array

    def __init__(
        self,
        fun: Callable[[float, Array], Array],
        t0: float,
        y0: Array,
        t_bound: float,
        *,
        rtol: float,
        atol: Any,
        first_step: float | None = None,
        **more: Any,
    ) -> None:
        if first_step is None and t_bound != t0:
            first_step = _first_step(fun, t0, np.asarray(y0, dtype=np.float64), t_bound, rtol, atol)
        super().__init__(fun, t0, y0, t_bound, rtol=rtol, atol=atol, first_step=first_step, **more)

    def _combined(self, factors: Array) -> Array:
        return np.asarray(np.einsum("s,sn->n", factors, self.K_extended[: len(factors)]))

    def _step_impl(self) -> tuple[bool, str | None]:
        least = 10.0 * abs(np.nextafter(self.t, self.direction * np.inf) - self.t)
        length, again = min(max(self.h_abs, least), self.max_step), False
        while length >= least:
            end = self.t + length * self.direction
            if self.direction * (end - self.t_bound) > 0.0:
                end = self.t_bound
            h = end - self.t
            self.K[0] = self.f
            for s in range(1, self.n_stages):
                self.K[s] = self.fun(self.t + self.C[s] * h, self.y + h * self._combined(self.A[s, :s]))
            y = self.y + h * self._combined(self.B)
            self.K[-1] = f = self.fun(end, y)
            error = self._error(h, self.atol + np.maximum(np.abs(self.y), np.abs(y)) * self.rtol)
            factor = SAFETY / eighth_root(error) if error > 0.0 else MOST_FACTOR
            if error < 1.0:
                self.h_abs = abs(h) * min(1.0 if again else MOST_FACTOR, factor)
                self.h_previous, self.y_old, self.t, self.y, self.f = h, self.y, end, y, f
                return True, None
            length, again = abs(h) * (max(LEAST_FACTOR, factor) if error < np.inf else LEAST_FACTOR), True
        return False, self.TOO_SMALL_STEP

    def _error(self, h: float, scale: Array) -> float:
        fifth = _mean_square(self._combined(self.E5) / scale)
        third = _mean_square(self._combined(self.E3) / scale)
        total = fifth + 0.01 * third
        if not total < np.inf:
            return np.inf
        return abs(h) * fifth / math.sqrt(total) if total > 0.0 else 0.0

    def _dense_output_impl(self) -> Dop853DenseOutput:
        h = self.h_previous
        for s, (a, c) in enumerate(zip(self.A_EXTRA, self.C_EXTRA), start=self.n_stages + 1):
            self.K_extended[s] = self.fun(self.t_old + c * h, self.y_old + h * self._combined(a[:s]))
        change = self.y - self.y_old
        first = [change, h * self.K[0] - change, 2.0 * change - h * (self.f + self.K[0])]
        return Dop853DenseOutput(
            self.t_old, self.t, self.y_old, np.array(first + [h * self._combined(row) for row in self.D])
        )


def _first_step(
    fun: Callable[[float, Array], Array], t0: float, y: Array, t_bound: float, rtol: float, atol: Any
) -> float:
    """s: by the sizes of the state, its rate and its rate's rate."""
    span = abs(t_bound - t0)
    scale = atol + np.abs(y) * rtol
    f = np.asarray(fun(t0, y), dtype=np.float64)
    size, rate = math.sqrt(_mean_square(y / scale)), math.sqrt(_mean_square(f / scale))
    guess = 1e-6 if size < 1e-5 or rate < 1e-5 else 0.01 * size / rate
    guess = min(guess, span)
    way = 1.0 if t_bound >= t0 else -1.0
    later = np.asarray(fun(t0 + way * guess, y + way * guess * f), dtype=np.float64)
    bend = math.sqrt(_mean_square((later - f) / scale)) / guess
    most = max(rate, bend)
    second = max(1e-6, guess * 1e-3) if most <= 1e-15 else eighth_root(0.01 / most)
    return min(100.0 * guess, second, span)
