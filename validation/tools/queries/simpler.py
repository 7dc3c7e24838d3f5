"""A wrong pose with rounder numbers: fewer digits of shapes, positions and orientations, as long as it stays wrong."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from reference_engine.array_types import Array
from reference_engine.geometry.bounds import pair_bounds
from validation.engines.queries import Query
from validation.judging.queries import KINDS, judged
from validation.judging.sweeps import Find, Question, find_of
from validation.records.queries import Poses
from validation.tools.queries.asking import Asker, scene_of

DIGITS = (1, 2, 3, 4, 6, 9)
MOST_ALONE = 6  # poses of some shapes that are asked about alone
AS_WRONG = 0.3  # of the error, as a share of the thinner body: a simpler pose is off by that at least


def simplified(asker: Asker, query: Query, round_off: float, find: Find) -> Find:
    """The same kind of wrong answer, of the roundest numbers that show it; the find itself where none do.

    A pose counts that is wrong where nothing is asked before it: engines keep contacts from step to step.
    """
    if find.answers is None:
        return find
    for shapes in _rounder_shapes(find):
        question = _rounded(find, shapes)
        for one in _wrong(asker, query, round_off, find, question)[:MOST_ALONE]:  # the roundest come first
            alone = replace(question, poses=one.pose, classes=question.classes[:1])
            if found := _wrong(asker, query, round_off, find, alone):
                return found[0]
    return find


def _wrong(asker: Asker, query: Query, round_off: float, find: Find, question: Question) -> list[Find]:
    """The poses of which the answer is wrong in the same way, by as much."""
    bounds = pair_bounds(question.geometries, question.poses.position, question.poses.orientation)
    _, _, answers = asker.ask(find.query, scene_of(question.shapes), question.poses)
    if answers is None:
        return []
    result = judged(query, round_off, question.geometries, question.kinds, question.poses, answers, bounds)
    fits = result.is_find & (result.kind == KINDS.index(find.kind))
    fits &= result.error >= AS_WRONG * find.share * question.thickness
    return [find_of(find.query, question, answers, bounds, result, int(row)) for row in np.flatnonzero(fits)]


def _rounder_shapes(find: Find) -> Iterator[tuple[Any, Any]]:
    for digits in (1, 2, 3):
        try:
            first, second = (_with_digits(shape, digits) for shape in find.question.shapes)
        except ValueError:  # rounded, they are no shapes any more
            continue
        yield first, second
    yield find.question.shapes


def _with_digits(shape: Any, digits: int) -> Any:
    """Lengths with so many significant digits; points of a hull or polygon by their largest."""
    given = shape.model_dump()
    for name, value in given.items():
        if name != "kind":
            array = np.asarray(value, np.float64)
            scale = np.abs(array).max() if array.ndim > 1 else np.abs(array)
            rounded = _to_digits(array, digits + (array.ndim > 1), scale)
            given[name] = rounded.tolist() if array.ndim == 0 else tuple(map(_tuple, rounded.tolist()))
    return type(shape).model_validate(given)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _to_digits(array: Array, digits: int, scale: Any) -> Array:
    unit = 10.0 ** (np.floor(np.log10(np.maximum(scale, 1e-300))) + 1 - digits)
    rounded = np.round(array / unit)
    # A power of ten below 1 is no double: it is divided by, so that 3 units of 0.1 are 0.3.
    return np.where(unit < 1.0, rounded / np.round(1.0 / np.minimum(unit, 1.0)), rounded * unit)


def _rounded(find: Find, shapes: tuple[Any, Any]) -> Question:
    """The pose with ever more digits: about the origin with the first body upright, about the origin, and as it is."""
    pose = find.pose
    position, orientation = pose.position[0], pose.orientation[0]
    frames = [(position, orientation)]
    frames.insert(0, (position - position[0], orientation))
    if position.shape[1] == 3:
        a, b = Rotation.from_quat(orientation, scalar_first=True)
        frames.insert(0, (np.array([np.zeros(3), a.inv().apply(position[1] - position[0])]),
                          np.array([[1.0, 0.0, 0.0, 0.0], (a.inv() * b).as_quat(scalar_first=True)])))  # fmt: skip
    positions, orientations = [], []
    for at, turned in frames:
        for of_turn in DIGITS:
            for of_position in DIGITS:
                positions.append(_to_digits(at, of_position, max(np.abs(at[1] - at[0]).max(), 1e-300)))
                orientations.append(_to_digits(turned, of_turn, np.ones(1)))
    positions.append(position)
    orientations.append(orientation)
    both = np.array(positions), np.array(orientations)
    if both[1].ndim == 3:
        both[1][~(np.abs(both[1]).max(axis=2) > 0.1).all(axis=1)] = orientation
        both[1][:] /= np.sqrt((both[1] ** 2).sum(axis=2, keepdims=True))
    poses = Poses(position=both[0], orientation=both[1])
    return replace(find.question, shapes=shapes, poses=poses, classes=(find.class_of_pose,) * len(positions))
