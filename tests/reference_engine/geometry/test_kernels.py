"""One signature a kernel: whatever arrays a caller brings, the fronts make them alike."""

import numba
import numpy as np
import pytest

from reference_engine.geometry import planar_gap, spatial_gap
from reference_engine.geometry.planar_proximity import planar_contact_points, planar_proximities
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane, Polygon, planar_shapes
from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import Box, HollowSphere, Sphere, spatial_shapes

BOX = [[0, 0], [1, 0], [1, 1], [0, 1]]
LAYOUTS = (
    lambda x: x,
    lambda x: x.astype(np.float32),
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: x.tolist(),
)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python has no signatures")
def test_every_layout_and_type_of_input_runs_the_same_machine_code():
    planar = (
        planar_shapes([Polygon(BOX), Disc(1)], (False, False)),
        planar_shapes([Disc(1), Bowl(np.float32(3))], [0, 1]),
        planar_shapes([Polygon(np.array(BOX)), HalfPlane((0, 0), [0, 1])], np.array([False, True])),
    )
    spatial = (
        spatial_shapes([Box([1, 1, 1]), Sphere(1)], [False, False]),
        spatial_shapes([Sphere(1), HollowSphere(3)], [False, True]),
    )
    for layout in LAYOUTS:
        for cutoff in (1, 1.0, np.float32(1.0), np.inf):
            for shapes in planar:
                poses = layout(np.zeros((3, 2, 3)))
                planar_proximities(shapes, poses, cutoff)
                planar_contact_points(shapes, poses, cutoff, [[0, 1]])
            for shapes in spatial:
                spatial_proximities(shapes, layout(np.zeros((3, 2, 3))), layout(np.ones((3, 2, 4))), cutoff)
    for module in (planar_gap, spatial_gap):
        assert len(module.sweep.signatures) == 1
