"""Engines that answer what no engine should: other types, shapes, orders, numbers, names.

Each is told from the others by its reason, which names the field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from honest import ENGINES, Expected, Flight, Honest, hostile

from validation.engines.engine import Able, Setting
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory

__all__ = ["ENGINES"]


def engine(name: str, what: str, reason: str, outcome: str = "crashed", only: int = 0, /, **own: Any) -> None:
    """An engine of this module, with attributes and methods of its own."""
    globals()[name] = hostile(what, outcome, reason, only)(type(name, (Honest,), {"__module__": __name__, **own}))


# --- what it declares ------------------------------------------------------------------------------------------------


def raises(*_: Any) -> Any:
    raise RuntimeError("not today")


DECLARED: dict[str, tuple[str, Any, str]] = {
    "NameNumber": ("name", 5, "name is 5 (int)"),
    "NameEmpty": ("name", " ", "name is ' ' (str)"),
    "NameLong": ("name", "x" * 10**6, "name has 1000000 characters"),
    "NameColours": ("name", "\x1b[2Jx", "name is '\\x1b[2Jx' (str)"),
    "NameRaises": ("name", property(raises), "RuntimeError: not today"),
    "VersionList": ("version", ["1"], "version is ['1'] (list)"),
    "VersionNone": ("version", None, "version is None (NoneType)"),
    "VersionLong": ("version", "1" * 3 * 2**20, "version has 3145728 characters"),
    "VersionColours": ("version", "1\x1b]0;t\x07", "version is '1\\x1b]0;t\\x07' (str)"),
    "VersionSurrogate": ("version", "1\ud800", "version is '1\\ud800' (str)"),
    "VersionNaN": ("version", float("nan"), "version is nan (float)"),
    "VersionRaises": ("version", property(raises), "RuntimeError: not today"),
    "ProfilesEmpty": ("profiles", (), "profiles is () (tuple)"),
    "ProfilesText": ("profiles", "fair", "profiles is 'fair' (str)"),
    "ProfilesMany": ("profiles", tuple(map(str, range(10**5))), "profiles has 100000 entries"),
    "SettingsList": ("settings", [1], "settings is [1] (list)"),
    "SettingNumber": ("settings", {"a": 5}, "settings['a'] is 5 (int)"),
    "SettingNaN": ("settings", {"a": Setting(default=float("nan"), doc="")}, "settings['a'].default is nan"),
    "SettingDoc": ("settings", {"a": Setting(default=1, doc=raises)}, "settings['a'].doc is"),  # type: ignore[arg-type]
    "SettingHuge": ("settings", {"a": Setting(default=10**400, doc="")}, "settings['a'].default is"),
    "SettingLow": ("settings", {"a": Setting(default=1, doc="", low="x")}, "settings['a'].low is 'x'"),  # type: ignore[arg-type]
    "SettingChoices": ("settings", {"a": Setting(default="b", doc="", choices=5)}, "settings['a'].choices is 5"),  # type: ignore[arg-type]
    "SettingsMany": ("settings", {f"s{i}": Setting(default=1, doc="") for i in range(10**5)}, "settings has 100000"),
    "Relations": ("relations", 5, "relations is 5 (int)"),
    "Abilities": ("abilities", {"set_state": True}, "abilities['set_state'] is True (bool)"),
    "AbilityNote": ("abilities", {"fly": Able(works=True, note="")}, "abilities has 'fly'"),
    "RoundOff": ("round_off", 0.0, "round_off is 0.0 (float)"),
    "WarmUp": ("warm_up", 5, "warm_up is 5 (int)"),
    "WarmUpRaises": ("warm_up", raises, "RuntimeError: not today"),
    "Takes": ("takes", ["planar"], "takes is ['planar'] (list)"),
    "TakesUnknown": ("takes", {"everything"}, "takes has 'everything'"),
    "Because": ("because", 5, "because is 5 (int)"),
}
for _name, (_field, _value, _reason) in DECLARED.items():
    _more = {"takes": frozenset({"planar"})} if _field == "because" else {}
    engine(_name, f"{_field} is none", _reason, **{_field: _value}, **_more)

DECLINES: dict[str, tuple[Any, str, str]] = {
    "DeclinesNumber": (5, "crashed", "declines returned 5 (int)"),
    "DeclinesTrue": (True, "crashed", "declines returned True (bool)"),
    "DeclinesEmpty": ("", "crashed", "declines returned '' (str)"),
    "DeclinesList": (["no"], "crashed", "declines returned ['no'] (list)"),
    "DeclinesBytes": (b"no", "crashed", "declines returned b'no' (bytes)"),
    "DeclinesLong": ("no " * 10**6, "declined", "no no no"),
    "DeclinesColours": ("no\x1b[2J\x00\ud800 thanks", "declined", "no"),
}
for _name, (_answer, _outcome, _reason) in DECLINES.items():
    engine(
        _name,
        f"declines returns {_answer!r:.20}",
        _reason,
        _outcome,
        declines=lambda self, scene, answer=_answer: answer,
    )

engine("DeclinesIsNone", "declines is no method", "TypeError", declines=None)
engine("BuildsNone", "build returns None", "build returned None (NoneType)", build=lambda *_: None)
engine("SimulatesNone", "simulate returns None", "simulate returned None (NoneType)", simulate=lambda *_: None)
engine("SimulatesList", "simulate returns a list", "simulate returned [1.0] (list)", simulate=lambda *_: [1.0])
engine("SimulatesGenerator", "simulate is a generator", "(generator)", simulate=lambda *_: (i for i in ()))
engine("SimulatesClass", "simulate returns the class", "(type)", simulate=lambda *_: PlanarTrajectory)
engine(
    "ProfileList", "profile returns a list", "profile returned [1] (list)", profiles=("fair",), profile=lambda *_: [1]
)
engine(
    "ProfileArray",
    "profile has an array",
    "setting 'a' is",
    profiles=("fair",),
    profile=lambda *_: {"a": np.zeros(3)},
)
engine(
    "ProfileNaN", "profile has NaN", "setting 'a' is nan", profiles=("fair",), profile=lambda *_: {"a": float("nan")}
)
engine(
    "Unsteady",
    "its name changes at each question",
    "",
    "completed",
    name=property(lambda self: f"honest{id(object())}"),
)


class Restless(Honest):
    """Says that it is the same everywhere, and is not the same twice."""

    same_bits_everywhere = True

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        motion = super().simulate(scene, dt, settings)
        return replace(
            motion,
            state_hash="",
            **{_velocity(motion): getattr(motion, _velocity(motion)) + np.random.default_rng().normal(0, 1e-9)},
        )


def _velocity(motion: Any) -> str:
    return "twist" if isinstance(motion, PlanarTrajectory) else "velocity"


hostile("says that its bits are the same everywhere; no two motions are", "completed")(Restless)


# --- what it reads out step by step ----------------------------------------------------------------------------------


def world(name: str, what: str, reason: str, outcome: str = "crashed", /, **own: Any) -> None:
    def build(self: Any, scene: Any, dt: float, settings: Any) -> Any:
        return type("Other", (Flight,), own)(scene, dt)

    engine(name, what, reason, outcome, build=build)


world("ReadsNone", "read returns None", "read returned None (NoneType)", read=lambda self: None)
world("ReadsText", "read returns text", "read returned", read=lambda self: "state")
world("ReadsFew", "read leaves out a part", "read returned arrays of", read=lambda self: self.state[:1])
world(
    "ReadsObjects",
    "read returns objects",
    "read returned arrays of object",
    read=lambda self: [np.array([[object()] * p.shape[1]] * p.shape[0]) for p in self.state],
)
world("ReadsRagged", "read returns ragged lists", "", read=lambda self: [[[1.0], [1.0, 2.0]], [[1.0]]])
world("ReadsComplex", "read returns complex numbers", "complex", read=lambda self: [p * 1j for p in self.state])
world("ReadsBytes", "read returns bytes that it cannot decode", "NotImplementedError", read=lambda self: b"abc")
world("ContactsNumber", "contacts returns 5", "contacts returned 5 (int)", contacts=lambda self: 5)
world("ContactsFew", "contacts returns two columns", "contacts returned", contacts=lambda self: ([0], [1]))
world(
    "ContactsText",
    "contacts of names",
    "",
    contacts=lambda self: (["a"], ["b"], [[0.0, 0.0]], [[0.0, 1.0]], [0.0], [[0.0, 0.0]]),
)
world(
    "LagNaN",
    "its velocity_lag is NaN",
    "velocity_lag is nan",
    __init__=lambda self, scene, dt: (Flight.__init__(self, scene, dt), setattr(self, "velocity_lag", float("nan")))[0],
)
world("RawNumber", "raw returns 5", "", "completed", raw=lambda self: 5)
world("FinishText", "finish returns text", "finish returned 'x' (str)", finish=lambda self, motion: "x")


# --- what it returns at the end --------------------------------------------------------------------------------------


def motion(name: str, what: str, reason: str, change: Any, outcome: str = "crashed", only: int = 0) -> None:
    def simulate(self: Any, scene: Any, dt: float, settings: Any) -> Any:
        found = Honest.simulate(self, scene, dt, settings)
        if only and scene.dimension != only:
            return found
        changed = change(found, scene)
        return found if changed is None else replace(found, **{"state_hash": ""} | changed)

    engine(name, what, reason, outcome, only, simulate=simulate)


def first(found: Any) -> str:
    return "pose" if isinstance(found, PlanarTrajectory) else "position"


def of_first(change: Any) -> Any:
    return lambda found, scene: {first(found): change(getattr(found, first(found)))}


def put(index: Any, value: float) -> Any:
    def change(array: Any) -> Any:
        array = array.copy()
        array[index] = value
        return array

    return of_first(change)


class Own(np.ndarray):
    pass


for _name, _what, _reason, _change in (
    ("ArrayHalf", "float16", "float16", lambda a: a.astype(np.float16)),
    ("ArraySingle", "float32", "float32", lambda a: a.astype(np.float32)),
    ("ArrayInt", "integers", "int64", lambda a: a.astype(np.int64)),
    ("ArrayComplex", "complex numbers", "complex128", lambda a: a.astype(complex)),
    ("ArrayText", "text", "<U32", lambda a: a.astype(str)),
    ("ArrayObject", "objects", "object", lambda a: a.astype(object)),
    ("ArrayStructured", "records", "[('x'", lambda a: np.zeros(a.shape, [("x", "f8")])),
    ("ArrayBig", "big-endian", ">f8", lambda a: a.astype(">f8")),
    ("ArrayMasked", "a masked array", "MaskedArray", lambda a: np.ma.masked_invalid(a)),
    ("ArraySubclass", "a class of its own", "Own", lambda a: a.view(Own)),
    ("ArrayList", "lists", "list", lambda a: a.tolist()),
    ("ArrayNone", "None", "NoneType", lambda a: None),
    ("ArrayFlat", "one dimension fewer", "expected float64", lambda a: a[:, 0]),
    ("ArrayEmpty", "zero samples of one part", "expected float64", lambda a: a[:0]),
    ("ArrayWide", "a column more", "expected float64", lambda a: np.concatenate([a, a[..., :1]], axis=2)),
    ("ArrayBodies", "a body more", "expected float64", lambda a: np.concatenate([a, a[:, :1]], axis=1)),
):
    motion(_name, f"poses of {_what}", _reason, of_first(_change))
for _name, _what, _change in (
    ("ArrayFortran", "in Fortran's order", np.asfortranarray),
    ("ArrayStrided", "each second row of an array", lambda a: np.repeat(a, 2, axis=0)[::2]),
    ("ArrayBackwards", "with negative strides", lambda a: a[::-1].copy()[::-1]),
    ("ArrayReadOnly", "that cannot be written", lambda a: np.frombuffer(a.tobytes()).reshape(a.shape)),
):
    motion(_name, f"poses {_what}", "", of_first(_change), "completed")
motion("ArrayNaN", "NaN in a pose", "is not finite", put((5, 0, 0), np.nan), "not_finite")
motion("ArrayInfinite", "infinity in a pose", "is not finite", put((5, 0, 0), np.inf), "not_finite")
motion("ArrayHuge", "1e300 m", "", put((slice(5, None), 0, 0), 1e300), "completed")


def everywhere(found: Any, change: Any) -> dict[str, Any]:
    return {name: change(getattr(found, name)) for name in ("time", *found.STATE)} | {"contacts": None}


motion(
    "NoSamples",
    "no samples at all",
    "time: empty or decreasing",
    lambda found, scene: everywhere(found, lambda a: a[:0]),
)
motion(
    "Backwards", "time decreases", "time: empty or decreasing", lambda found, scene: {"time": found.time[::-1].copy()}
)
motion("TimeNaN", "time is NaN", "time is not finite", lambda found, scene: {"time": np.full_like(found.time, np.nan)})
motion(
    "TimeTwice",
    "each sample twice",
    "",
    lambda found, scene: everywhere(found, lambda a: np.repeat(a, 2, axis=0)),
    "completed",
)
motion(
    "TimeStands", "time stands still", "its motion goes from 0 to 0 s", lambda found, scene: {"time": 0.0 * found.time}
)
motion(
    "TimeHalf",
    "half of the motion",
    "its motion goes from 0 to",
    lambda found, scene: everywhere(found, lambda a: a[: len(a) // 2]),
)
motion(
    "TimeLater", "a motion that begins later", "its motion goes from 5", lambda found, scene: {"time": found.time + 5.0}
)
motion(
    "BodiesMissing",
    "the motion of one body only",
    "bodies",
    lambda found, scene: {name: getattr(found, name)[:, :1].copy() for name in found.STATE},
)
motion(
    "BodiesNone",
    "the motion of no body",
    "bodies",
    lambda found, scene: {name: getattr(found, name)[:, :0].copy() for name in found.STATE},
)
motion("StepText", "dt is text", "dt is 'x' (str)", lambda found, scene: {"dt": "x"})
motion("StepNegative", "dt is negative", "dt is -1.0 (float)", lambda found, scene: {"dt": -1.0})
motion(
    "StepHuge", "dt of a year", "dt is 3e+07 s", lambda found, scene: {"dt": 3e7} | everywhere(found, lambda a: a[:3])
)
motion("LagInfinite", "infinite velocity_lag", "velocity_lag is inf", lambda found, scene: {"velocity_lag": np.inf})
motion(
    "ToleranceNegative",
    "negative contact_tolerance",
    "contact_tolerance is -1.0",
    lambda found, scene: {"contact_tolerance": -1.0},
)
motion("HashNumber", "state_hash is 5", "state_hash is 5 (int)", lambda found, scene: {"state_hash": 5})
motion("HashBytes", "state_hash is bytes", "state_hash is b'", lambda found, scene: {"state_hash": b"abc"})
motion(
    "HashLong",
    "state_hash of ten million characters",
    "state_hash has 10000000 characters",
    lambda found, scene: {"state_hash": "a" * 10**7},
)
motion(
    "HashColours",
    "state_hash with escape codes",
    "state_hash is '\\x1b[2J' (str)",
    lambda found, scene: {"state_hash": "\x1b[2J"},
)
motion("HashSame", "one hash for all motions", "", lambda found, scene: {"state_hash": "0" * 64}, "completed")
motion(
    "QuaternionLong",
    "quaternions of length 2",
    "orientation",
    lambda found, scene: {"orientation": 2.0 * found.orientation},
    only=3,
)
motion(
    "QuaternionZero",
    "quaternions of length 0",
    "orientation",
    lambda found, scene: {"orientation": 0.0 * found.orientation},
    only=3,
)
motion("ContactsList", "contacts is a list", "contacts is [] (list)", lambda found, scene: {"contacts": []})


def contacts(**changed: Any) -> Any:
    def change(found: Any, scene: Any) -> dict[str, Any]:
        width, rows = len(scene.gravity), 2
        whole, vector = np.zeros(rows, np.int64), np.zeros((rows, width))
        columns = {"point": vector, "normal": vector + 1.0, "gap": vector[:, 0], "impulse": vector}
        given = {"sample": whole, "a": whole, "b": whole + 1} | columns
        return {"contacts": Contacts(**given | changed)}

    return change


two = np.zeros(2, np.int64)
motion("ContactsFar", "contacts of a body that is not there", "contacts.b goes from 9 to 9", contacts(b=two + 9))
motion("ContactsNegative", "contacts of a body before the first", "contacts.a goes from -1 to -1", contacts(a=two - 1))
motion(
    "ContactsSample", "contacts of a sample after the last", "contacts.sample goes from", contacts(sample=two + 10**6)
)
motion("ContactsOrder", "contacts backwards in time", "not in the order of time", contacts(sample=np.array([1, 0])))
motion(
    "ContactsFloat", "bodies as floating-point numbers", "contacts.a is an array of float64", contacts(a=np.zeros(2))
)
motion("ContactsNaN", "contacts nowhere", "contacts.point is", contacts(point=np.full((2, 2), np.nan)))
motion("ContactsNone", "a column of contacts is None", "contacts.gap is None", contacts(gap=None))
motion(
    "ContactsUneven", "columns of other lengths", "contacts.gap is an array of float64 (3,)", contacts(gap=np.zeros(3))
)
motion(
    "ImpactsNaN",
    "impacts at NaN",
    "impacts.time is not finite",
    lambda found, scene: {
        "impacts": Impacts(
            time=np.full(2, np.nan),
            a=two,
            b=two + 1,
            point=np.zeros((2, len(scene.gravity))),
            impulse=np.zeros((2, len(scene.gravity))),
        )
    },
)
motion(
    "ContactsMany",
    "ten million contacts",
    "MiB; allowed: 512",
    lambda found, scene: contacts(
        **{
            name: np.zeros(
                (10**7, *([len(scene.gravity)] if name in ("point", "normal", "impulse") else [])),
                np.int64 if name in ("sample", "a", "b") else float,
            )
            for name in ("sample", "a", "b", "point", "normal", "gap", "impulse")
        }
    )(found, scene),
)


class Elsewhere(Honest):
    """The motion of a scene of its own."""

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        other = scene.model_copy(update={"bodies": scene.bodies[:1], "duration": 0.25})
        return super().simulate(other, dt, settings)


hostile("the motion of another scene", reason="bodies")(Elsewhere)


class OtherSpace(Honest):
    """The motion of a scene of the other dimension."""

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        found = super().simulate(scene, dt, settings)
        other: ClassVar = None
        return other or replace(found) if scene.dimension == 3 else _in_space(found)


def _in_space(found: Any) -> Any:
    from validation.records.trajectory import SpatialTrajectory

    position = np.concatenate([found.pose[..., :2], 0.0 * found.pose[..., :1]], axis=2)
    orientation = np.tile([1.0, 0.0, 0.0, 0.0], (*position.shape[:2], 1))
    return SpatialTrajectory(
        time=found.time,
        dt=found.dt,
        velocity_lag=0.0,
        position=position,
        orientation=orientation,
        velocity=position,
        spin=position,
    )


hostile("a motion in space of a scene in the plane", reason="should be a PlanarTrajectory", only=2)(OtherSpace)
assert all(isinstance(one, Expected) for table in ENGINES.values() for one in table.values())
