"""Every joint leaves the freedom that it says, and its rows have the derivatives that they state."""

import itertools

import numpy as np
import pytest

from reference_engine.errors import MechanismError
from reference_engine.multibody.dynamics import System
from reference_engine.multibody.joints import Coupling, Distance, hinge, revolute
from reference_engine.multibody.links import Link
from reference_engine.multibody.mechanism import Mechanism

DRAW = np.random.default_rng(7)
KINDS = list(itertools.product(range(4), range(4)))


def two_links(linear: int, angular: int) -> Mechanism:
    """Two links in general position, joined at a point that lies on both."""
    turn = DRAW.normal(size=(2, 4))
    links = [
        Link(position=DRAW.normal(size=3), orientation=q, inertia=(1.0, 2.0, 2.5), velocity=DRAW.normal(size=3),
             spin=DRAW.normal(size=3)) for q in turn
    ]  # fmt: skip
    probe = System(Mechanism(links=tuple(links)))
    position, rotation = probe.poses.placed(probe.split(probe.start)[0])
    point = DRAW.normal(size=3)
    local = [rotation[i].T @ (point - position[i]) for i in (0, 1)]
    joint = Coupling(
        first=0, second=1, linear=linear, angular=angular, first_point=local[0], second_point=local[1],
        axis=DRAW.normal(size=3), turn_axis=DRAW.normal(size=3), second_axis=DRAW.normal(size=3),
    )  # fmt: skip
    return Mechanism(links=tuple(links), joints=(joint,))


@pytest.mark.parametrize(("linear", "angular"), KINDS)
def test_a_joint_leaves_as_many_degrees_of_freedom_as_it_says(linear, angular):
    system = System(two_links(linear, angular))
    constraints = system.constraints_at(system.split(system.start)[0], np.ones(system.rows.count, bool))
    assert system.rows.count == 6 - linear - angular
    assert len(constraints.s) == 6 - linear - angular
    assert np.abs(constraints.placed.gap).max(initial=0.0) < 1e-14


@pytest.mark.parametrize(("linear", "angular"), KINDS)
def test_rates_and_bias_of_the_rows_are_the_derivatives_of_their_gaps(linear, angular):
    """Twists that do not change: g along a turning pose, by central differences in t."""
    check_derivatives(System(two_links(linear, angular)))


def test_a_rod_has_the_derivatives_of_its_length():
    links = [Link(position=DRAW.normal(size=3), inertia=(1.0, 2.0, 2.5), velocity=DRAW.normal(size=3),
                  spin=DRAW.normal(size=3)) for _ in range(2)]  # fmt: skip
    rod = Distance(first=0, second=1, length=1.0, first_point=(0.1, 0.2, 0.3), second_point=(-0.3, 0.2, 0.0))
    check_derivatives(System(Mechanism(links=tuple(links), joints=(rod,))))
    check_derivatives(
        System(Mechanism(links=tuple(links), joints=(Distance(first=-1, second=0, length=2.0, rope=True),)))
    )


def check_derivatives(system: System) -> None:
    q, v = system.split(system.start)

    def gap(t: float) -> np.ndarray:
        return system.rows.evaluate(*system.poses.placed(system.poses.moved(q, t * v)), t).gap

    constraints = system.constraints_at(q, np.ones(system.rows.count, bool))
    bias = system.rows.bias(constraints.placed, constraints.rotation, *system.poses.moving(v))
    h = 1e-3
    samples = [gap(k * h) for k in range(-3, 4)]
    first = sum(c * s for c, s in zip((-1, 9, -45, 0, 45, -9, 1), samples)) / (60.0 * h)
    second = sum(c * s for c, s in zip((2, -27, 270, -490, 270, -27, 2), samples)) / (180.0 * h * h)
    assert system.rates(constraints, v) == pytest.approx(first, abs=1e-9)
    assert bias == pytest.approx(second, abs=1e-7)


def test_mechanisms_that_cannot_be_are_refused_by_name():
    rod = Link(position=(0.5, 0.0), inertia=0.1)
    spatial = Link(position=(0.5, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    point = Link(position=(1.0, 0.0))
    wrong = [
        (lambda: Link(position=(0.0, 0.0), mass=-1.0), "mass -1.0 kg is not positive"),
        (lambda: Link(position=(0.0, 0.0, 0.0), inertia=(1.0, 1.0, 0.0)), "positive, or 0 throughout"),
        (lambda: Mechanism(links=(Link(position=(0.0, 0.0), fixed=True),)), "none can move"),
        (lambda: Mechanism(links=(rod, spatial)), "some are planar"),
        (lambda: Coupling(first=0, second=0, linear=0, angular=3), "links 0 and 0; it needs two"),
        (lambda: Mechanism(links=(rod,), joints=(revolute(-1, 3),)), r"joints\[0\]: link 3; there are 1 links"),
        (lambda: Mechanism(links=(rod,), joints=(Coupling(first=-1, second=0, linear=1, angular=1),)), "axis: none"),
        (lambda: Mechanism(links=(point,), joints=(revolute(-1, 0, second_point=(-1.0, 0.0)),)), "point mass"),
        (lambda: System(Mechanism(links=(spatial,), joints=(
            Coupling(first=-1, second=0, linear=3, angular=2, turn_axis=(0, 0, 1), second_axis=(0, 0, 2)),))),
         "parallel to turn_axis"),
        (lambda: Coupling(first=-1, second=0, linear=0, angular=1, restitution=0.5), "restitution 0.5"),
        (lambda: Mechanism(links=(spatial,), joints=(
            Coupling(first=-1, second=0, linear=1, angular=3, axis=(1, 0, 0), one_sided=True),)),
         "one_sided: of linear 1"),
        (lambda: hinge(-1, 0, (0.0, 0.0, 0.0)), "has no direction"),
    ]  # fmt: skip
    for build, words in wrong:
        with pytest.raises(MechanismError, match=words):
            build()
