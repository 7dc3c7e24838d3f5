"""What `seeded_regressions.py` plants: one change a row, and where physics tells, when and whom it touches first."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scenarios.scene import PairLaw, Scene, Thruster

DT = 1.0 / 240.0
SECOND = 1e-9  # s, by which times of samples are off
G = 9.81
Touch = tuple[float, float, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Planted:
    name: str
    engine: str
    case: str
    override: str = ""  # of a setting
    plant: Callable[[Scene], Scene] | None = None  # the scene that the engine gets instead
    dt: float = 1.0  # times the time step
    reorders: bool = False  # bodies the other way round
    touches: Touch | None = None  # from, to (s); bodies, () for any

    def order(self, scene: Scene) -> Sequence[int] | None:
        return range(len(scene.bodies))[::-1] if self.reorders else None


FIRST_STEP = (DT - SECOND, DT + SECOND, ())
FIRST_SAMPLES = (DT - SECOND, 1.0 / 48.0 + DT, ())


def touching(low: float, high: float, *bodies: str) -> Touch:
    return low - SECOND, high + SECOND, bodies


def soon(*bodies: str) -> Touch:
    """Within the first samples."""
    return touching(DT, 1.0 / 48.0 + DT, *bodies)


def gravity(factor: float) -> Callable[[Scene], Scene]:
    return lambda scene: scene.model_copy(update={"gravity": tuple(factor * g for g in scene.gravity)})


def tilted(angle: float) -> Callable[[Scene], Scene]:
    """Gravity turned towards the first axis."""

    def plant(scene: Scene) -> Scene:
        g = math.hypot(*scene.gravity)
        turned = (g * math.sin(angle), *(0.0 for _ in scene.gravity[2:]), -g * math.cos(angle))
        return scene.model_copy(update={"gravity": turned})

    return plant


def everywhere(field: str, factor: float) -> Callable[[Scene], Scene]:
    """Friction or restitution of every body and boundary."""

    def plant(scene: Scene) -> Scene:
        parts = {
            kind: tuple(one.model_copy(update={field: factor * getattr(one, field)}) for one in getattr(scene, kind))
            for kind in ("bodies", "boundaries")
        }
        return scene.model_copy(update=parts)

    return plant


def of_pair(a: str, b: str, **law: float) -> Callable[[Scene], Scene]:
    def plant(scene: Scene) -> Scene:
        pairs = (*scene.contact.pairs, PairLaw(a=a, b=b, **law))
        return scene.model_copy(update={"contact": scene.contact.model_copy(update={"pairs": pairs})})

    return plant


def pushed(body: str, after: float, *force: float) -> Callable[[Scene], Scene]:
    """A force (N) out of nowhere, from a time (s) on."""

    def plant(scene: Scene) -> Scene:
        anchor = tuple(0.0 for _ in scene.gravity)
        profile = ((after, 0.0), (after, 1.0))
        thruster = Thruster(body=body, anchor=anchor, force=force, profile=profile)
        return scene.model_copy(update={"thrusters": (*scene.thrusters, thruster)})

    return plant


def damped(linear: float, angular: float) -> Callable[[Scene], Scene]:
    def plant(scene: Scene) -> Scene:
        return scene.model_copy(
            update={"damping": scene.damping.model_copy(update={"linear": linear, "angular": angular})}
        )

    return plant


def backwards(scene: Scene) -> Scene:
    return scene.model_copy(update={"bodies": tuple(reversed(scene.bodies))})


FALL = math.sqrt(2.0 / G)  # s, from 1 m
HEAVY = "stack:n=5,mass_ratio=100"

# fmt: off
PLANTED = (
    Planted("iterations 50 -> 25", "pymunk", HEAVY, override="iterations=25", touches=FIRST_STEP),
    Planted("slop x 2", "pymunk", "overlapped-start", override="collision_slop=0.002"),
    Planted("iterations 50 -> 5", "pymunk", "dominoes", override="iterations=5"),
    Planted("velocity iterations 50 -> 10", "box2d", HEAVY, override="velocity_iterations=10", touches=FIRST_STEP),
    Planted("solref x 2", "mujoco", "stack:n=3", override="solref_timeconst=0.0166666667"),
    Planted("cone pyramidal", "mujoco", "thrown-box:space=spatial", override="cone=pyramidal"),
    Planted("integrator implicit", "mujoco", "free-tumble", override="integrator=implicit", touches=FIRST_SAMPLES),
    Planted("ERP 0.08 -> 0.5", "pybullet", "overlapped-start", override="contact_erp=0.5"),
    Planted("damping 0.04 1/s", "pybullet", "free-tumble",
            override="linear_damping=0.04,angular_damping=0.04", touches=FIRST_SAMPLES),
    Planted("tolerance 1e-13 -> 1e-4", "reference", "double-pendulum",
            override="tolerance=1e-4", touches=FIRST_SAMPLES),
    Planted("gravity + 2 %", "pymunk", "bouncing-ball", plant=gravity(1.02), touches=soon("ball")),
    Planted("friction - 20 %", "box2d", "thrown-box", plant=everywhere("friction", 0.8), touches=soon("box")),
    Planted("restitution - 5 %", "pymunk", "bouncing-ball",
            plant=everywhere("restitution", 0.95), touches=touching(FALL - 2 * DT, FALL + 2 * DT, "ball")),
    # of a doubled step: up to the first time for which both have a sample
    Planted("time step x 2", "mujoco", "rocking-block", dt=2.0, touches=touching(DT, 1.0 / 8.0, "block")),
    Planted("bodies the other way round", "pymunk", HEAVY, plant=backwards, reorders=True, touches=soon()),
    Planted("0.2 N on domino 7 from 0.3 s", "pymunk", "dominoes",
            plant=pushed("domino 7", 0.3, 0.2, 0.0), touches=touching(0.3, 0.3 + 1.0 / 48.0 + DT, "domino 7")),
    # --- from here on written when the judge was as it is -----------------------------------------------------------
    Planted("bias: overlaps stay", "pymunk", "overlapped-start", override="collision_bias=0.5"),
    Planted("friction - 50 %", "pymunk", "incline-slide:relation=below",
            plant=everywhere("friction", 0.5), touches=soon("block")),
    Planted("damping 0.2 kg/s", "pymunk", "newtons-cradle", plant=damped(0.2, 0.0), touches=soon("ball 1")),
    # at 1 m/s Box2D has no restitution
    Planted("restitution 0.9 of balls 3, 4", "box2d", "newtons-cradle:speed=5",
            plant=of_pair("ball 3", "ball 4", restitution=0.9),
            touches=touching(0.012 - 2 * DT, 0.012 + 4 * DT, "ball 3", "ball 4")),
    Planted("time step x 2", "pymunk", "slide-to-roll", dt=2.0, touches=touching(DT, 1.0 / 8.0, "ball")),
    Planted("no warm starting", "box2d", "stack:n=5,friction=0", override="warm_starting=false", touches=soon()),
    Planted("position iterations -> 1", "box2d", "pile", override="position_iterations=1"),
    Planted("gravity turned by 0.02 rad", "box2d", "incline-slide", plant=tilted(0.02), touches=soon("block")),
    Planted("bodies the other way round", "box2d", "dominoes", plant=backwards, reorders=True),
    Planted("solver PGS, 5 iterations", "mujoco", HEAVY, override="solver=pgs,iterations=5"),
    Planted("impedance 0.9 at most", "mujoco", "stack:n=3", override="solimp_dmin=0.5,solimp_dmax=0.9"),
    Planted("joints damped", "mujoco", "double-pendulum", plant=damped(0.05, 0.05), touches=soon("upper", "lower")),
    Planted("impratio 1", "mujoco", "incline-slide", override="impratio=1"),
    Planted("iterations 5", "pybullet", "stack:n=3", override="iterations=5,residual_threshold=0"),
    Planted("slop 1 mm", "pybullet", "overlapped-start", override="contact_slop=0.001"),
    Planted("gravity - 1 %", "pybullet", "rocking-block", plant=gravity(0.99), touches=soon("block")),
    Planted("friction - 10 %", "reference", "thrown-box", plant=everywhere("friction", 0.9), touches=soon("box")),
    Planted("restitution - 1 %", "reference", "bouncing-ball",
            plant=everywhere("restitution", 0.99), touches=touching(FALL, FALL + 1.0 / 48.0 + DT, "ball")),
)
# fmt: on
