"""One signature a kernel: whatever arrays a caller brings, the fronts make them alike."""

import numba
import numpy as np
import pytest

from reference_engine.geometry import (
    cells,
    ellipsoid_containers,
    ellipsoid_depth,
    ellipsoid_gap,
    ellipsoid_support,
    planar_gap,
    spatial_proximity,
)
from reference_engine.geometry.cells import overlapping_boxes
from reference_engine.geometry.ellipsoid_proximity import (
    ellipsoid_proximities,
    half_space_proximities,
    sphere_interior_proximities,
)
from reference_engine.geometry.planar_proximity import planar_proximities
from reference_engine.geometry.planar_shapes import Bowl, Disc, HalfPlane, Polygon, planar_shapes
from reference_engine.geometry.spatial_proximity import spatial_proximities
from reference_engine.geometry.spatial_shapes import Box, Sphere, SphereInterior, spatial_shapes

BOX = [[0, 0], [1, 0], [1, 1], [0, 1]]
LAYOUTS = (
    lambda x: x,
    lambda x: x.astype(np.float32),
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: x.tolist(),
    lambda x: np.broadcast_to(x, x.shape),  # read-only, as motions are
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
        spatial_shapes([Sphere(1), SphereInterior(3)], [False, True]),
    )
    for layout in LAYOUTS:
        for cutoff in (1, 1.0, np.float32(1.0), np.inf):
            for shapes in planar:
                poses = layout(np.zeros((3, 2, 3)))
                planar_proximities(shapes, poses, cutoff, points=1)
                planar_proximities(shapes, poses, cutoff, [[0, 1]])
            for shapes in spatial:
                spatial_proximities(shapes, layout(np.zeros((3, 2, 3))), layout(np.ones((3, 2, 4))), cutoff)
    for module in (planar_gap, spatial_proximity):
        assert len(module.sweep.signatures) == 1


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python has no signatures")
def test_every_kernel_of_ellipsoids_runs_the_same_machine_code():
    for layout in LAYOUTS:
        axes, still = layout(np.full((3, 3), 0.5)), layout(np.ones((3, 4)))
        position, centre = layout(np.array([(0, 0, 1), (0, 3, 1), (0.2, 0.7, 1)], float)), layout(np.zeros((1, 3)))[0]
        for cutoff in (1, np.float32(0.5), np.inf):
            ellipsoid_proximities(axes, position, still, [(0, 1), (0, 2)], cutoff=cutoff)
        ellipsoid_proximities(axes, position, still, np.array([(0, 1)], np.int32))
        half_space_proximities(axes, position, still, point=centre, normal=[0, 0, 1])
        sphere_interior_proximities(axes, position, still, radius=9, centre=centre, tie=0)
        overlapping_boxes(*np.require((position, position), np.float64))
    for module in (cells, ellipsoid_containers, ellipsoid_depth, ellipsoid_gap, ellipsoid_support):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"
