"""What an engine answers is checked before anybody relies on it: types, shapes, numbers, order. One line each.

A wrong answer ends its own case only, with what it should be.
"""

import difflib
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from types import NoneType
from typing import Any, get_args

import numpy as np

from scenarios.features import known_features
from scenarios.scene import Scene
from validation.engines.engine import DOUBLE, Ability, Able, Fuzzed, Setting, Settings, SteppingEngine
from validation.engines.queries import Query
from validation.engines.relations import Relation
from validation.engines.shared.recorder import AnswerError, World, record, state_of
from validation.engines.takes import not_taken
from validation.records.queries import Answers, Poses
from validation.records.simulation import Status
from validation.records.text import LONGEST
from validation.records.trajectory import (
    Contacts,
    Impacts,
    PlanarTrajectory,
    SpatialTrajectory,
    Trajectory,
    first_not_finite,
    time_not_covered,
)


def declined(engine: Any, scene: Scene) -> str | None:
    """Why the engine cannot represent the scene, by its allow-list or in its own words; None where it can."""
    _check_takes(engine)
    if not isinstance(engine, SteppingEngine) and (reason := not_taken(engine, scene)):  # that one asks its list itself
        return reason
    answer = engine.declines(scene)
    if answer is None or (isinstance(answer, str) and answer.strip()):
        return answer
    raise AnswerError(f"{engine.name}: declines returned {_found(answer)}; it should be the reason as text, or None")


def _check_takes(engine: Any) -> None:
    """A set of features that there are."""
    takes = getattr(engine, "takes", None)
    if not isinstance(takes, (set, frozenset, NoneType)):
        raise AnswerError(f"{engine.name}: takes is {_found(takes)}; it should be a set of features of scenes")
    for feature in sorted((takes or set()) - known_features(), key=str):
        near = difflib.get_close_matches(str(feature), known_features(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AnswerError(f"{engine.name}: takes has {feature!r}, which is no feature of scenes{hint}")


def check_declared(engine: Any) -> None:
    """What an engine has beside its methods. Raises AnswerError."""
    for name, value in (("name", engine.name), ("version", engine.version)):
        if isinstance(value, str) and len(value) > LONGEST_NAME:
            raise AnswerError(f"{name} has {len(value)} characters; allowed: {LONGEST_NAME}")
    if not _is_text(engine.name):  # by which all else is reported
        raise AnswerError(f"name is {_found(engine.name)}; it should be {TEXT}")
    because = getattr(engine, "because", {})
    profiles = getattr(engine, "profiles", ("default",))
    settings = getattr(engine, "settings", {})
    relations = getattr(engine, "relations", ())
    round_off = getattr(engine, "round_off", DOUBLE)
    warm_up = getattr(engine, "warm_up", check_declared)
    wrong = [
        (name, value, allowed)
        for name, value, allowed, right in (
            ("version", engine.version, TEXT, _is_text(engine.version) or _is_number(engine.version)),
            ("profiles", profiles, "a tuple of names, one at least", _all(profiles, _is_name) and len(profiles) > 0),
            ("settings", settings, "a dict of names and Settings", isinstance(settings, Mapping)),
            ("because", because, "a dict of features and reasons", isinstance(because, Mapping)),
            ("relations", relations, "a tuple of Relations", _all(relations, lambda one: isinstance(one, Relation))),
            ("round_off", round_off, "a number above 0", _is_number(round_off) and 0.0 < round_off < math.inf),
            ("warm_up", warm_up, "a method", callable(warm_up)),
        )
        if not right
    ]
    for name, value, allowed in wrong or _wrong_settings(settings):
        raise AnswerError(f"{engine.name}: {name} is {_found(value)}; it should be {allowed}")
    for name, value in (("profiles", profiles), ("settings", settings), ("relations", relations)):
        if len(value) > MOST_DECLARED:
            raise AnswerError(f"{engine.name}: {name} has {len(value)} entries; allowed: {MOST_DECLARED}")


def _wrong_settings(settings: Mapping[Any, Any]) -> Iterator[tuple[str, Any, str]]:
    """What is wrong, its value, what it should be."""
    for name, one in itertools.islice(settings.items(), MOST_DECLARED):
        path = f"settings[{name!r:.60}]"
        if not (_is_name(name) and isinstance(one, Setting)):
            yield path, one, 'Setting(default=1.0, doc="what it does"), of a number, a text or a truth value'
            continue
        if not is_value(one.default):
            yield f"{path}.default", one.default, VALUE
        if not isinstance(one.doc, str):
            yield f"{path}.doc", one.doc, "text"
        for bound in ("low", "high"):
            if not _is_number(getattr(one, bound)) or math.isnan(getattr(one, bound)):
                yield f"{path}.{bound}", getattr(one, bound), "a number"
        if not _all(one.choices, _is_text):
            yield f"{path}.choices", one.choices, "a tuple of names"
        if one.fuzzed not in get_args(Fuzzed):
            yield f"{path}.fuzzed", one.fuzzed, " | ".join(get_args(Fuzzed))
        if one.at_most and (not _is_text(one.at_most) or one.at_most not in settings):
            yield f"{path}.at_most", one.at_most, "the name of another setting"


LONGEST_NAME = 200  # characters of an engine's name and version, and of its profiles' and settings' names
MOST_DECLARED = 1000  # settings, profiles or relations
LONGEST_HASH = 200  # characters
TEXT = f"text that can be printed, at most {LONGEST_NAME} characters"
VALUE = f"a finite number below 2^63, a text of at most {LONGEST} characters or a truth value"


def is_value(value: Any) -> bool:
    """Of a setting: what a database and JSON have, too."""
    if isinstance(value, str):
        return len(value) <= LONGEST
    return isinstance(value, (bool, int, float)) and math.isfinite(value) if not _is_huge(value) else False


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 2**63


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_name(value: Any) -> bool:
    return _is_text(value) and len(value) <= LONGEST_NAME


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _all(values: Any, right: Callable[[Any], bool]) -> bool:
    return isinstance(values, Collection) and not isinstance(values, str) and all(map(right, values))


def abilities_of(engine: Any) -> Mapping[Ability, Able]:
    """Raises AnswerError where they are none."""
    abilities = getattr(engine, "abilities", {})
    if not isinstance(abilities, Mapping):
        raise AnswerError(f"{engine.name}: abilities is {_found(abilities)}; it should be a dict of {ABLE}")
    for name, able in abilities.items():
        if name not in get_args(Ability):
            raise AnswerError(f"{engine.name}: abilities has {name!r}; it should be {', '.join(get_args(Ability))}")
        if not isinstance(able, Able):
            raise AnswerError(f"{engine.name}: abilities[{name!r}] is {_found(able)}; it should be an {ABLE}")
    return abilities


def simulated(engine: Any, scene: Scene, dt: float, settings: Settings) -> Trajectory:
    """The engine's motion, checked. Raises AnswerError; what is not finite is left to the caller, who says where."""
    motion = engine.simulate(scene.model_copy(), dt, settings)  # what an engine does to its scene is not done to ours
    wanted = SpatialTrajectory if scene.dimension == 3 else PlanarTrajectory
    if not isinstance(motion, wanted):
        raise AnswerError(f"{engine.name}: simulate returned {_found(motion)}; it should be a {wanted.__name__}")
    if isinstance(motion.dt, (int, float)) and motion.dt > max(1.001 * dt, LARGEST_STEP * scene.duration):
        allowed = f"at most {dt:.6g} s, as asked, or a tenth of the scene's duration"
        raise AnswerError(f"{engine.name}: dt is {motion.dt:.6g} s; it should be {allowed}")
    if (fault := _fault(motion, scene)) is not None:
        raise AnswerError(f"{engine.name}: {fault}")
    return motion


def queried(engine: Any, query: str, scene: Scene, settings: Settings, poses: Poses) -> Answers:
    """The engine's answers, as many as poses. Raises AnswerError; what is not finite is left to whom it judges."""
    found = engine.answer(query, scene.model_copy(), settings, poses)
    if not isinstance(found, Answers):
        raise AnswerError(f"{engine.name}: answer returned {_found(found)}; it should be Answers")
    return Answers.from_bytes(found.to_bytes(), len(poses), scene.dimension)


def described(query: Query) -> dict[str, Any]:
    """A query as JSON has it."""
    return asdict(query) | {"shapes": sorted(query.shapes), "answers": sorted(query.answers)}


def spoiled(motion: Trajectory, scene: Scene) -> tuple[Status, str] | None:
    """Outcome and reason of a motion that is none of the scene's from beginning to end, in finite numbers."""
    if motion.velocity.shape[1] != len(scene.bodies):
        return "crashed", f"its motion has {motion.velocity.shape[1]} bodies, the scene {len(scene.bodies)}"
    if found := first_not_finite(motion):
        time, index = found
        return "not_finite", f"body {scene.bodies[index].name!r} is not finite from t = {time:.6g} s"
    if uncovered := time_not_covered(motion, scene.duration):
        return "crashed", uncovered
    return None


def plain(engine: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as an engine's profile has them, which go into records: each a number, a text or a truth value."""
    for name, value in settings.items():
        if not _is_name(name) or not is_value(value):
            raise AnswerError(f"{engine.name}: setting {name!r:.60} is {_found(value)}; it should be {VALUE}")
    return dict(settings)


LARGEST_STEP = 0.1  # of the duration, for an engine whose steps are its own: a motion may lack one at its end
QUATERNION_TOLERANCE = 1e-3  # of the length; engines of single precision drift by far less
MOST_BYTES = 512 * 2**20
"""Of a trajectory: more than a simulation that fits the memory of a machine has to say."""
ABLE = 'Able(works=True, note="how well")'
NUMBERS: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("dt", lambda value: value > 0.0, "seconds above 0"),
    ("velocity_lag", lambda value: True, "seconds"),
    ("contact_tolerance", lambda value: value >= 0.0, "metres, 0 or more"),
    ("impact_time", lambda value: value >= 0.0, "seconds, 0 or more"),
    ("left_open_from", lambda value: value >= 0.0, "seconds, 0 or more, or None"),
)
"""Of a trajectory: what fits, beside that it is finite."""


def _found(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    try:
        return f"{value!r:.60} ({type(value).__name__})"
    except Exception:  # its own __repr__ fails
        return f"a {type(value).__name__}"


def _fault(motion: Trajectory, scene: Scene) -> str | None:
    if motion.velocity.shape[1] != len(scene.bodies):
        return f"{motion.velocity.shape[1]} bodies; expected: {len(scene.bodies)}, all of the scene's, in its order"
    for name, fits, wanted in NUMBERS:
        value = getattr(motion, name)
        if name == "left_open_from" and value is None:
            continue
        if not isinstance(value, (int, float)) or not math.isfinite(value) or not fits(value):
            return f"{name} is {_found(value)}; it should be a finite number of {wanted}"
    if not isinstance(motion.state_hash, str):
        return f"state_hash is {_found(motion.state_hash)}; it should be text, or left out"
    if len(motion.state_hash) > LONGEST_HASH:
        return f"state_hash has {len(motion.state_hash)} characters; allowed: {LONGEST_HASH}"
    if not _is_text(motion.state_hash):
        return f"state_hash is {_found(motion.state_hash)}; it should be {TEXT}"
    if (size := _size(motion)) > MOST_BYTES:
        return f"its motion has {size / 2**20:.0f} MiB; allowed: {MOST_BYTES / 2**20:.0f}"
    if not np.isfinite(motion.time).all():
        return "time is not finite; it should be seconds from 0 to the scene's duration"
    if isinstance(motion, SpatialTrajectory) and (fault := _length_fault(motion, scene)):
        return fault
    width, members = len(scene.gravity), len(scene.bodies) + len(scene.boundaries)
    for what, kind in (("contacts", Contacts), ("impacts", Impacts)):
        rows = getattr(motion, what)
        if rows is None:
            continue
        if not isinstance(rows, kind):
            return f"{what} is {_found(rows)}; it should be {kind.__name__}, or None"
        if fault := _rows_fault(rows, what, width, members, len(motion.time)):
            return fault
    return None


def _length_fault(motion: SpatialTrajectory, scene: Scene) -> str | None:
    """Of quaternions; what is not finite has no length."""
    lengths = np.sqrt(np.einsum("sbi,sbi->sb", motion.orientation, motion.orientation))
    wrong = np.abs(lengths - 1.0) > QUATERNION_TOLERANCE
    if not wrong.any():
        return None
    sample, body = divmod(int(np.argmax(wrong)), len(scene.bodies))
    where = f"orientation of body {scene.bodies[body].name!r} at t = {motion.time[sample]:.6g} s"
    return f"{where} is a quaternion of length {lengths[sample, body]:.6g}; it should be 1"


def _size(motion: Trajectory) -> int:
    """Bytes of its arrays."""
    tables = (motion, motion.contacts, motion.impacts, motion.internals)
    arrays = [getattr(table, field.name) for table in tables if is_dataclass(table) for field in fields(table)]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def _rows_fault(rows: Any, what: str, width: int, members: int, samples: int) -> str | None:
    count = np.shape(rows.a)[:1]
    for field in fields(rows):
        name = field.name
        array, whole = getattr(rows, name), name in ("a", "b", "sample", "parting")
        if array is None and field.default is None:
            continue
        shape = (*count, width) if name in ("point", "normal", "impulse") else count
        kind = "i" if whole else "f"
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != kind:
            return (
                f"{what}.{name} is {_found(array)}; it should be an array of {'int64' if whole else 'float64'} {shape}"
            )
        if not whole and name not in ("impulse", "normal", "gap", "approach") and not np.isfinite(array).all():
            return f"{what}.{name} is not finite everywhere; it should be"
    for name in ("a", "b"):
        index = getattr(rows, name)
        if index.size and not (index.min() >= 0 and index.max() < members):
            return (
                f"{what}.{name} goes from {index.min()} to {index.max()}; bodies and boundaries are 0 to {members - 1}"
            )
    order = rows.sample if isinstance(rows, Contacts) else rows.time
    if order.size and (np.diff(order) < 0).any():
        return f"{what} are not in the order of time; they should be"
    if isinstance(rows, Contacts) and order.size and not (order[0] >= 0 and order[-1] < samples):
        return f"contacts.sample goes from {order[0]} to {order[-1]}; it should be within the {samples} samples"
    return None


# --- what an ability of an engine is tried by: motions that a plain simulation does not give ------------------------


def exercised(engine: Any, scene: Scene, dt: float, settings: Settings, exercise: Mapping[str, Any]) -> Trajectory:
    """The motion of an exercise. Raises AnswerError where the engine's options are none.

    {"ability": "set_state", "step": k}     the motion from the state that the engine itself had after k steps, put
                                            into a world built anew; its time 0 is that of step k
    {"ability": "apply_force", "body": i, "force": [...], "point": [...] | null, "steps": n}
                                            the scene's motion, pushed in each of the first n steps
    {"ability": "options"}                  the motion as it is, after the engine's options were found to be data
    """
    world: World = engine.build(scene, dt, settings)
    match exercise["ability"]:
        case "set_state":
            state = state_of(world)
            for _ in range(exercise["step"]):
                world.step(watched=False)
                state = state_of(world)  # each: quaternions keep their sign from one to the next
            other = engine.build(scene, dt, settings)
            other.set_state(*state, time=exercise["step"] * dt)
            return record(other, scene, dt)
        case "apply_force":
            return record(world, scene, dt, before_step=lambda world, step: _apply_force(world, step, exercise))
        case "options":
            _check_options(engine, world, settings)
            return record(world, scene, dt)
    raise ValueError(f"no exercise of {exercise['ability']!r}")


def _apply_force(world: World, step: int, exercise: Mapping[str, Any]) -> None:
    if step <= exercise["steps"]:
        world.apply_force(exercise["body"], exercise["force"], exercise["point"])


def _check_options(engine: Any, world: World, settings: Settings) -> None:
    """Numbers, words and truth values; one that has a setting's name has its value."""
    found = world.options()
    if not isinstance(found, dict) or not found:
        raise AnswerError(f"{engine.name}: options returned {found!r:.60}; it should be a dict of names and values")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r:.60}; it should be a number or text")
        given = settings.get(name, value)
        same = value == given if isinstance(given, str) else np.isclose(float(value), float(given), rtol=1e-6)
        if not same and not (isinstance(given, str) and not isinstance(value, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r}, and the setting {name!r} was {given!r}")
