"""A round cap that lies flat: three points of its rim, its supports, stand for its disc.

What presses on a disc is some force, at some point within it. Three points of the rim, the first of them on the
radius through that point, give every such force, and where the cap tips about a tangent of its rim, it is at the first
one. So they are turned round the rim, at events, until no point of it goes in: rates and accelerations of gaps are
a + b cos x + c sin x along a rim, which three of them tell. Friction that does not spin has the same force and moment
on any supports.
"""

from typing import NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross, mul, norm
from reference_engine.rotation import matrices, product
from reference_engine.spatial import layout as col
from reference_engine.spatial.frames import rates_of, surveyed
from reference_engine.spatial.layout import Run
from reference_engine.spatial.world import on_rim

FLAT = 1e-12  # rad, of a rim to a plane: it lies on it
MISSED = 1e-9  # rad: what a rim that rolls comes so near to being flat, it is
NEARLY, SOON = 1e-6, 1e-5  # rad, s: a rim that is so nearly flat, and will be so soon
MOST_CENTRED = 3
AIMED = 1e-10  # rad: so near its supports' direction that about which a cap tips is sought


class AlongRim(NamedTuple):
    """What three supports have, anywhere along the rim."""

    least: float
    most: float
    lowest: float  # rad round the axis from the first support, where the least is

    def lowest_is_beyond(self) -> bool:
        """Whether it is on the other side of the first support."""
        return abs(self.lowest) > 0.5 * np.pi


def along_rim(values: Array) -> AlongRim:
    """values (3,): of the supports."""
    middle = float(values.mean())
    a = float(2.0 * values[0] - values[1] - values[2]) / 3.0
    b = float(values[1] - values[2]) / np.sqrt(3.0)
    size = norm(np.array([a, b]))
    return AlongRim(middle - size, middle + size, elementary.atan2(-b, -a))


class Search:
    """For the direction in which the first support is at the lowest point, that is found with it there."""

    def __init__(self) -> None:
        self.angle, self.rounds = 0.0, 0  # rad, of the supports; how often they were turned
        self.centred = 0  # how often they were turned to where the pressure is
        self._left: tuple[float, float] | None = None  # an angle, and how far the lowest point is from it: more than 0
        self._right: tuple[float, float] | None = None

    def turn(self, off: float) -> float:
        """By how much to turn the supports, where the lowest point is off by so much [rad]: by false position, with
        what stays where it is halved (Illinois)."""
        if off > 0.0:
            if self._left is not None and self._right is not None:
                self._right = self._right[0], 0.5 * self._right[1]
            self._left = self.angle, off
        else:
            if self._left is not None and self._right is not None:
                self._left = self._left[0], 0.5 * self._left[1]
            self._right = self.angle, off
        if self._left is None or self._right is None:
            step = 0.5 * off
        else:
            (low, above), (high, below) = self._left, self._right
            step = low + (high - low) * above / (above - below) - self.angle
        self.angle, self.rounds = self.angle + step, self.rounds + 1
        return step


def centre_of(forces: Array) -> tuple[float, float]:
    """Where three supports' normal forces (3,) act: how far from the centre, in radii, and rad round the axis from the
    first support."""
    x = float(forces[0] - 0.5 * (forces[1] + forces[2]))
    y = float(np.sqrt(0.75) * (forces[1] - forces[2]))
    return norm(np.array([x, y])) / float(forces.sum()), elementary.atan2(y, x)


def supports(k: int) -> list[int]:
    """The candidates of the supports of a rim's candidate k."""
    return [k + 1, k + 2, k + 3]


def flat_rims(run: Run, y: Array, contacts: list[int]) -> list[int]:
    """Those of these that are rims which lie in their face."""
    return [k for k, tilt, _ in _tilts(run, y, contacts) if norm(tilt) <= FLAT]


def falling_flat(run: Run, y: Array, contacts: list[int]) -> list[tuple[int, float]]:
    """Those of these that are rims which all but lie in their face, and will do so, or have just gone beyond it; in how
    many seconds."""
    found = []
    for k, tilt, rate in _tilts(run, y, contacts):
        square = float(mul(rate, rate))
        lasts = -float(mul(tilt, rate)) / square if square > 0.0 else 0.0
        near = norm(tilt) <= MISSED or (norm(tilt) <= NEARLY and norm(tilt + lasts * rate) <= MISSED)
        if near and (0.0 < lasts < SOON or (lasts < 0.0 and _is_beyond(run, y, k))):
            found.append((k, lasts))
    return found


def _is_beyond(run: Run, y: Array, k: int) -> bool:
    """Whether a cap that stands on its first support has it higher than the other ones."""
    c = run.model.candidate[k, col.FIRST_FEATURE]
    return bool(run.model.stands[c]) and along_rim(surveyed(run, y, supports(k))[:, col.GAP]).lowest_is_beyond()


def time_to_flat(run: Run, y: Array, k: int) -> float:
    """s, to when the rim of candidate k, which all but lies in its face, is closest to it; or since then."""
    _, tilt, rate = _tilts(run, y, [k])[0]
    return -float(mul(tilt, rate)) / float(mul(rate, rate))


def _tilts(run: Run, y: Array, contacts: list[int]) -> list[tuple[int, Array, Array]]:
    """Of rims among these, the normal of the face crossed with the rim's axis, and the rate of that."""
    ids, bodies = run.model.candidate, y.reshape(-1, int(col.BODY))
    rims, found = [k for k in contacts if ids[k, col.KIND] == col.RIM_FACE], []
    for k, row in zip(rims, surveyed(run, y, rims) if rims else ()):
        one, other = (bodies[ids[k, end]] for end in (col.FIRST, col.SECOND))
        n, axis = row[col.N : col.RATE_P1], mul(matrices(one[col.Q : col.V]), _rim(run, k)[0][3:6])
        rate = cross(cross(other[col.W :], n), axis) + cross(n, cross(one[col.W :], axis))
        found.append((k, cross(n, axis), rate))
    return found


def rims_of(run: Run, contacts: list[int]) -> list[int]:
    """The candidates of the rims whose supports are among these."""
    remote, found = run.model.candidate[:, col.REMOTE], []
    for k in contacts:
        if remote[k] == 2:
            while remote[k] == 2:
                k -= 1
            found.append(k)
    return list(dict.fromkeys(found))


def turn_supports(run: Run, k: int, angle: float) -> None:
    """Of the rim's candidate k, round its axis [rad]."""
    rim, first = _rim(run, k)
    way = (run.model.vertex[first] - rim[:3]) / rim[6]
    way = elementary.cos(angle) * way + elementary.sin(angle) * cross(rim[3:6], way)
    run.model.vertex[first : first + 3] = on_rim(rim, way / norm(way))


def aim_supports(run: Run, y: Array, k: int, way: Array) -> None:
    """The first one that way (3,), in world axes, unless it is along the axis."""
    rim, first = _rim(run, k)
    q = y.reshape(-1, int(col.BODY))[int(run.model.candidate[k, col.FIRST]), col.Q : col.V]
    own = mul(matrices(q).T, way)
    own = own - float(mul(own, rim[3:6])) * rim[3:6]
    if norm(own) > 0.0:
        run.model.vertex[first : first + 3] = on_rim(rim, own / norm(own))


def _rim(run: Run, k: int) -> tuple[Array, int]:
    c = int(run.model.candidate[k, col.FIRST_FEATURE])
    return run.model.rim[c], int(run.model.support[c])


def lay_flat(run: Run, y: Array, k: int) -> None:
    """The body of a rim that all but lies in its face turned and moved so that it does.

    Else closing its gap tilts it, and it is another point of the rim that is lowest.
    """
    (_, tilt, _), row = _tilts(run, y, [k])[0], surveyed(run, y, [k])[0]
    body = y.reshape(-1, int(col.BODY))[run.model.candidate[k, col.FIRST]]
    p, n, R = row[col.P1 : col.P2], row[col.N : col.RATE_P1], matrices(body[col.Q : col.V])
    turn = -tilt if float(mul(mul(R, _rim(run, k)[0][3:6]), n)) > 0.0 else tilt
    body[:3] += cross(turn, body[:3] - p) - row[col.GAP] * n
    q = product(np.append(1.0, 0.5 * turn), body[col.Q : col.V])
    body[col.Q : col.V] = q / norm(q)


def sliding_way(run: Run, y: Array, k: int, slow: float) -> Array | None:
    """Unit, of how a flat rim's centre slides over its face; none where it does so no faster than that [m/s]."""
    rows = surveyed(run, y, supports(k))
    u, n = rows[:, col.U : col.FREE].mean(axis=0), rows[0, col.N : col.RATE_P1]
    u = u - float(mul(u, n)) * n
    speed = norm(u)
    return u / speed if speed > slow else None


def rates_along(run: Run, y: Array, k: int) -> AlongRim:
    """m/s, of the gaps along a flat rim."""
    return along_rim(rates_of(surveyed(run, y, supports(k))))
