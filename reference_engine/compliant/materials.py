"""What bodies are made of, and what holds between two materials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from reference_engine.elementary import squared
from reference_engine.errors import CompliantError


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """An elastic solid."""

    young_modulus: float  # Pa
    poisson_ratio: float = 0.3

    def __post_init__(self) -> None:
        check("young_modulus", self.young_modulus, 0.0, math.inf, "Pa, above 0")
        check("poisson_ratio", self.poisson_ratio, -1.0, 0.5, "between -1 and 0.5")

    @property
    def plane_modulus(self) -> float:
        """E / (1 - nu^2) [Pa]."""
        return self.young_modulus / (1.0 - squared(self.poisson_ratio))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLaw:
    """Of two materials in contact.

    Friction and rolling resistance are regularised: below `v_small` and `w_small` they fade to 0 smoothly. An approach
    no faster than `v_small` counts as one with restitution 0.
    """

    restitution: float  # 0 to 1, nominal: see response.py
    sliding_friction: float = 0.0
    rolling_resistance: float = 0.0  # its torque is this times the contact radius times the normal force
    v_small: float = 0.01  # m/s
    w_small: float = 0.01  # rad/s

    def __post_init__(self) -> None:
        for name, most in (("restitution", 1.0), ("sliding_friction", 1e6), ("rolling_resistance", 1e6)):
            value = getattr(self, name)
            if not (is_number(value) and 0.0 <= value <= most):
                raise CompliantError(f"{name}: {value!r}; 0 to {most:g}")
        check("v_small", self.v_small, 0.0, math.inf, "m/s, above 0")
        check("w_small", self.w_small, 0.0, math.inf, "rad/s, above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """By name; and the laws by pairs of names, in either order."""

    materials: Mapping[str, Material]
    pairs: Mapping[tuple[str, str], PairLaw]
    laws: dict[frozenset[str], PairLaw] = field(init=False)

    def __post_init__(self) -> None:
        laws: dict[frozenset[str], PairLaw] = {}
        for (a, b), law in self.pairs.items():
            for name in (a, b):
                if name not in self.materials:
                    raise CompliantError(f"pairs: material {name!r} is not one of {sorted(self.materials)}")
            if laws.setdefault(frozenset((a, b)), law) != law:
                raise CompliantError(f"pairs: {a!r} with {b!r} has two laws; give one")
        object.__setattr__(self, "laws", laws)

    def material(self, name: str) -> Material:
        if name not in self.materials:
            raise CompliantError(f"material: {name!r} is not one of {sorted(self.materials)}")
        return self.materials[name]

    def law(self, a: str, b: str) -> PairLaw:
        law = self.laws.get(frozenset((a, b)))
        if law is None:
            known = ", ".join(" with ".join(sorted(pair) * (3 - len(pair))) for pair in self.laws) or "none"
            raise CompliantError(f"pairs: no law for {a!r} with {b!r}; there are: {known}")
        return law


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def are_numbers(values: Any, count: int | None = None) -> bool:
    """Whether they are so many finite numbers, in a row."""
    if np.ndim(values) != 1 or (count is not None and len(values) != count):
        return False
    return all(is_number(value) and math.isfinite(value) for value in values)


def check(name: str, value: float, low: float, high: float, allowed: str) -> None:
    """Strictly between the two."""
    if not (is_number(value) and low < value < high):
        raise CompliantError(f"{name}: {value!r}; {allowed}")
