"""Dense solutions of ordinary differential equations to round-off, for truths that have no closed form.

Over a window the solution is a Chebyshev series, found by Picard iteration on the values at the nodes
(Clenshaw & Norton 1963, Computer Journal 6): each iteration evaluates the rates at all nodes at once and integrates
them exactly. In numpy this is ten times faster than a Runge-Kutta method step by step, and needs no import of scipy.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial import chebyshev

from reference_engine.array_types import Array
from reference_engine.dense import mul

Rate = Callable[[Array, Array], Array]
"""(time (N,), state (D, N)) -> rate of the state (D, N)."""

NODES = 40
ITERATIONS = 40
HOPELESS = 8  # iterations after which a window that still moves by a percent is too long
TAIL = 1e-13  # size of the last coefficients, relative to the state, at which a window is short enough
GROWTH = 1.2  # of the window after one that succeeded
SHORTEST = 1e-6  # s; a window below means that the solution is not smooth


class NotSmoothError(ArithmeticError):
    """The rates are not smooth enough for a series, or not finite."""


class DenseSolution:
    """y(t) over [start, end] of y' = rate(t, y), y(start) given. Integrated as far as it is asked for.

    Called with times (S,) it gives (D, S); outside its span, NaN. With `stop`, quantity(time (N,), state (D, N)),
    it ends where that first goes from positive to 0, if it does before `end`.
    """

    def __init__(
        self, rate: Rate, state: Array, start: float, end: float, *, window: float = 0.5, stop: Rate | None = None
    ) -> None:
        self.start = start
        self._end, self._stop, self._stopped = end, stop, False
        self._rate, self._first = rate, np.asarray(state, dtype=np.float64)
        self._window = window
        self._edges = [start]  # (W + 1) s, ends of the windows
        self._series: list[Array] = []  # W times (NODES + 1, D) coefficients

    @property
    def end(self) -> float:
        """s; where it stops, if it does."""
        if self._stop is not None:
            self._integrate(self._end)
        return self._end

    def __call__(self, time: Array) -> Array:
        time = np.atleast_1d(np.asarray(time, dtype=np.float64))
        self._integrate(float(np.max(time[time <= self._end], initial=self.start)))
        inside = (time >= self.start) & (time <= self._end)
        edges = np.array(self._edges)
        window = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, len(self._series) - 1)
        low, high = edges[window], edges[window + 1]
        position = np.where(inside, (2.0 * time - low - high) / (high - low), np.nan)
        series = np.array(self._series)[window]
        return np.einsum("snd,sn->ds", series, chebyshev.chebvander(position, NODES))

    def at(self, time: float) -> Array:
        """(D,) at one time."""
        return self(np.array([time]))[:, 0]

    def _integrate(self, until: float) -> None:
        """On to the window that holds `until`, or to the end."""
        while not self._series or (self._edges[-1] < min(until, self._end) and not self._stopped):
            low = self._edges[-1]
            high = min(low + self._window, self._end)
            # Every Chebyshev polynomial is 1 at the end of a window.
            state = self._series[-1].sum(axis=0) if self._series else self._first
            coefficients = self._solve(state, low, high)
            if coefficients is None:
                self._window = 0.5 * (high - low)
                if self._window < SHORTEST:
                    raise NotSmoothError(f"no series at t = {low:.9g} s in a window of {self._window:.1e} s")
                continue
            self._edges.append(high)
            self._series.append(coefficients)
            self._window *= GROWTH
            self._find_stop(low, high, coefficients)

    def _find_stop(self, low: float, high: float, coefficients: Array) -> None:
        """Between equally spaced points of the window, then by regula falsi."""
        if self._stop is None:
            return
        stop = self._stop

        def quantity(time: Array) -> Array:
            # numpy's stubs let chebval return a scalar too; of an array it is an array.
            state: Array = chebyshev.chebval((2.0 * time - low - high) / (high - low), coefficients)  # type: ignore[assignment]
            return stop(time, state)

        time = np.linspace(low, high, NODES)
        value = quantity(time)
        falls = np.flatnonzero((value[:-1] > 0.0) & (value[1:] <= 0.0))
        if not falls.size:
            return
        k = int(falls[0])
        self._end, self._stopped = falling_root(quantity, time[k], time[k + 1], value[k], value[k + 1]), True

    def _solve(self, state: Array, low: float, high: float) -> Array | None:
        """Coefficients of the solution over the window, or None where it has to be shorter."""
        node, to_series, integral = _grid()
        time = 0.5 * (low + high) + 0.5 * (high - low) * node
        to_values = integral * (0.5 * (high - low))
        values = np.repeat(state[:, None], NODES, axis=1)
        scale = np.maximum(1.0, np.abs(state))
        change = np.inf
        for iteration in range(ITERATIONS):
            before, last_change = values, change
            with np.errstate(over="ignore", invalid="ignore"):  # of a window that is too long
                values = state[:, None] + mul(self._rate(time, values), to_values.T)
            if not np.isfinite(values).all():
                return None
            change = float(np.max(np.abs(values - before) / scale[:, None]))
            if iteration == HOPELESS and change > 1e-2:
                return None
            if change < 4e-16 or (change < 1e-13 and change >= last_change):  # as far as round-off allows
                break
        else:
            return None
        rates = mul(to_series, self._rate(time, values).T)
        coefficients: Array = chebyshev.chebint(rates, lbnd=-1.0, scl=0.5 * (high - low)).astype(np.float64, copy=False)
        coefficients[0] += state
        scale = np.maximum(scale, np.max(np.abs(values), axis=1))
        settled = bool(np.all(np.abs(coefficients[-3:]) < TAIL * scale))
        return coefficients if settled else None


def falling_root(quantity: Callable[[Array], Array], low: float, high: float, above: float, below: float) -> float:
    """Where quantity, `above` 0 at low and `below` or at 0 at high, falls to 0, to round-off.

    Regula falsi with the weight of an end that stays put halved (the Illinois rule): some ten evaluations.
    """
    last = high
    while low < high:
        middle = min(max(high - below * (high - low) / (below - above), low), high)
        value = float(quantity(np.array([middle]))[0])
        if value > 0.0:
            low, above, below = middle, value, 0.5 * below
        else:
            high, below, above = middle, value, 0.5 * above
        if value == 0.0 or abs(middle - last) <= 4e-16 * max(1.0, abs(middle)):
            return middle
        last = middle
    return high


@cache
def _grid() -> tuple[Array, Array, Array]:
    """Nodes (N,) in [-1, 1]; matrix (N, N) from values there to coefficients; and that from values of a
    function to values of its integral from -1."""
    node = chebyshev.chebpts1(NODES)
    values = chebyshev.chebvander(node, NODES - 1)
    weight = np.full(NODES, 2.0 / NODES)
    weight[0] = 1.0 / NODES
    to_series: Array = weight[:, None] * values.T  # discrete orthogonality at the roots of the next polynomial
    integrals = chebyshev.chebint(np.eye(NODES), lbnd=-1.0)  # (N + 1, N): integral of each polynomial
    integral = mul(mul(chebyshev.chebvander(node, NODES), integrals), to_series)
    return node, to_series, integral
