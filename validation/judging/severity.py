"""How grave a value is, on a scale of its scene: negligible, visible or gross. The limits are those of `policy`."""

import math
from dataclasses import dataclass

import numpy as np

from reference_engine.dense import norm
from scenarios import mass
from scenarios.catalogue.shared.laws import energy_scale, smallest_size
from scenarios.scene import Scene
from validation.judging.policy import SEVERITY
from validation.judging.verdict import Weight
from validation.metrics import METRICS
from validation.metrics.metric import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """What is large in a scene, by what it is a scale of, SI."""

    of: dict[Scale, float]

    def weight(self, metric: str, unit: str, value: float) -> Weight:
        """Of a value; gross where it is beyond all bounds."""
        scale: Scale | None = (METRICS[metric].scale if metric in METRICS else None) or BY_UNIT.get(unit)
        if scale is None or math.isnan(value):
            return Weight.NEGLIGIBLE
        share = abs(value) / self.of[scale] if self.of[scale] > 0.0 else math.inf if value else 0.0
        limits = SEVERITY[scale]
        return Weight(int(share >= limits.visible) + int(share >= limits.gross))


BY_UNIT: dict[str, Scale] = {
    "m": "width",
    "rad": "angle",
    "m/s": "speed",
    "rad/s": "spin",
    "s": "time",
    "J": "energy",
    "kg m/s": "momentum",
    "kg m^2/s": "angular momentum",
    "1": "share",
}


def scales_of(scene: Scene) -> Scales:
    """Lengths by the least width of a free body, gaps of joints by the shortest link, times by the fall over that
    width, speeds by the speed after it, or without gravity by the fastest at the start, else by a width in the
    duration. Energies by what a body has of the scene's: a light one that flies off is not hidden by heavy ones."""
    free = [body for body in scene.bodies if not body.fixed]
    width, g = smallest_size(scene), float(norm(scene.gravity))
    velocity = np.array([body.velocity for body in free])
    fastest = max(float(norm(v - velocity.mean(axis=0))) for v in velocity)
    speed = math.sqrt(2.0 * g * width) if g else fastest or width / scene.duration
    link = min(
        (2.0 * mass.bounding_radius(body.shape) for body in free if any(body.name in (j.a, j.b) for j in scene.joints)),
        default=width,
    )
    heaviness = float(sum(body.mass or 0.0 for body in free)) / len(free)
    energy = energy_scale(scene) / len(free) or 0.5 * heaviness * speed * speed
    return Scales(
        of={
            "width": width,
            "link": link,
            "angle": 1.0,
            "speed": speed,
            "spin": speed / width,
            "time": math.sqrt(2.0 * width / g) if g else width / speed,
            "energy": energy,
            "momentum": heaviness * speed,
            "angular momentum": heaviness * speed * width,
            "share": 1.0,
        }
    )
