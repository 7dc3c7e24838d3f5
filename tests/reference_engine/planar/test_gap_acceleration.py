"""Gap, its rate and its acceleration at every kind of contact, against finite differences of the gap itself.

The kernels run as plain Python: they have no entry from it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import Body, Bowl, Disc, HalfPlane, Joint, World, box
from reference_engine.compiler.structure import zeros
from reference_engine.planar import rows
from reference_engine.planar.layout import (
    BODY_I,
    BODY_J,
    CENTRE,
    GAP,
    KIND,
    LINE,
    PIECE_I,
    PIECE_J,
    R1,
    R2,
    RATE,
    ROUND,
    SIGMA,
    STILL_NORMAL,
    U1X,
    U1Y,
    Contacts,
    P,
    Q,
    Work,
)
from reference_engine.planar.workspace import sizes_of
from tests.effort import tries
from tests.reference_engine.planar.worlds import pack_model

measure, relative_acceleration, interaction, row_of = (
    getattr(kernel, "py_func", kernel)
    for kernel in (rows.measure, rows.relative_acceleration, rows.interaction, rows.row_of)
)
NORMAL = rows.NORMAL
BOX, WIDE, BALL, LARGE = box(1.0, 0.6), box(2.0, 1.0), Disc(0.4), Disc(0.7)
numbers = st.floats(-2.0, 2.0)


@pytest.fixture(scope="module", autouse=True)
def _plain() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "arm_of", getattr(rows.arm_of, "py_func", rows.arm_of))
        yield


class Meeting(NamedTuple):
    """Two bodies I and J, the features of theirs that meet (a corner, the centre), how, and poses at which they do."""

    first: object
    second: object
    p: int
    q: int
    kind: int
    r1: float = 0.0
    r2: float = 0.0
    sigma: float = 1.0
    poses: tuple = ((0.1, 0.98, 0.4), (0.0, 0.0, 0.2))


MEETINGS = {
    "corner on an edge": Meeting(BOX, WIDE, 0, 2, LINE),
    "corner on a ground": Meeting(BOX, HalfPlane(), 1, 0, LINE),
    "disc on an edge": Meeting(BALL, WIDE, -1, 2, LINE, 0.4),
    "disc on a ground": Meeting(BALL, HalfPlane(), -1, 0, LINE, 0.4),
    "disc on a disc": Meeting(BALL, LARGE, -1, -1, ROUND, 0.4, 0.7),
    "disc on a corner": Meeting(BALL, WIDE, -1, 2, ROUND, 0.4),
    "corner on a corner": Meeting(BOX, WIDE, 0, 2, ROUND),
    "disc in a bowl": Meeting(BALL, Bowl(3.0), -1, -1, ROUND, 0.4, -3.0, -1.0),
    "corner in a bowl": Meeting(BOX, Bowl(3.0), 0, -1, ROUND, 0.0, -3.0, -1.0),
}


class Scene:
    """One contact between two bodies, and a state (y, accelerations) to look at it in."""

    def __init__(self, meeting: Meeting, twists: list[float]) -> None:
        fixed = isinstance(meeting.second, HalfPlane | Bowl)
        bodies = (
            Body(shape=meeting.first, mass=0.7, inertia=0.2),
            Body(shape=meeting.second, fixed=True) if fixed else Body(shape=meeting.second, mass=2.0, inertia=0.9),
        )
        self.model = pack_model(World(bodies=bodies))
        sizes = sizes_of(3, 1, 0, 1, 2)
        self.contacts, self.geometry = zeros(Contacts, sizes), zeros(Work, sizes).geometry
        ids, first = self.contacts.id[0], self.model.first
        ids[[BODY_I, BODY_J, PIECE_I, PIECE_J, KIND]] = 0, 1, 0, 1, meeting.kind
        ids[P] = first[0] + meeting.p if meeting.p >= 0 else CENTRE
        ids[Q] = first[1] + meeting.q if meeting.q >= 0 else CENTRE
        self.contacts.value[0, [R1, R2, SIGMA]] = meeting.r1, meeting.r2, meeting.sigma
        still = np.zeros(3)
        twist = np.array(twists, float).reshape(2, 3)
        if fixed:
            twist[1] = 0.0
        accelerations = np.array([(1.0, -9.0, 0.3), (0.0, 0.0, 0.0) if fixed else (0.5, -9.0, -0.7)])
        self.y = np.concatenate([*meeting.poses, still, *twist, still])
        self.rate = np.concatenate([*twist, still, *accelerations, still])

    def gap_and_rate(self, time: float = 0.0) -> tuple[float, float]:
        y = self.y.copy()
        y[:9] += self.rate[:9] * time + 0.5 * self.rate[9:] * time**2
        y[9:] += self.rate[9:] * time
        measure(self.model, y, self.contacts, 0, self.geometry)
        return float(self.geometry[0, GAP]), float(self.geometry[0, RATE])

    def acceleration(self) -> float:
        self.gap_and_rate()
        return float(relative_acceleration(self.model, self.contacts, 0, self.y, self.rate, self.geometry, NORMAL))


@pytest.mark.parametrize("name", MEETINGS)
@settings(max_examples=tries(25))
@given(twists=st.lists(numbers, min_size=6, max_size=6))
def test_rate_and_acceleration_are_the_derivatives_of_the_gap(name, twists):
    """Turning normals and centripetal terms included. Differences over 0.1 ms: round-off 1e-8, the next term 1e-6."""
    scene, h = Scene(MEETINGS[name], twists), 1e-4
    (before, _), (now, rate), (after, _) = (scene.gap_and_rate(t) for t in (-h, 0.0, h))
    assert rate == pytest.approx((after - before) / (2.0 * h), abs=1e-5)
    assert scene.acceleration() == pytest.approx((after - 2.0 * now + before) / h**2, abs=1e-4)


@pytest.mark.parametrize("name", MEETINGS)
def test_a_force_along_the_normal_accelerates_its_own_gap_by_what_the_matrix_says(name):
    """The same force on the bodies by hand: f n / m, and its moment by the point of contact, on either body."""
    scene = Scene(MEETINGS[name], [0.0] * 6)
    without = scene.acceleration()
    row = np.zeros((1, 4))
    row_of(scene.geometry, 0, NORMAL, row, 0)
    stiffness = interaction(scene.model, scene.contacts, 0, row, 0, 0, row, 0)
    normal = row[0, :2]
    point = scene.y[:2] + scene.geometry[0, [U1X, U1Y]] - scene.contacts.value[0, R1] * normal
    for body, sign in ((0, 3.0), (1, -3.0)):
        force, arm = sign * normal, point - scene.y[3 * body : 3 * body + 2]
        scene.rate[9 + 3 * body : 11 + 3 * body] += scene.model.inv_mass[body] * force
        turn = arm[0] * force[1] - arm[1] * force[0]
        scene.rate[11 + 3 * body] += scene.model.inv_inertia[body] * turn
    assert scene.acceleration() - without == pytest.approx(3.0 * stiffness, rel=1e-12)
    assert stiffness > 0.0


def test_a_joint_whose_normal_stays_has_the_derivatives_of_its_gap_too():
    joint = Joint(
        first=0, second=1, first_point=(0.3, 0.2), second_point=(-0.4, 0.1), normal=(0.6, 0.8), normal_turns=False
    )
    meeting = Meeting(BOX, WIDE, 0, 0, STILL_NORMAL)
    scene, h = Scene(meeting, [1.0, -0.5, 2.0, 0.3, 0.2, -1.5]), 1e-4
    bodies = (Body(shape=BOX, mass=0.7, inertia=0.2), Body(shape=WIDE, mass=2.0, inertia=0.9))
    scene.model = pack_model(World(bodies=bodies, connectors=(joint,)))
    scene.contacts.id[0] = scene.model.connectors[0]
    (before, _), (now, rate), (after, _) = (scene.gap_and_rate(t) for t in (-h, 0.0, h))
    assert rate == pytest.approx((after - before) / (2.0 * h), abs=1e-6)
    assert scene.acceleration() == pytest.approx((after - 2.0 * now + before) / h**2, abs=1e-5)
