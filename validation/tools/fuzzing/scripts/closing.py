"""What the ends of all scripts are made of: the find, and source that several of them call."""

import math
from dataclasses import dataclass

import numpy as np

from reference_engine.dense import norm
from scenarios import mass
from scenarios.scene import PlanarScene, Scene
from validation.metrics.rest import REST_SPEED
from validation.tools.fuzzing.comparison import Must
from validation.tools.fuzzing.oracles import Violation
from validation.tools.fuzzing.scripts.parts import EngineCode, free_bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """What a script shows, and of what."""

    scene: Scene
    dt: float  # s
    violation: Violation
    engine: EngineCode
    contact_tolerance: float = 0.0  # m, of the engine
    energy_allowed: float = 0.0  # J that may come from nowhere
    must: Must | None = None  # where a body is not

    @property
    def bodies(self) -> list[int]:
        """Those of which the law is broken, or all."""
        named = [i for i, body in enumerate(self.scene.bodies) if body.name in self.violation.bodies]
        return named or list(range(len(self.scene.bodies)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What comes after the steps, and the functions that it calls."""

    text: str
    functions: tuple[str, ...] = ()
    watched: bool = False  # whether it reads the contacts of each step, `reported`


HISTORY = "position, turn, velocity, spin = (np.array(part) for part in zip(*states))\n\n"
MATRIX_IN_SPACE = '''
def matrix(q):
    """Rotation matrix of a quaternion w-x-y-z."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
'''
MATRIX_IN_PLANE = '''
def matrix(angle):
    """Rotation matrix."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
'''


def matrix_source(find: Find) -> str:
    return MATRIX_IN_PLANE if isinstance(find.scene, PlanarScene) else MATRIX_IN_SPACE


def finished(condition: str) -> str:
    return f"sys.exit(1 if {condition} else 0)\n"


def rest_scale(scene: Scene) -> tuple[float, float]:
    """Speed below which a scene is at rest, m/s, and for how long it has to be, s."""
    g = float(norm(np.array(scene.gravity)))
    size = 2.0 * min(mass.bounding_radius(scene.bodies[i].shape) for i in free_bodies(scene))
    return REST_SPEED * math.sqrt(g * size), math.sqrt(size / g)
