"""Hypothesis strategies that draw valid scenes, in the plane and in space: what breaks engines, simple once shrunk.

    @given(scene=planar_scenes(), dt=time_steps())
    @given(scene=spatial_scenes(kinds=("box", "sphere")), dt=time_steps())

Only this package of the scenarios imports hypothesis.
"""

from scenarios.strategies.planar import planar_scenes
from scenarios.strategies.spatial import EXAMPLES, ORIENTATIONS, SHAPES, spatial_scenes
from scenarios.strategies.values import TIME_STEPS, time_steps

__all__ = ["EXAMPLES", "ORIENTATIONS", "SHAPES", "TIME_STEPS", "planar_scenes", "spatial_scenes", "time_steps"]
