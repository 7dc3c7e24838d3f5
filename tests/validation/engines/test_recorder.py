"""The recorder: what it keeps does not depend on how an adapter hands the state over."""

import itertools

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from validation.engines.shared.recorder import World, collected_broken_motions, collected_step_times, record

DT = 1.0 / 240.0
SCENE = scenario_of("bouncing-ball").scene


def bounces(step: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball that turns round, at 4 m/s, every 100 steps."""
    pose, twist = np.zeros((len(SCENE.bodies), 3)), np.zeros((len(SCENE.bodies), 3))
    pose[0, 1] = 1.0 + 0.01 * (step % 100)
    twist[0, 1] = 4.0 if step // 100 % 2 else -4.0
    return pose, twist


class Bouncing(World):
    def __init__(self, *, as_bytes: bool, derived: bytes = b"") -> None:
        self.step_number, self.as_bytes, self.derived = 0, as_bytes, derived

    def step(self, *, watched: bool) -> None:
        self.step_number += 1

    def read(self):
        state = bounces(self.step_number)
        return b"".join(part.tobytes() for part in state) + self.derived if self.as_bytes else state

    def raw(self):
        if self.as_bytes and not self.derived:
            return None
        return b"".join(part.tobytes() for part in bounces(self.step_number))

    def decode(self, raw: bytes, steps: int):
        rows = np.frombuffer(raw, float).reshape(steps, -1)
        both = rows[:, : rows.shape[1] - len(self.derived) // 8].reshape(steps, 2, -1, 3)
        return both[:, 0], both[:, 1]

    def contacts(self):
        return [0], [1], [(0.0, 0.0)], [(0.0, 1.0)], [-1e-3], [(0.0, self.step_number)]


def recorded(*, as_bytes: bool, block_bytes: int, monkeypatch, derived: bytes = b""):
    monkeypatch.setattr("validation.engines.shared.recorder.BLOCK_BYTES", block_bytes)
    with collected_step_times() as times:
        motion = record(Bouncing(as_bytes=as_bytes, derived=derived), SCENE, DT)
    return motion, times, round(SCENE.duration / DT)


def test_bytes_decoded_a_block_at_once_make_the_same_trajectory_as_states_read_one_by_one(monkeypatch):
    """Blocks of a few steps and of the whole motion; samples, hash, contacts and number of step times agree."""
    one, times, steps = recorded(as_bytes=False, block_bytes=16 * 2**20, monkeypatch=monkeypatch)
    assert len(times) == steps
    for block_bytes, derived in itertools.product((16 * 2**20, 4096, 1), (b"", bytes(16))):
        other, times, _ = recorded(as_bytes=True, block_bytes=block_bytes, monkeypatch=monkeypatch, derived=derived)
        assert len(times) == steps
        assert other.state_hash == one.state_hash
        for name in ("time", "pose", "twist"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
        np.testing.assert_array_equal(other.contacts.sample, one.contacts.sample)
        np.testing.assert_array_equal(other.contacts.impulse, one.contacts.impulse)


def test_every_step_around_an_impact_is_kept_and_sixty_samples_a_second_at_most_elsewhere(monkeypatch):
    trajectory, _, _ = recorded(as_bytes=True, block_bytes=4096, monkeypatch=monkeypatch)
    kept = np.rint(trajectory.time / DT).astype(int)
    for impact in range(100, kept[-1] - 3, 100):
        assert set(range(impact - 2, impact + 2)) <= set(kept.tolist())
    quiet = kept[(kept % 100 > 3) & (kept % 100 < 97)]
    assert len(quiet) / (len(set((quiet // 100).tolist())) * 93 * DT) <= 60.0


class Failing(Bouncing):
    def step(self, *, watched: bool) -> None:
        super().step(watched=watched)
        if self.step_number == 200:
            raise ArithmeticError("singular")


def test_what_was_recorded_before_an_engine_raised_is_collected():
    with collected_broken_motions() as motions, pytest.raises(ArithmeticError, match="singular"):
        record(Failing(as_bytes=True), SCENE, DT)
    (motion,) = motions
    assert motion.time[-1] == pytest.approx(199 * DT)
    with collected_broken_motions() as motions:
        record(Bouncing(as_bytes=True), SCENE, DT)
    assert motions == []
