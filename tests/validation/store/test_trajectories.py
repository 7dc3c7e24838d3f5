"""A motion is stored once, small, and comes back bit for bit."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.validation.store.made import case, falling, info, result, tumbling
from validation.records.trajectory import Impacts, PlanarTrajectory, Trajectory, to_bytes
from validation.store import Store
from validation.store.compression import PackingError, pack, unpack
from validation.store.errors import StoreError


def with_impacts() -> PlanarTrajectory:
    plain = falling(contact_impulse=1.0)
    index = np.zeros(0, np.int64)
    nothing = np.zeros((0, 2))
    impacts = Impacts(time=np.zeros(0), a=index, b=index, point=nothing, impulse=nothing)
    return PlanarTrajectory(
        time=plain.time, pose=plain.pose, twist=plain.twist, dt=plain.dt, velocity_lag=0.0, impacts=impacts
    )


@pytest.mark.parametrize(
    "trajectory",
    [falling(), falling(contact_impulse=0.1), with_impacts(), tumbling(), tumbling(samples=1), tumbling(samples=2000)],
)
def test_packing_loses_nothing(trajectory: Trajectory) -> None:
    plain = to_bytes(trajectory)
    assert unpack(pack(plain)) == plain


@given(
    st.integers(1, 40),
    st.integers(1, 3),
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), min_size=1, max_size=30),
)
def test_packing_keeps_every_double_also_nan_and_negative_zero(samples: int, bodies: int, values: list[float]) -> None:
    pose = np.resize(np.array([*values, -0.0]), (samples, bodies, 3))
    plain = to_bytes(
        PlanarTrajectory(time=np.linspace(0.0, 1.0, samples), pose=pose, twist=-pose, dt=0.1, velocity_lag=0.0)
    )
    assert unpack(pack(plain)) == plain


def test_a_body_at_rest_costs_a_thirtieth() -> None:
    """Its pose repeats; only the time goes on."""
    samples = 1000
    pose = np.broadcast_to([0.1, 1.499974, 1e-7], (samples, 1, 3)).copy()
    still = PlanarTrajectory(
        time=np.arange(samples) / 60, pose=pose, twist=np.zeros((samples, 1, 3)), dt=1 / 240, velocity_lag=0.0
    )
    assert len(pack(to_bytes(still))) < len(to_bytes(still)) / 30


def test_noise_costs_no_more_than_itself() -> None:
    plain = to_bytes(tumbling(samples=1000, bodies=5))
    assert len(pack(plain)) < 1.01 * len(plain)


@pytest.mark.parametrize(
    "data", [b"", b"x", b'{"packing": 1}\n', b'{"packing": 9}\n{}\n', pack(to_bytes(falling()))[:-3]]
)
def test_bytes_that_are_no_packed_trajectory_are_refused(data: bytes) -> None:
    with pytest.raises(PackingError):
        unpack(data)


def test_a_motion_comes_back_bit_for_bit(store: Store) -> None:
    given = falling(contact_impulse=0.1)
    run = store.begin_run(info(), [case()])
    store.save_results(run, [result(trajectory=given)])
    (stored,) = store.results(run)
    assert stored.trajectory_hash == given.state_hash
    back = store.trajectory(stored.trajectory_key)
    assert back is not None and to_bytes(back) == to_bytes(given)
    assert store.trajectory("0" * 64) is None


def blobs(where: str) -> int:
    with sqlite3.connect(where) as connection:
        return int(connection.execute("SELECT count(*) FROM trajectories").fetchone()[0])


def test_a_rerun_with_the_same_bits_stores_no_second_motion(store: Store) -> None:
    for _ in range(3):
        store.save_results(store.begin_run(info(), [case()]), [result()])
    assert len({store.results(run)[0].trajectory_key for run in (1, 2, 3)}) == 1
    if store.name.endswith(".db"):
        assert blobs(store.name) == 1


def test_the_same_motion_with_other_contact_forces_is_another_record(store: Store) -> None:
    """A resting stack of another mass has the same poses; its forces must not be those of the first."""
    light, heavy = case(parameters={"mass": 1}), case(parameters={"mass": 10})
    run = store.begin_run(info(), [light, heavy])
    store.save_results(run, [result(light, trajectory=falling(contact_impulse=0.1))])
    store.save_results(run, [result(heavy, trajectory=falling(contact_impulse=1.0))])
    impulses = []
    for stored in store.results(run):
        back = store.trajectory(stored.trajectory_key)
        assert back is not None and back.contacts is not None
        impulses.append(back.contacts.impulse[0, 1])
    assert impulses == [0.1, 1.0]
    assert len({stored.trajectory_hash for stored in store.results(run)}) == 1


def test_a_damaged_motion_is_said_in_one_line(tmp_path: Path) -> None:
    from validation.store import open_store

    with open_store(tmp_path / "u.db") as store:
        run = store.begin_run(info(), [case()])
        store.save_results(run, [result()])
        key = store.results(run)[0].trajectory_key
        with sqlite3.connect(store.name) as connection:
            connection.execute("UPDATE trajectories SET data = substr(data, 1, 200)")
        with pytest.raises(StoreError, match=f"trajectory {key[:12]}: cannot be read"):
            store.trajectory(key)
