"""The law of each pair, for engines that make it from one value per shape by a rule of their own.

A scene gives friction and restitution of every pair. Chipmunk, Bullet and Rapier multiply the values of two shapes,
Box2D takes the geometric mean of the frictions and the larger restitution, PhysX the mean of both, DART the smaller
friction. `shape_values` finds values whose combination
is exactly the law of every pair that can meet; where there are none the adapter sets the law contact by contact,
from `PairLaws`.
"""

import math
from typing import Literal

import numpy as np

from scenarios.scene import Scene

Quantity = Literal["friction", "restitution"]
Rule = Literal["product", "geometric-mean", "mean", "min", "max"]

HOW_COMBINED = {
    "product": "multiplies the {} of two bodies",
    "mean": "takes the mean of two bodies' {}",
    "min": "takes the smaller {} of two bodies",
}
FIT_TOLERANCE = 1e-12  # relative; a square root squared


class PairLaws:
    """Laws by member, bodies first, then boundaries. Members alike in all that matters share one table entry."""

    def __init__(self, scene: Scene) -> None:
        members = (*scene.bodies, *scene.boundaries)
        special = {name for pair in scene.contact.pairs for name in (pair.a, pair.b)}
        kinds: dict[tuple[object, ...], int] = {}
        self.kind: list[int] = []  # of each member
        samples, counts, fixed = [], [], []
        for member in members:
            immovable = bool(getattr(member, "fixed", True))
            own_name = member.name if member.name in special else None
            key = (member.friction, member.restitution, member.material, immovable, own_name)
            if key not in kinds:
                kinds[key] = len(kinds)
                samples.append(member)
                counts.append(0)
                fixed.append(immovable)
            self.kind.append(kinds[key])
            counts[kinds[key]] += 1
        self.laws = [[scene.pair_law(p, q) for q in samples] for p in samples]  # (friction, restitution) by kinds
        self._meet = [
            (i, j)
            for i in range(len(samples))
            for j in range(i, len(samples))
            if not (fixed[i] and fixed[j]) and (i != j or counts[i] > 1)
        ]

    @property
    def restitutions(self) -> set[float]:
        """Of all pairs that can meet."""
        return {self.laws[i][j][1] for i, j in self._meet}

    def of(self, a: int, b: int) -> tuple[float, float]:
        """(friction, restitution) of members a and b."""
        return self.laws[self.kind[a]][self.kind[b]]

    def shape_values(self, quantity: Quantity, rule: Rule) -> list[float] | None:
        """A value for each member such that `rule` gives every pair that can meet its law; None if there are none."""
        column = 0 if quantity == "friction" else 1
        laws = {(i, j): self.laws[i][j][column] for i, j in self._meet}
        if rule == "max":
            values = _for_the_larger(laws, len(self.laws))
            fits = all(max(values[i], values[j]) == law for (i, j), law in laws.items())
        elif rule == "min":
            values = [max((law for pair, law in laws.items() if i in pair), default=0.0) for i in range(len(self.laws))]
            fits = all(min(values[i], values[j]) == law for (i, j), law in laws.items())
        elif rule == "mean":
            values = _for_the_mean(laws, len(self.laws))
            fits = all(
                math.isclose(0.5 * (values[i] + values[j]), law, rel_tol=1e-9, abs_tol=1e-12)
                for (i, j), law in laws.items()
            )
            fits = fits and min(values) >= 0.0
        else:
            # sqrt(p q) = law is p q = law^2
            targets = laws if rule == "product" else {pair: law * law for pair, law in laws.items()}
            values = _for_the_product(targets, len(self.laws))
            fits = all(
                math.isclose(values[i] * values[j], law, rel_tol=FIT_TOLERANCE) for (i, j), law in targets.items()
            )
        return [values[kind] for kind in self.kind] if fits else None


def no_values(engine: str, laws: PairLaws, **rules: Rule) -> str | None:
    """Why an engine that combines two shapes' values by these rules cannot have the scene's laws, or None."""
    for quantity, rule in rules.items():
        if laws.shape_values(quantity, rule) is None:  # type: ignore[arg-type]
            how = HOW_COMBINED[rule].format(quantity)
            return f"{engine} {how}; no values give every pair of this scene its own"
    return None


def _for_the_larger(laws: dict[tuple[int, int], float], count: int) -> list[float]:
    """No value may exceed any law of its own; the largest such values are the only candidates worth a try."""
    return [min((law for pair, law in laws.items() if i in pair), default=0.0) for i in range(count)]


def _for_the_mean(laws: dict[tuple[int, int], float], count: int) -> list[float]:
    """The non-negative values whose means come closest to the laws."""
    from scipy.optimize import nnls  # slow to import, and only wanted here

    rows = np.zeros((len(laws), count))
    for row, (i, j) in zip(rows, laws):
        row[i] += 0.5
        row[j] += 0.5
    values, _ = nnls(rows, np.array(list(laws.values()))) if laws else (np.zeros(count), 0.0)
    found: list[float] = values.tolist()
    return found


def _for_the_product(laws: dict[tuple[int, int], float], count: int) -> list[float]:
    """A kind that meets its own has the root of that law; the others follow from a neighbour that is not 0.

    A kind that follows from nobody may have any scale: the root of its largest law.
    """
    values: dict[int, float] = {i: math.sqrt(law) for (i, j), law in laws.items() if i == j}
    while len(values) < count:
        follow = {
            p: law / values[q]
            for pair, law in laws.items()
            for p, q in (pair, pair[::-1])
            if p not in values and values.get(q)
        }
        if not follow:
            first = next(i for i in range(count) if i not in values)
            follow = {first: math.sqrt(max((law for pair, law in laws.items() if first in pair), default=0.0))}
        values |= follow
    return [values[i] for i in range(count)]
