"""What `seeded_regressions.py` plants: one change a row, and where physics tells, when and whom it touches first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scenarios.scene import PairLaw, Scene, Thruster

DT = 1.0 / 240.0
SECOND = 1e-9  # s, by which times of samples are off
G = 9.81
Touch = tuple[float, float, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
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

PLANTED = (
    Planted(name="iterations 50 -> 25", engine="pymunk", case=HEAVY, override="iterations=25", touches=FIRST_STEP),
    Planted(name="slop x 2", engine="pymunk", case="overlapped-start", override="collision_slop=0.002"),
    Planted(name="iterations 50 -> 5", engine="pymunk", case="dominoes", override="iterations=5"),
    Planted(
        name="velocity iterations 50 -> 10",
        engine="box2d",
        case=HEAVY,
        override="velocity_iterations=10",
        touches=FIRST_STEP,
    ),
    Planted(name="solref x 2", engine="mujoco", case="stack:n=3", override="solref_timeconst=0.0166666667"),
    Planted(name="cone pyramidal", engine="mujoco", case="thrown-box:space=spatial", override="cone=pyramidal"),
    Planted(
        name="integrator implicit",
        engine="mujoco",
        case="free-tumble",
        override="integrator=implicit",
        touches=FIRST_SAMPLES,
    ),
    Planted(name="ERP 0.08 -> 0.5", engine="pybullet", case="overlapped-start", override="contact_erp=0.5"),
    Planted(
        name="damping 0.04 1/s",
        engine="pybullet",
        case="free-tumble",
        override="linear_damping=0.04,angular_damping=0.04",
        touches=FIRST_SAMPLES,
    ),
    Planted(
        name="tolerance 1e-13 -> 1e-4",
        engine="reference",
        case="double-pendulum",
        override="tolerance=1e-4",
        touches=FIRST_SAMPLES,
    ),
    Planted(
        name="gravity + 2 %",
        engine="pymunk",
        case="bouncing-ball",
        plant=gravity(1.02),
        touches=touching(DT, 1.0 / 48.0 + DT, "ball"),
    ),
    Planted(
        name="friction - 20 %",
        engine="box2d",
        case="thrown-box",
        plant=everywhere("friction", 0.8),
        touches=touching(DT, 1.0 / 48.0 + DT, "box"),
    ),
    Planted(
        name="restitution - 5 %",
        engine="pymunk",
        case="bouncing-ball",
        plant=everywhere("restitution", 0.95),
        touches=touching(FALL - 2 * DT, FALL + 2 * DT, "ball"),
    ),
    Planted(
        name="time step x 2",
        engine="mujoco",
        case="rocking-block",
        dt=2.0,
        touches=touching(DT, 1.0 / 8.0, "block"),  # the first time for which both have a sample
    ),
    Planted(
        name="bodies the other way round",
        engine="pymunk",
        case=HEAVY,
        plant=backwards,
        reorders=True,
        touches=touching(DT, 1.0 / 48.0 + DT),
    ),
    Planted(
        name="0.2 N on domino 7 from 0.3 s",
        engine="pymunk",
        case="dominoes",
        plant=pushed("domino 7", 0.3, 0.2, 0.0),
        touches=touching(0.3, 0.3 + 1.0 / 48.0 + DT, "domino 7"),
    ),
    # --- from here on written when the judge was as it is -----------------------------------------------------------
    Planted(name="bias: overlaps stay", engine="pymunk", case="overlapped-start", override="collision_bias=0.5"),
    Planted(
        name="friction - 50 %",
        engine="pymunk",
        case="incline-slide:relation=below",
        plant=everywhere("friction", 0.5),
        touches=touching(DT, 1.0 / 48.0 + DT, "block"),
    ),
    Planted(
        name="damping 0.2 kg/s",
        engine="pymunk",
        case="newtons-cradle",
        plant=damped(0.2, 0.0),
        touches=touching(DT, 1.0 / 48.0 + DT, "ball 1"),
    ),
    Planted(
        name="restitution 0.9 of balls 3, 4",
        engine="box2d",
        case="newtons-cradle:speed=5",  # at 1 m/s Box2D has no restitution
        plant=of_pair("ball 3", "ball 4", restitution=0.9),
        touches=touching(0.012 - 2 * DT, 0.012 + 4 * DT, "ball 3", "ball 4"),
    ),
    Planted(
        name="time step x 2", engine="pymunk", case="slide-to-roll", dt=2.0, touches=touching(DT, 1.0 / 8.0, "ball")
    ),
    Planted(
        name="no warm starting",
        engine="box2d",
        case="stack:n=5,friction=0",
        override="warm_starting=false",
        touches=touching(DT, 1.0 / 48.0 + DT),
    ),
    Planted(name="position iterations -> 1", engine="box2d", case="pile", override="position_iterations=1"),
    Planted(
        name="gravity turned by 0.02 rad",
        engine="box2d",
        case="incline-slide",
        plant=tilted(0.02),
        touches=touching(DT, 1.0 / 48.0 + DT, "block"),
    ),
    Planted(name="bodies the other way round", engine="box2d", case="dominoes", plant=backwards, reorders=True),
    Planted(name="solver PGS, 5 iterations", engine="mujoco", case=HEAVY, override="solver=pgs,iterations=5"),
    Planted(
        name="impedance 0.9 at most", engine="mujoco", case="stack:n=3", override="solimp_dmin=0.5,solimp_dmax=0.9"
    ),
    Planted(
        name="joints damped",
        engine="mujoco",
        case="double-pendulum",
        plant=damped(0.05, 0.05),
        touches=touching(DT, 1.0 / 48.0 + DT, "upper", "lower"),
    ),
    Planted(name="impratio 1", engine="mujoco", case="incline-slide", override="impratio=1"),
    Planted(name="iterations 5", engine="pybullet", case="stack:n=3", override="iterations=5,residual_threshold=0"),
    Planted(name="slop 1 mm", engine="pybullet", case="overlapped-start", override="contact_slop=0.001"),
    Planted(
        name="gravity - 1 %",
        engine="pybullet",
        case="rocking-block",
        plant=gravity(0.99),
        touches=touching(DT, 1.0 / 48.0 + DT, "block"),
    ),
    Planted(
        name="friction - 10 %",
        engine="reference",
        case="thrown-box",
        plant=everywhere("friction", 0.9),
        touches=touching(DT, 1.0 / 48.0 + DT, "box"),
    ),
    Planted(
        name="restitution - 1 %",
        engine="reference",
        case="bouncing-ball",
        plant=everywhere("restitution", 0.99),
        touches=touching(FALL, FALL + 1.0 / 48.0 + DT, "ball"),
    ),
)
