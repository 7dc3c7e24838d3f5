"""Poses that an engine is asked about, and what it answers: arrays that go over a pipe. SI, world axes."""

import io
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from reference_engine.array_types import Array, Flags


class QueryError(ValueError):
    """Arrays that are no poses or no answers of so many poses; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poses:
    """Where two bodies are, N times. D = 3: quaternions w, x, y, z, body to world; D = 2: angles."""

    position: Array  # (N, 2, D) m
    orientation: Array  # (N, 2, 4), or (N, 2) rad

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, rows: Any) -> "Poses":
        return Poses(position=self.position[rows], orientation=self.orientation[rows])

    def to_bytes(self) -> bytes:
        return _packed(position=self.position, orientation=self.orientation)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Raises QueryError."""
        return cls(**_unpacked(data, {field.name for field in fields(cls)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Of N poses. Where the engine does not say, or does not answer, numbers are NaN."""

    contact: Flags  # (N,) it says that the two overlap, or are as near as it reports contacts
    gap: Array  # (N,) m, negative in penetration: of the deepest contact where there are several
    normal: Array  # (N, D) from the first body to the second

    def __len__(self) -> int:
        return len(self.contact)

    def to_bytes(self) -> bytes:
        return _packed(contact=self.contact, gap=self.gap, normal=self.normal)

    @classmethod
    def from_bytes(cls, data: bytes, count: int, dimension: int) -> Self:
        """Raises QueryError."""
        given = _unpacked(data, {field.name for field in fields(cls)})
        shapes = {"contact": (count,), "gap": (count,), "normal": (count, dimension)}
        for name, shape in shapes.items():
            if given[name].shape != shape or given[name].dtype != (np.bool_ if name == "contact" else np.float64):
                found = f"{given[name].dtype} {given[name].shape}"
                raise QueryError(f"answers: {name} is an array of {found}; {count} poses need {shape}")
        return cls(**given)


def no_answers(count: int, dimension: int) -> Answers:
    """To be filled: no contact, no number."""
    return Answers(
        contact=np.zeros(count, np.bool_), gap=np.full(count, np.nan), normal=np.full((count, dimension), np.nan)
    )


def _packed(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _unpacked(data: bytes, names: set[str]) -> dict[str, Any]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            if set(found.files) != names:
                raise QueryError(f"arrays {', '.join(sorted(found.files))}; expected: {', '.join(sorted(names))}")
            return {name: found[name] for name in names}
    except QueryError:
        raise
    except Exception as error:  # whatever a damaged archive makes of numpy and zipfile
        raise QueryError(f"these {len(data)} bytes are no arrays ({type(error).__name__}: {error})") from error
