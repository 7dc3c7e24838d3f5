"""A chain of rods hung by both ends, let go from a straight-sided V: nothing takes its energy.

Its motion is chaotic after a while, so the truth is what holds at any time: energy, and no gap in any joint. Of the
original's scenes (myPhysicsLab, Chain).
"""

from typing import Annotated

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import rectangle
from scenarios.catalogue.shared.laws import joint_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.scene import PlanarBody, PlanarScene, Revolute

LENGTH, THICKNESS, MASS = 0.5, 0.08, 0.5  # m, m, kg of a link
SLOPES = (0.9, 0.5)  # rad, below the horizontal, of the left side; above it, of the right
DURATION = 5.0  # s


def chain(*, n: Annotated[int, Within(2, 20)] = 6) -> Scenario:
    """Chain: n links hung by both ends between two points, let go from a V whose sides are of different slope"""
    down, up = SLOPES
    left = (n + 1) // 2
    angles = [-down] * left + [up] * (n - left)
    ends = [(0.0, 0.0)]
    for angle in angles:
        x, y = ends[-1]
        ends.append((x + LENGTH * float(elementary.cos(angle)), y + LENGTH * float(elementary.sin(angle))))
    bodies = tuple(
        PlanarBody(
            name=f"link {i + 1}",
            shape=rectangle(LENGTH, THICKNESS),
            mass=MASS,
            inertia=MASS * squared(LENGTH) / 12.0,
            position=(0.5 * (ends[i][0] + ends[i + 1][0]), 0.5 * (ends[i][1] + ends[i + 1][1])),
            angle=angles[i],
            group=1,
        )
        for i in range(n)
    )
    half = 0.5 * LENGTH
    joints = [Revolute(name="left end", a="link 1", anchor_a=(-half, 0.0), anchor_b=(0.0, 0.0))]
    joints += [
        Revolute(name=f"pin {i}", a=f"link {i}", b=f"link {i + 1}", anchor_a=(half, 0.0), anchor_b=(-half, 0.0))
        for i in range(1, n)
    ]
    joints.append(Revolute(name="right end", a=f"link {n}", anchor_a=(half, 0.0), anchor_b=ends[-1]))
    scene = PlanarScene(title=f"Chain of {n}", duration=DURATION, bodies=bodies, joints=tuple(joints))
    return joint_scenario(
        scene,
        arm=LENGTH,
        probes="a loop of joints under load: gap, energy of the integrator",
        kind="invariants",
        source="conservation of energy: pins do no work",
        headline="energy_drift",
        noise={"energy_drift": "chaotic", "energy_gain": "chaotic", "joint_gap": "chaotic"},
    )


FAMILY = Family("chain", chain, subject="the chain of {n}")
