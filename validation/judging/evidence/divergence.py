"""Where two motions of one case first part: sample, body, coordinate, contact.

Engines repeat to the last bit, so the first difference points at what a change touched. Stored samples are compared,
not steps: an engine that keeps 50 samples a second places it to within 20 ms, around an impact to the step.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array, Indices
from validation.records.trajectory import Contacts, PlanarTrajectory, Trajectory

T = TypeVar("T")
AXES = ("x", "y", "z")
CONTACT_FIELDS = (("impulse", "N s"), ("gap", "m"), ("normal", "1"), ("point", "m"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Of one body at one sample; of all that differ there the largest, a metre counted as a radian."""

    sample: int  # of the new motion
    time: float  # s
    body: str
    coordinate: str  # x, angle, rotation, velocity x, spin z, ...
    size: float  # infinite where one of the two is no number
    unit: str
    others: int = 0  # other bodies that differ at this sample too


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactDifference:
    """The first contact, as the engine reports them, that only one motion has or that differs in the two."""

    sample: int  # of the new motion
    time: float  # s
    a: str
    b: str
    what: str  # made, gone; impulse, gap, normal or point
    size: float = 0.0
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Two motions whose hashes differ."""

    first: Difference | None  # None: every sample is the same in both
    last: Difference | None = None  # of the poses, at the last sample that both have; None: there they agree
    contact: ContactDifference | None = None  # None: none differs, or the engine reports none


def first_divergence(accepted: Trajectory, new: Trajectory, members: Sequence[str]) -> Divergence:
    """Compares at the times that both have; a time that stands twice (before and after an impact) counts as two.

    `members` are the names of the scene's bodies, then of its boundaries. Raises ValueError where the two have not the
    same bodies, or no time in common: they are then no motions of one scene.
    """
    kinds = [isinstance(one, PlanarTrajectory) for one in (accepted, new)]
    bodies = [one.velocity.shape[1] for one in (accepted, new)]
    if kinds[0] != kinds[1] or bodies[0] != bodies[1]:
        words = [f"{count} {'planar' if kind else 'spatial'} bodies" for kind, count in zip(kinds, bodies)]
        raise ValueError(f"new: {words[1]}, accepted: {words[0]}; two motions of one scene have the same")
    was, now = common_samples(accepted.time, new.time)
    if not len(now):
        raise ValueError(f"new: no time in common with accepted, which has {accepted.time[0]:g} s first")
    poses = _poses(accepted, was, new, now)
    velocities = _velocities(accepted, was, new, now)
    differs = np.stack([one.size > 0.0 for one in (*poses, *velocities)]).any(axis=(0, 2))  # (C,)
    if not differs.any():
        return Divergence(first=None, contact=_first_contact(accepted, was, new, now, members))
    at = int(np.argmax(differs))
    first = _largest(poses, at, new, now, members) or _largest(velocities, at, new, now, members)
    last = _largest(poses, len(now) - 1, new, now, members)
    return Divergence(first=first, last=last, contact=_first_contact(accepted, was, new, now, members))


def common_samples(accepted: Array, new: Array) -> tuple[Indices, Indices]:
    """(C,) and (C,): the samples of the same time in both, in order; the n-th of a time with the n-th."""

    def keys(time: Array) -> list[tuple[float, int]]:
        nth = np.arange(len(time)) - np.searchsorted(time, time, side="left")
        return list(zip(time.tolist(), nth.tolist()))

    accepted_row = {key: i for i, key in enumerate(keys(accepted))}
    shared = [(accepted_row[key], i) for i, key in enumerate(keys(new)) if key in accepted_row]
    pairs = np.array(shared, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True, slots=True)
class _Differences:
    """Sizes of differences at C samples of B bodies in K coordinates."""

    size: Array  # (C, B)
    unit: str
    name: Callable[[int, int], str]  # of sample and body: the coordinate


def _differences(old: Array, new: Array, unit: str, names: Sequence[str]) -> _Differences:
    """(C, B, K) each; the coordinate is the one that differs most."""
    apart = _apart(old, new)
    return _Differences(apart.max(axis=2), unit, lambda i, b: names[int(np.argmax(apart[i, b]))])


def _apart(old: Array, new: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(old == new, 0.0, np.abs(new - old))
    apart[np.isnan(old) & np.isnan(new)] = 0.0
    apart[np.isnan(apart)] = np.inf
    return apart


def _poses(accepted: Trajectory, was: Indices, new: Trajectory, now: Indices) -> list[_Differences]:
    if isinstance(accepted, PlanarTrajectory) and isinstance(new, PlanarTrajectory):
        turned = _differences(accepted.pose[was, :, 2:], new.pose[now, :, 2:], "rad", ("angle",))
        return [_differences(accepted.position[was], new.position[now], "m", AXES), turned]
    assert not isinstance(accepted, PlanarTrajectory) and not isinstance(new, PlanarTrajectory)
    old, q = accepted.orientation[was], new.orientation[now]
    # q and -q are one rotation; |q - p| = 2 sin(angle / 4)
    chord = np.minimum(np.linalg.norm(q - old, axis=2), np.linalg.norm(q + old, axis=2))
    same = (q == old).all(axis=2) | (q == -old).all(axis=2)
    angle = np.where(same, 0.0, 4.0 * elementary.asin(np.minimum(chord / 2.0, 1.0)))
    angle[np.isnan(angle)] = np.inf
    turned = _Differences(angle, "rad", lambda i, b: "rotation")
    return [_differences(accepted.position[was], new.position[now], "m", AXES), turned]


def _velocities(accepted: Trajectory, was: Indices, new: Trajectory, now: Indices) -> list[_Differences]:
    old, spin = accepted.spin[was], new.spin[now]
    if isinstance(new, PlanarTrajectory):
        old, spin = old[..., None], spin[..., None]
    spins = ("spin",) if isinstance(new, PlanarTrajectory) else tuple(f"spin {axis}" for axis in AXES)
    moved = _differences(accepted.velocity[was], new.velocity[now], "m/s", [f"velocity {axis}" for axis in AXES])
    return [moved, _differences(old, spin, "rad/s", spins)]


def _largest(
    quantities: Sequence[_Differences], at: int, new: Trajectory, now: Indices, members: Sequence[str]
) -> Difference | None:
    """At the common sample `at`; None where these quantities agree there."""
    sizes = np.stack([one.size[at] for one in quantities])  # (K, B)
    if not sizes.any():
        return None
    which, body = divmod(int(np.argmax(sizes)), sizes.shape[1])
    largest = quantities[which]
    return Difference(
        sample=int(now[at]),
        time=float(new.time[now[at]]),
        body=members[body],
        coordinate=largest.name(at, body),
        size=float(sizes[which, body]),
        unit=largest.unit,
        others=int((sizes > 0.0).any(axis=0).sum()) - 1,
    )


# --- contacts, as reported ------------------------------------------------------------------------------------------


def _first_contact(
    accepted: Trajectory, was: Indices, new: Trajectory, now: Indices, members: Sequence[str]
) -> ContactDifference | None:
    """An engine looks for contacts at the same times in every motion: what the other reports none at, it has none."""
    if accepted.contacts is None or new.contacts is None:
        return None
    before, after = _by_sample(accepted.contacts), _by_sample(new.contacts)
    for i, j in zip(was.tolist(), now.tolist()):
        old, found = before.get(i, {}), after.get(j, {})
        for pair in sorted({*old, *found}):
            if len(old.get(pair, ())) != len(found.get(pair, ())):
                what = "made" if len(found.get(pair, ())) > len(old.get(pair, ())) else "gone"
                return _contact(new, j, pair, members, what)
            for name, unit in CONTACT_FIELDS:
                apart = _apart(
                    getattr(accepted.contacts, name)[old[pair]].astype(float),
                    getattr(new.contacts, name)[found[pair]].astype(float),
                )
                if apart.any():
                    return _contact(new, j, pair, members, name, float(apart.max()), unit)
    return None


def _by_sample(contacts: Contacts) -> dict[int, dict[tuple[int, int], list[int]]]:
    rows: dict[int, dict[tuple[int, int], list[int]]] = {}
    for row, (sample, a, b) in enumerate(zip(contacts.sample.tolist(), contacts.a.tolist(), contacts.b.tolist())):
        rows.setdefault(sample, {}).setdefault((a, b), []).append(row)
    return rows


def _contact(
    new: Trajectory,
    sample: int,
    pair: tuple[int, int],
    members: Sequence[str],
    what: str,
    size: float = 0.0,
    unit: str = "",
) -> ContactDifference:
    a, b = (members[index] for index in pair)
    return ContactDifference(sample=sample, time=float(new.time[sample]), a=a, b=b, what=what, size=size, unit=unit)


# --- JSON, for the store ------------------------------------------------------------------------------------------


def divergence_to_json(divergence: Divergence | None) -> str:
    """ "" for none; an infinite size is "inf"."""
    if divergence is None:
        return ""
    data = asdict(divergence)
    for found in data.values():
        if found is not None and math.isinf(found["size"]):
            found["size"] = "inf"
    return json.dumps(data)


def divergence_from_json(text: str) -> Divergence | None:
    if not text:
        return None
    data = json.loads(text)

    def made(kind: type[T], name: str) -> T | None:
        found = data[name]
        return None if found is None else kind(**found | {"size": float(found["size"])})

    return Divergence(
        first=made(Difference, "first"), last=made(Difference, "last"), contact=made(ContactDifference, "contact")
    )
