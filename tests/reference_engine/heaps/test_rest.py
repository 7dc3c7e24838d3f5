"""What has settled rests: no creeping, no work for the solver; and what is not looked at is known to be far."""

import numpy as np
import pytest

from reference_engine import EllipsoidWorld, SpatialSettings, SpatialWorldError, SphereInterior, Stepper
from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities

G, DT, COUNT = 9.81, 0.005, 10


def settling():
    """Ten in a bowl, in thick air, so that they end their rocking."""
    rng, i = np.random.default_rng(2), np.arange(COUNT)
    place = (np.stack([i % 3, i // 3 % 3, i // 9], axis=1) - (1.0, 1.0, 1.0)) * 0.22

    def air(t, position, orientation, twist):
        return -8.0 * twist * np.repeat((1.0, 0.0015), 3)

    world = EllipsoidWorld(
        np.tile((0.1, 0.08, 0.06), (COUNT, 1)), place, orientation=rng.normal(size=(COUNT, 4)),
        containers=(SphereInterior(0.6),), friction=0.5, force=air,
    )  # fmt: skip
    return Stepper(world, DT, SpatialSettings(gap_tolerance=1e-4, speed_tolerance=1e-4))


def test_a_heap_that_has_settled_stands_still_and_its_weight_is_borne():
    stepper = settling()
    for _ in range(900):
        stepper.step()
    stepper.tighten(1e-9)
    for _ in range(500):
        stepper.step()
    before = stepper.position.copy()
    reports = [stepper.step() for _ in range(50)]
    assert np.abs(stepper.twist).max() <= 1e-6
    assert np.abs(stepper.position - before).max() <= 0.02 * stepper.gap_tolerance
    assert max(report.residual for report in reports) <= 1e-9
    borne = stepper.broad_phase.warm_start[:, len(stepper.broad_phase.pairs) :].sum(axis=(0, 1))
    assert np.abs(borne + np.array((0.0, 0.0, COUNT * G * DT))).max() <= 1e-6 * COUNT * G * DT


def test_gaps_that_are_not_looked_at_are_no_smaller_than_what_is_known_of_them():
    stepper = settling()
    pairs = np.array([(a, b) for a in range(COUNT) for b in range(a + 1, COUNT)])
    exactly = 0
    for step in range(200):
        stepper.step()
        if step % 10 == 9:
            x, q, axes = stepper.position, stepper.orientation, stepper.world.semi_axes
            true = ellipsoid_proximities(axes, x, q, pairs, cutoff=10.0).gap
            candidates = {tuple(pair): gap for pair, gap in zip(stepper.broad_phase.pairs, stepper.gaps())}
            for pair, gap in zip(pairs, true):
                known = candidates.get(tuple(pair), 0.0)
                assert known <= gap + 1e-12
                exactly += abs(known - gap) < 1e-12
    assert exactly > 20  # the bound is not all that there is


def test_tolerances_are_looked_at():
    with pytest.raises(SpatialWorldError, match="speed_tolerance: 0"):
        settling().tighten(0.0)
