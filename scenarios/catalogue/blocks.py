"""One to six blocks, let down one above the other from gaps, without friction: they have to come to rest as they are.

Aligned, so that nothing turns them: what they end up as is known, a stack with no gaps. Of the original's scenes
(myPhysicsLab, Collisions With Contact: one to six blocks), which engines that find impacts by going back in time can
start, because no two bodies touch at the start.
"""

from typing import Annotated

from scenarios.catalogue.shared.bodies import block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import make_scenario
from scenarios.scenario import Family, Scenario, Within
from scenarios.truth import Goal, Motion

DURATION = 3.0  # s
NOT_MEASURED = frozenset({"impact_count"})  # blocks that settle cannot be told from blocks that collide


def blocks(
    *,
    n: Annotated[int, Within(1, 6)] = 6,
    gap: Annotated[float, Within(0.001, 0.5, "m")] = 0.005,
    restitution: Annotated[float, Within(0.0, 0.9)] = 0.0,
) -> Scenario:
    """Blocks: one to six unit blocks, each `gap` above the next, let go; they come to rest in a stack"""
    bodies = tuple(
        block("planar", f"block {i + 1}", y=(i + 0.5) + (i + 1) * gap, restitution=restitution) for i in range(n)
    )
    ground = lay_ground("planar", restitution=restitution)
    scene = scene_of("planar", bodies, ground, title=f"{n} blocks, {gap:g} m apart", duration=DURATION)

    def height(motion: Motion) -> float:
        return float(motion.position[-1, n - 1, -1])

    names = [body.name for body in bodies]
    return make_scenario(
        scene,
        probes="how bodies come to rest on one another, and how far apart an engine leaves them",
        regime="rest",
        kind="closed form",
        source="statics: aligned blocks without friction stand on one another",
        goal=Goal(name="height of the top block", unit="m", exact=n - 0.5, measure=height),
        invariants=frozenset({"energy-not-gained", "momentum-x", "no-overlap"}),
        meaningless=NOT_MEASURED,
        expected=(("came to rest", ""), *(("stood", name) for name in names)),
    )


FAMILY = Family("blocks", blocks, ({"n": 1}, {}), subject="the {n} blocks")
