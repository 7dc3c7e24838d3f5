"""Reads every body's state out of Chipmunk: in one call where pymunk has it (6.6 and later), else body by body."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pymunk
from numpy.typing import NDArray

try:
    from pymunk import batch
except ImportError:
    batch = None  # type: ignore[assignment]  # a module or none

SINCE_6_6 = batch is not None

Array = NDArray[np.float64]
WIDTH = 6  # x, y, angle, vx, vy, spin


class StateReader:
    """`raw` is what Chipmunk holds after a step, `decode` makes poses and twists of so many of them."""

    def __init__(self, space: pymunk.Space, bodies: Sequence[pymunk.Body]) -> None:
        self._space, self._bodies = space, bodies
        self._rows = np.arange(len(bodies))
        if batch is None:
            return
        names = batch.BodyFields
        self._fields = names.BODY_ID | names.POSITION | names.ANGLE | names.VELOCITY | names.ANGULAR_VELOCITY
        self._buffer = batch.Buffer()
        batch.get_space_bodies(space, self._fields, self._buffer)
        self._listed = bytes(self._buffer.int_buf())
        row = _rows(self._listed)
        self._rows = np.array([row[body.id] for body in bodies], np.intp)

    def raw(self) -> bytes:
        """Every body's numbers as Chipmunk holds them, in the order in which it listed them first."""
        if batch is None:
            return b"".join(
                struct.pack("6d", *body.position, body.angle, *body.velocity, body.angular_velocity)
                for body in self._bodies
            )
        self._buffer.clear()
        batch.get_space_bodies(self._space, self._fields, self._buffer)
        listed = bytes(self._buffer.int_buf())
        if listed == self._listed:
            return bytes(self._buffer.float_buf())
        row = _rows(listed)  # bodies fell asleep or woke: they are listed elsewhere then
        order = [row[number] for number in np.frombuffer(self._listed, np.uintp).tolist()]
        return bytes(np.frombuffer(self._buffer.float_buf(), np.float64).reshape(-1, WIDTH)[order].tobytes())

    def decode(self, raw: bytes, steps: int) -> tuple[Array, Array]:
        """Pose and twist, (steps, B, 3), of so many `raw`, one after the other."""
        state = np.frombuffer(raw, np.float64).reshape(steps, -1, WIDTH)[:, self._rows]
        return state[..., :3], state[..., 3:]


def _rows(listed: bytes) -> dict[int, int]:
    """Body's number -> its row."""
    return {number: i for i, number in enumerate(np.frombuffer(listed, np.uintp).tolist())}
