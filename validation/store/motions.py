"""Within a transaction: motions, each stored once, whichever cases have it."""

import hashlib
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, select

from validation.records.case import Result
from validation.records.trajectory import to_bytes
from validation.store import models
from validation.store.compression import pack
from validation.store.connection import insert_new


def packed_motion(result: Result) -> dict[str, Any] | None:
    return packed(result.encoded or (to_bytes(result.trajectory) if result.trajectory else b""))


def packed(plain: bytes) -> dict[str, Any] | None:
    """The row of a motion, as bytes of a trajectory; None of nothing."""
    if not plain:
        return None
    # Over the bytes, not the state: two cases may move alike and report different contacts.
    return {"key": hashlib.sha256(plain).hexdigest(), "data": pack(plain)}


def save_motions(connection: Connection, packed: Iterable[dict[str, Any]]) -> None:
    """Those that are not stored yet."""
    by_key = {one["key"]: one for one in packed}
    known = select(models.Trajectory.key).where(models.Trajectory.key.in_(by_key))
    there = set(connection.execute(known).scalars())
    insert_new(connection, models.Trajectory, [by_key[key] for key in sorted(by_key.keys() - there)])


def stored_motions(connection: Connection, keys: Collection[str]) -> set[str]:
    """Of these keys those that are still stored, and stay until this transaction ends."""
    query = select(models.Trajectory.key).where(models.Trajectory.key.in_(keys)).order_by(models.Trajectory.key)
    return set(connection.execute(query.with_for_update(key_share=True, read=True)).scalars()) if keys else set()
