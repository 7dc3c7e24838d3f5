"""Scenes in which a push of 1e-6 of a body's size decides what happens: equilibria that are none for long, and blocks
at the very limit of what holds them. Ensembles of one and the same engine differ most here, and nothing has changed.
"""

import math

from scenarios.catalogue.shared.bodies import ball, block
from scenarios.scene import HalfPlane, PlanarScene

GROUND = HalfPlane(name="ground", friction=0.5)


def on_its_corner() -> PlanarScene:
    """A square on one corner: it falls to either side."""
    standing = block("planar", "block", y=math.sqrt(0.5), angle=math.pi / 4.0, friction=0.5, mass=1.0)
    return PlanarScene(duration=3.0, bodies=(standing,), boundaries=(GROUND,))


def ball_on_ball() -> PlanarScene:
    lower = ball("planar", "lower", radius=0.5, y=0.5, friction=0.5, mass=100.0)
    upper = ball("planar", "upper", radius=0.5, y=1.5, friction=0.5)
    return PlanarScene(duration=3.0, bodies=(lower, upper), boundaries=(GROUND,))


def plank_over_an_edge() -> PlanarScene:
    """Its centre of mass is exactly over the edge of the block that it lies on."""
    base = block("planar", "base", y=0.5, friction=0.5, mass=100.0)
    plank = block("planar", "plank", size=(3.0, 0.2), x=0.5, y=1.1, friction=0.5, mass=1.0)
    return PlanarScene(duration=3.0, bodies=(base, plank), boundaries=(GROUND,))


def at_the_friction_angle() -> PlanarScene:
    """Gravity is turned by the very angle of friction: the block may stay or creep."""
    pull = 9.81 * math.sin(math.atan(0.5)), -9.81 * math.cos(math.atan(0.5))
    still = block("planar", "block", size=(2.0, 0.5), y=0.25, friction=0.5, mass=1.0)
    return PlanarScene(duration=3.0, gravity=pull, bodies=(still,), boundaries=(GROUND,))


def leaning_at_its_limit() -> PlanarScene:
    """A tall block whose centre of mass is exactly over the corner that it stands on: it falls over, or back."""
    half_diagonal, lean = math.hypot(0.5, 1.5), math.atan2(0.5, 1.5)
    leaning = block("planar", "block", size=(1.0, 3.0), y=half_diagonal, angle=lean, friction=0.5, mass=1.0)
    return PlanarScene(duration=3.0, bodies=(leaning,), boundaries=(GROUND,))


SCENES = (on_its_corner, ball_on_ball, plank_over_an_edge, at_the_friction_angle, leaning_at_its_limit)
EDGES = tuple((engine, scene) for scene in SCENES for engine in ("pymunk", "box2d"))
