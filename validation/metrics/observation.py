"""A trajectory together with its scene and truth, and what several metrics need of it, computed once."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from reference_engine.array_types import Array, Flags
from scenarios import mass
from scenarios.scenario import Scenario
from scenarios.scene import PlanarScene, Scene, inertias, masses
from scenarios.truth import Truth
from validation.records.trajectory import PlanarTrajectory, Trajectory

T = TypeVar("T")

NEAR = 0.05  # of the smallest free body's diameter: a pair with a smaller gap is near


class MismatchError(ValueError):
    """A trajectory that is not one of this scene; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What is measured: S samples of B bodies, D = 2 or 3. Every metric is a function of this alone.

    Raises MismatchError where the trajectory has other bodies than the scene.
    """

    scenario: Scenario
    trajectory: Trajectory
    _cached: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False)
    _of_scenario: dict[Callable[..., Any], Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of_scenario", _cache_of(self.scenario))
        shape = (self.trajectory.velocity.shape[1], isinstance(self.trajectory, PlanarTrajectory))
        if shape != (len(self.scene.bodies), self.is_planar):
            kinds = {True: "planar", False: "spatial"}
            raise MismatchError(
                f"trajectory: {shape[0]} {kinds[shape[1]]} bodies; the scene has {len(self.scene.bodies)} "
                f"{kinds[self.is_planar]} ones"
            )

    @property
    def scene(self) -> Scene:
        return self.scenario.scene

    @property
    def truth(self) -> Truth:
        return self.scenario.truth

    @property
    def is_planar(self) -> bool:
        return isinstance(self.scene, PlanarScene)

    @property
    def gravity(self) -> Array:
        """(D,) m/s^2"""
        return np.array(self.scene.gravity)

    @property
    def time(self) -> Array:
        """(S,) s, of the poses"""
        return self.trajectory.time

    @property
    def interval(self) -> Array:
        """(S - 1,) s between consecutive samples; 0 across an impact of an engine that samples before and after."""
        return np.diff(self.trajectory.time)


def shared(quantity: Callable[[Observation], T]) -> Callable[[Observation], T]:
    """`quantity` is computed at its first use in an observation and cached with it."""

    @functools.wraps(quantity)
    def once(observation: Observation) -> T:
        cached = observation._cached
        if quantity not in cached:
            cached[quantity] = quantity(observation)
        return cached[quantity]

    return once


def of_scenario(quantity: Callable[[Observation], T]) -> Callable[[Observation], T]:
    """`quantity` is of the scenario alone, and computed once for its motions: those of several engines are measured
    soon after one another."""

    @functools.wraps(quantity)
    def once(observation: Observation) -> T:
        cached = observation._of_scenario
        if quantity not in cached:
            cached[quantity] = quantity(observation)
        return cached[quantity]

    return once


RECENT = 8  # scenarios: motions of neighbouring ones come in any order
_recent: list[tuple[Scenario, dict[Callable[..., Any], Any]]] = []


def _cache_of(scenario: Scenario) -> dict[Callable[..., Any], Any]:
    """What `of_scenario` has of this scenario, which is the latest from now on."""
    found = next((one for one in _recent if one[0] is scenario), (scenario, dict[Callable[..., Any], Any]()))
    _recent[:] = [found, *(one for one in _recent if one[0] is not scenario)][:RECENT]
    return found[1]  # not what another thread has put there meanwhile


@of_scenario
def free(o: Observation) -> Flags:
    """(B,) whether the body can move."""
    return np.array([not body.fixed for body in o.scene.bodies])


@of_scenario
def free_mass(o: Observation) -> Array:
    """(B,) kg; 0 of a fixed body, which takes part in no sum."""
    return np.where(free(o), masses(o.scene), 0.0)


@of_scenario
def free_inertia(o: Observation) -> Array:
    """(B,) kg m^2, or (B, 3) about the body axes; 0 of a fixed body."""
    inertia = inertias(o.scene)
    return np.where(np.isfinite(inertia), inertia, 0.0)


@of_scenario
def bounding_radius(o: Observation) -> Array:
    """(B,) m, of the body's furthest point from its centre of mass."""
    return np.array([mass.bounding_radius(body.shape) for body in o.scene.bodies])


@of_scenario
def size(o: Observation) -> float:
    """m, diameter of the smallest free body about its centre of mass."""
    return 2.0 * float(bounding_radius(o)[free(o)].min())


@shared
def point_speed(o: Observation) -> Array:
    """(S, B) m/s, the bound |v| + bounding radius |spin| on the speed of every point of a body."""
    spin = o.trajectory.spin
    return length(o.trajectory.velocity) + bounding_radius(o) * (np.abs(spin) if o.is_planar else length(spin))


def length(vector: Array) -> Array:
    """Euclidean, over the last axis: several times quicker than numpy's norm where that axis is short."""
    return np.sqrt(np.einsum("...i,...i->...", vector, vector))
