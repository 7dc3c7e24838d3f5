"""Faithful mode against pymunk: wall time of a simulated second on five scenes, in one run.

    python -P ci/benchmarks/contactsim_speed.py

Both engines are stepped and nothing else: worlds are built and kernels compiled before the clock starts. The least of
several repeats counts, the engines taking turns. Faithful mode has its defaults and a step of 0.025 s; pymunk its fair
settings (50 iterations, a slop of a thousandth of the narrowest body) and a step of 1/240 s. Same bodies, masses,
gravity and restitution for both, no friction, all at rest at the start. SI:

block          1 x 3, 1 kg, upright on the floor; gravity 9.81, restitution 0.8; 5 s
10-stack       ten unit boxes of 1 kg; the same
six blocks     1 x 3, 1 kg (the first 0.6 kg), dropped at angles of their own in a room 12 wide, and their fall, impacts
               and rest; gravity 5, restitution 0.6; 6.2 s
pile of 10     boxes of ten sizes falling into a funnel of two slopes of 45 degrees; gravity 10, restitution 0.8;
               10 s
chain of 7     seven links of 1 x 0.3 pinned end to end and to the wall, let go 0.5 rad from upright; gravity 9.81; 5 s

Bodies that rest start at the engine's own rest: faithful mode's 5 mm above one another, pymunk's 1 nm inside (started
in exact touch it falls for a step). The column "original" is what the engine that faithful mode repeats (ContactSim,
myphysicslab.com, run in node 20) took on such scenes on another machine: context, not a ratio of this run.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from measuring import Table, fair_pymunk, least

from reference_engine.contactsim.engine import ContactSim
from scenarios.catalogue.shared.bodies import block
from scenarios.scene import HalfPlane, PlanarScene, Revolute
from validation.engines.shared.planar_model import world_of

FAITHFUL_STEP, PYMUNK_STEP = 0.025, 1.0 / 240.0  # s
FAITHFUL_GAP, PYMUNK_GAP = 0.005, -1e-9  # m between bodies at rest on one another
REPEATS, LEAST_TIME = 7, 2.0  # of each scene, and s: short ones are repeated more often
TARGETS = {"block": 1.0, "10-stack": 3.0}  # times pymunk's


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    scene: Callable[[float], PlanarScene]  # of the gap at rest, m
    original: str  # ms a simulated second


def box(name: str, width: float, height: float, position: tuple[float, float], **given: float) -> Any:
    return block("planar", name, size=(width, height), x=position[0], y=position[1], **given)


def wall(name: str, point: tuple[float, float], angle: float, restitution: float) -> HalfPlane:
    """Its normal is turned by `angle` from upward."""
    return HalfPlane(name=name, point=point, normal=(-math.sin(angle), math.cos(angle)), restitution=restitution)


def stack(count: int, width: float, height: float) -> Callable[[float], PlanarScene]:
    def scene(gap: float) -> PlanarScene:
        bodies = tuple(
            box(f"box {k}", width, height, (0.0, (k + 1) * gap + (k + 0.5) * height), restitution=0.8)
            for k in range(count)
        )
        floor = (wall("floor", (0.0, 0.0), 0.0, 0.8),)
        return PlanarScene(bodies=bodies, boundaries=floor, gravity=(0.0, -9.81), duration=5.0)

    return scene


def six_blocks(gap: float) -> PlanarScene:
    turns = (0.3, 0.15, 0.0, -0.15, -0.3, -0.45)  # of pi
    bodies = tuple(
        box(
            f"block {k}", 1.0, 3.0, (-4.4 + 1.73 * k, -3.0 if k % 2 == 0 else -1.0),
            angle=math.pi * turn, mass=0.6 if k == 0 else 1.0, restitution=0.6,
        )
        for k, turn in enumerate(turns)
    )  # fmt: skip
    new_rows = (
        wall("floor", (0.0, -6.0), 0.0, 0.6),
        wall("right", (6.0, 0.0), math.pi / 2.0, 0.6),
        wall("ceiling", (0.0, 6.0), math.pi, 0.6),
        wall("left", (-6.0, 0.0), -math.pi / 2.0, 0.6),
    )
    return PlanarScene(bodies=bodies, boundaries=new_rows, gravity=(0.0, -5.0), duration=6.2)


def pile_of_ten(gap: float) -> PlanarScene:
    bodies = []
    for k in range(10):
        width, height = 0.4 + 0.07 * k, 0.3 + 0.11 * (7 * k % 10)
        position = (-1.5 + 1.5 * (k % 3), 4.0 + 1.6 * (k // 3))
        bodies.append(box(f"box {k}", width, height, position, angle=0.4 * k, mass=width * height, restitution=0.8))
    funnel = (wall("left slope", (0.0, 0.0), -math.pi / 4.0, 0.8), wall("right slope", (0.0, 0.0), math.pi / 4.0, 0.8))
    return PlanarScene(bodies=tuple(bodies), boundaries=funnel, gravity=(0.0, -10.0), duration=10.0)


def chain(gap: float) -> PlanarScene:
    lean, links = 0.5, 7
    bodies = tuple(
        box(
            f"link {k}", 1.0, 0.3, ((k + 0.5) * math.sin(lean), -(k + 0.5) * math.cos(lean)),
            angle=lean - math.pi / 2.0, restitution=0.8,
        )
        for k in range(links)
    )  # fmt: skip
    pins = tuple(
        Revolute(
            name=f"pin {k}", a=f"link {k}", b=f"link {k - 1}" if k else None, anchor_a=(-0.5, 0.0),
            anchor_b=(0.5, 0.0) if k else (0.0, 0.0),
        )
        for k in range(links)
    )  # fmt: skip
    return PlanarScene(bodies=bodies, joints=pins, gravity=(0.0, -9.81), duration=5.0)


CASES = (
    Case("block", stack(1, 1.0, 3.0), "1.6-2.8"),
    Case("10-stack", stack(10, 1.0, 1.0), "73"),
    Case("six blocks", six_blocks, "47"),
    Case("pile of 10", pile_of_ten, "97"),
    Case("chain of 7", chain, "23"),
)


def faithful_seconds(scene: PlanarScene) -> float:
    """Wall time of the whole duration."""
    return stepping_time(ContactSim(world_of(scene)).advance, FAITHFUL_STEP, scene.duration)


def pymunk_seconds(scene: PlanarScene) -> float:
    return stepping_time(fair_pymunk(scene, PYMUNK_STEP).space.step, PYMUNK_STEP, scene.duration)


def stepping_time(step: Callable[[float], object], dt: float, duration: float) -> float:
    def steps() -> None:
        for _ in range(round(duration / dt)):
            step(dt)

    return least(1, steps)[0]


def main() -> int:
    figures = ("faithful:>9.2f", "pymunk:>9.2f", "ratio:>6.2f", "target:>6", "original:>9")
    table = Table("ms a simulated second:24", *figures)
    short = []
    for case in CASES:
        scenes = case.scene(FAITHFUL_GAP), case.scene(PYMUNK_GAP)
        faithful_seconds(scenes[0])  # compiles what is not kept yet
        times: list[tuple[float, float]] = []
        while len(times) < REPEATS or sum(map(sum, times)) < LEAST_TIME:
            times.append((faithful_seconds(scenes[0]), pymunk_seconds(scenes[1])))
        mine, other = (1e3 * min(column) / scenes[0].duration for column in zip(*times))
        ratio, target = mine / other, TARGETS.get(case.name)
        table.row(case.name, mine, other, ratio, target, case.original)
        if target:
            short += [f"{case.name} {ratio:.2f} of at most {target:g}"] if ratio > target else []
    print(f"faithful mode over pymunk: {'; '.join(short) or 'within the targets'} (block 1, 10-stack 3)")
    return int(bool(short))


if __name__ == "__main__":
    sys.exit(main())
