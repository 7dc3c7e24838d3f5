"""How the time of a step grows with a pile, from 5 to 200 bodies: faithful mode, and pymunk on the same pile.

    python -P ci/benchmarks/pile_growth.py [BODIES ...]

Discs and boxes of several sizes fall in layers into a bin, without friction. pymunk lets them fall, for it is quick at
that, and the fall is not measured; they come to rest 5 mm apart, which is where faithful mode keeps them, because in
pymunk every shape is grown by half of that. From there both engines go on with the same pile, by turns: faithful mode
in steps of 0.025 s, pymunk in steps of 1/240 s with its fair settings. The least time of a step counts: a step without
impacts, in which faithful mode computes the forces at all contacts four times.

Printed are the places that carry weight, the times, the ratio of the times of a simulated second, and the exponents p
of time = c size^p, fitted in logarithms over all sizes. The engine that faithful mode repeats, ContactSim of
myphysicslab.com, eliminates anew for every contact that it takes in: the fourth power of the contacts, once they are
many. Exits 1 if ours grows faster than their third power.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymunk

sys.path.append(str(Path(__file__).parent))
from measuring import Table, fair_pymunk, least

from reference_engine.contactsim.engine import ContactSim
from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene, Polygon
from validation.engines.reference.world import world_of

SIZES = (5, 10, 20, 50, 100, 200)
FAITHFUL_STEP, PYMUNK_STEP = 0.025, 1.0 / 240.0  # s
GAP = 0.005  # m between bodies at rest in faithful mode
SPACING = 1.0  # m between the bodies of a layer, and of layers
SETTLED = 12.0  # s
LEAST_TIME, STEPS = 1.0, 3  # s of measuring, and at least so many of faithful mode's steps
TARGET = 3.0  # exponent against contacts


@dataclass(frozen=True, slots=True)
class Growth:
    bodies: int
    contacts: int
    faithful: float  # s a step
    pymunk: float

    @property
    def ratio(self) -> float:
        """Of the times of a simulated second."""
        return (self.faithful / FAITHFUL_STEP) / (self.pymunk / PYMUNK_STEP)


def bin_of(count: int) -> PlanarScene:
    """As wide as so many bodies are high, about; sizes and turns repeat after 5 and 7 bodies."""
    columns = max(2, round(math.sqrt(count)))
    bodies = []
    for k in range(count):
        size, position = 0.7 + 0.05 * (k % 5), (SPACING * (k % columns + 0.5), SPACING * (k // columns + 1.0))
        x, y = 0.5 * size, 0.4 * size
        shape = Disc(radius=x) if k % 2 else Polygon(vertices=((-x, -y), (x, -y), (x, y), (-x, y)))
        bodies.append(PlanarBody(name=f"body {k}", shape=shape, mass=1.0, position=position, angle=0.2 * (k % 7)))
    walls = (
        HalfPlane(name="floor"),
        HalfPlane(name="left", normal=(1.0, 0.0)),
        HalfPlane(name="right", point=(SPACING * columns, 0.0), normal=(-1.0, 0.0)),
    )
    return PlanarScene(bodies=tuple(bodies), boundaries=walls, gravity=(0.0, -9.81), duration=1.0)


def settled(scene: PlanarScene) -> tuple[PlanarScene, pymunk.Space]:
    """The pile at rest, as a scene and in pymunk."""
    world = fair_pymunk(scene, PYMUNK_STEP)
    space = world.space
    for shape in space.shapes:
        assert isinstance(shape, pymunk.Circle | pymunk.Poly)
        shape.unsafe_set_radius(shape.radius + GAP / 2.0)
    fair_slop, space.collision_slop, space.damping = space.collision_slop, 1e-4, 0.3
    for _ in range(round(SETTLED / PYMUNK_STEP)):
        space.step(PYMUNK_STEP)
    space.collision_slop, space.damping = fair_slop, 1.0
    bodies = tuple(
        body.model_copy(update={"position": tuple(at.position), "angle": at.angle})
        for body, at in zip(scene.bodies, world.bodies)
    )
    return scene.model_copy(update={"bodies": bodies}), space


def growth(count: int) -> Growth:
    scene, space = settled(bin_of(count))
    sim = ContactSim(world_of(scene))
    contacts = int((sim.contact_forces().force > 0.0).sum())
    mine: list[float] = []
    other: list[float] = []
    while len(mine) < STEPS or sum(mine) + sum(other) < LEAST_TIME:
        mine.append(least(1, sim.advance, FAITHFUL_STEP)[0])
        other += [least(1, space.step, PYMUNK_STEP)[0] for _ in range(round(FAITHFUL_STEP / PYMUNK_STEP))]
    return Growth(count, contacts, min(mine), min(other))


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def main(arguments: list[str]) -> int:
    if not all(word.isdigit() and int(word) > 0 for word in arguments):
        print(f"BODIES: {' '.join(arguments)!r} are not all whole numbers above 0", file=sys.stderr)
        return 2
    growth(3)  # compiles what is not kept yet
    table = Table("bodies:>6", "contacts:>8", "faithful ms/step:>16.3f", "pymunk ms/step:>14.4f", "ratio:>7.1f")
    rows = []
    for count in [int(word) for word in arguments] or SIZES:
        row = growth(count)
        rows.append(row)
        table.row(count, row.contacts, 1e3 * row.faithful, 1e3 * row.pymunk, row.ratio)
    if len(rows) < 2:
        return 0
    found = {}
    for size in ("bodies", "contacts"):
        sizes = [getattr(row, size) for row in rows]
        found[size] = exponent(sizes, [row.faithful for row in rows])
        print(
            f"against {size}: faithful mode's step grows by the power {found[size]:.2f}, "
            f"pymunk's by {exponent(sizes, [row.pymunk for row in rows]):.2f}"
        )
    print(f"faithful mode: time of a step against contacts, power {found['contacts']:.2f} (target {TARGET:g})")
    return int(found["contacts"] > TARGET)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
