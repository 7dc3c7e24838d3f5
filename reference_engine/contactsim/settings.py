"""The original's parameters with the original's values."""

import math
from dataclasses import dataclass

from reference_engine.errors import WorldError

EXTRA_ACCELERATIONS = ("none", "velocity", "velocity_joints", "velocity_and_distance", "velocity_and_distance_joints")
COLLISION_HANDLINGS = (
    "simultaneous",
    "hybrid",
    "serial_separate",
    "serial_separate_lastpass",
    "serial_grouped",
    "serial_grouped_lastpass",
)
INTEGRATORS = ("runge_kutta", "modified_euler", "euler")


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulSettings:
    """ContactSim's parameters and defaults."""

    distance_tolerance: float = 0.01  # m; bodies rest and collide at half of it
    velocity_tolerance: float = 0.5  # m/s; a slower approach is a contact
    collision_accuracy: float = 0.6  # of the target gap; within it an impact is handled
    collision_handling: str = "serial_grouped_lastpass"
    extra_acceleration: str = "velocity_and_distance_joints"
    extra_acceleration_time_step: float = 0.025  # s; not the engine's step
    contact_forces: bool = True  # without: impacts alone, looked for at the ends of steps (the original's ImpulseSim)
    integrator: str = "runge_kutta"
    adaptive: bool = False  # cut each step by five until its change of energy settles
    adaptive_tolerance: float = 1e-6  # J
    adaptive_second_difference: bool = True  # of the change of energy; else the energy itself must stay
    joint_small_impacts: bool = False  # stop joints at the end of every step without an impact
    random_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("distance_tolerance", "velocity_tolerance", "extra_acceleration_time_step", "adaptive_tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise WorldError(f"{name}: {value!r} is not a positive finite number")
        if not 0.0 < self.collision_accuracy <= 1.0:
            raise WorldError(f"collision_accuracy: {self.collision_accuracy!r} is not in (0, 1]")
        for name, allowed in (
            ("extra_acceleration", EXTRA_ACCELERATIONS),
            ("collision_handling", COLLISION_HANDLINGS),
            ("integrator", INTEGRATORS),
        ):
            if getattr(self, name) not in allowed:
                raise WorldError(f"{name}: {getattr(self, name)!r} is not one of {allowed}")
        if not 0 <= self.random_seed < 2**32:
            raise WorldError(f"random_seed: {self.random_seed!r} is not in [0, 2^32)")
