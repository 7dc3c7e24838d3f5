"""Engines by name: what a word on the command line means, which engines are present, how one is loaded.

    NAME | dotted.path.to.Class | ./executable,  then optionally  ==VERSION  @PROFILE  :k=v,k=v  in that order

Nothing here imports an engine before `load_engine`: a word can be checked in a process that stays small.
"""

import difflib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, PackageNotFoundError, distributions, entry_points, version
from pathlib import Path
from typing import Any, Literal

from packaging.utils import canonicalize_version
from packaging.version import InvalidVersion, Version

from validation.records.text import LONGEST, one_line

ENTRY_POINT_GROUP = "upright.engines"
ENGINE_PATH = "UPRIGHT_ENGINE_PATH"
"""Environment variable: more folders in which a user's engine is looked for, after the current one."""
SYNTAX = "NAME==VERSION@PROFILE:k=v,k=v, such as pymunk, pymunk@default, pymunk:iterations=5 or ./my_engine"

# Engines that come with Upright, in the order of its tables, and the module and pip name of what each adapts.
OURS: dict[str, tuple[str, str] | None] = {
    "reference": None,
    "contactsim": None,
    "pymunk": ("pymunk", "pymunk"),
    "box2d": ("Box2D", "box2d"),
    "pybullet": ("pybullet", "pybullet"),
    "mujoco": ("mujoco", "mujoco"),
    "rapier": ("rapier3d", "rapier3d"),
    "physx": ("sapien", "sapien"),
    "dart": ("dartpy", "dartpy"),
}
ON_REQUEST = ("contactsim",)
"""Registered, and run where somebody names them: their kernels take a quarter of a minute to compile, and most of the
suite is nothing for them."""
NO_WHEEL = {"pybullet": (3, 12)}  # no wheel from this Python on
LOADS = {
    "pymunk": frozenset({"python"}),
    "box2d": frozenset({"python"}),
    "rapier": frozenset({"python"}),
    "physx": frozenset({"python"}),
    "dart": frozenset({"python"}),
    "pybullet": frozenset({"urdf", "sdf"}),
    "mujoco": frozenset({"mjcf", "urdf"}),
}
"""Languages of models that our engines load as they are."""
CODE = (".py", ".so", ".pyd", ".dylib")
REQUIRED = ("name", "version", "declines", "simulate")

_WORD = re.compile(
    r"(?P<name>[^=@:]+)(==(?P<version>[^=@:]*))?(@(?P<profile>[^=@:]*))?(:(?P<overrides>.*))?", re.DOTALL
)


class EngineNameError(ValueError):
    """A word that names no engine that is here, or an engine that is none; one line, which the user can correct."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """What an engine word means. Cheap: the engine itself comes from `load_engine`."""

    kind: Literal["registered", "class", "executable"]
    name: str  # as registered, the dotted path, or the path of the executable
    version: str | None = None  # wanted; None: the one that is here
    profile: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)  # setting -> text, not yet checked

    @property
    def word(self) -> str:
        """What is loaded: the same for all profiles and overrides."""
        return self.name + (f"=={self.version}" if self.version else "")

    @property
    def label(self) -> str:
        """As typed, without the profile."""
        return self.word + (":" + ",".join(f"{k}={v}" for k, v in self.overrides.items()) if self.overrides else "")


def engine_of(word: str) -> EngineChoice:
    """The choice that `word` makes. Raises EngineNameError for a word that is none or names nothing that is here."""
    found = _WORD.fullmatch(word)
    if not found:
        raise EngineNameError(f"engine {word!r} cannot be read; write {SYNTAX}")
    name, wanted, profile, tail = found["name"], found["version"], found["profile"], found["overrides"]
    if wanted == "" or profile == "" or tail == "":
        raise EngineNameError(f"engine {word!r}: something is missing after ==, @ or :; write {SYNTAX}")
    overrides: dict[str, str] = {}
    for item in tail.split(",") if tail else ():
        key, equals, value = item.partition("=")
        if not (key and equals and value) or "@" in item or value.startswith("="):
            raise EngineNameError(f"engine {word!r}: {item!r} is not a setting k=v; write {SYNTAX}")
        if key in overrides:
            raise EngineNameError(f"engine {word!r}: {key!r} is set twice; set it once")
        overrides[key] = value
    kind, wanted = _kind(name, wanted), wanted and normalised(wanted)
    return EngineChoice(kind=kind, name=name, version=wanted, profile=profile, overrides=overrides)


def names_an_engine(word: str) -> bool:
    """Whether a word that may be a scenario's too is an engine's: one with a version, or a registered one."""
    found = _WORD.fullmatch(word)
    return found is not None and (bool(found["version"]) or found["name"] in _registered())


def present_engines() -> tuple[str, ...]:
    """Names of the registered engines that can be used here: ours first, then others by name."""
    return tuple(name for name in _registered() if _lack(name) is None)


def default_engines() -> tuple[str, ...]:
    """Those of the present ones that are run where none is named."""
    return tuple(name for name in present_engines() if name not in ON_REQUEST)


def unavailable_engines() -> dict[str, str]:
    """Registered engine -> why it cannot be used here."""
    lacks = {name: _lack(name) for name in _registered()}
    return {name: why for name, why in lacks.items() if why is not None}


def load_engine(choice: EngineChoice) -> Any:
    """The engine, imported: an object as `validation.engines.engine.Engine` describes. Raises EngineNameError.

    A dotted path is looked for from the end of the path, after whatever is installed, in the current folder and in
    those of $UPRIGHT_ENGINE_PATH.
    """
    found: Any
    if choice.kind == "executable":
        from validation.engines.executable import Executable

        found = partial(Executable, choice.name)
    else:
        found = _load_registered(choice.name) if choice.kind == "registered" else _load_class(choice.name)
    try:
        engine = found() if isinstance(found, (type, partial)) else found
    except Exception as error:
        raise EngineNameError(f"engine {choice.name!r} cannot be made: {in_a_line(error)}") from error
    missing = [attribute for attribute in REQUIRED if not hasattr(engine, attribute)]
    if missing:
        raise EngineNameError(
            f"engine {choice.name!r} has no {', '.join(missing)}; an engine has {', '.join(REQUIRED)}"
        )
    known = (str(engine.version), installed_version(choice))
    if choice.version is not None and not any(same_version(choice.version, one) for one in known):
        raise EngineNameError(f"engine '{choice.word}': version {engine.version} of {choice.name} is installed")
    return engine


def distribution_of(choice: EngineChoice) -> str | None:
    """What pip calls that which has the engine; None for a program, for ours, and for a module of the user's folder."""
    if choice.kind == "executable":
        return None
    if choice.kind == "class":
        return _distribution_with(choice.name.rpartition(".")[0])
    if choice.name in OURS:
        behind = OURS[choice.name]
        return behind[1] if behind else None
    distribution = _registered()[choice.name].dist
    return distribution.name if distribution else None


@cache
def _distribution_with(module: str) -> str | None:
    """That has this module: as by `packages_distributions`, in a tenth of its time. Where a distribution lists files of
    its package it has to list the module as well: several may have a package `tests`."""
    top = module.partition(".")[0]
    listed, whole = (
        re.compile(rf"^{re.escape(name.replace('.', '/'))}(/|\.[^/,]+,)", re.MULTILINE) for name in (top, module)
    )
    for one in distributions():
        declared, record = (one.read_text("top_level.txt") or "").split(), one.read_text("RECORD") or ""
        if whole.search(record) or (top in declared and not listed.search(record)):
            return one.name
    return None


def installed_version(choice: EngineChoice) -> str | None:
    """Of the distribution behind an engine; None where it has none here."""
    name = distribution_of(choice)
    try:
        return version(name) if name else None
    except PackageNotFoundError:
        return None


def module_of(choice: EngineChoice) -> str:
    """The module whose import loads the engine itself; of a registered or dotted one that of its adapter."""
    if behind := OURS.get(choice.name):
        return behind[0]
    return _registered()[choice.name].module if choice.kind == "registered" else choice.name.rpartition(".")[0]


def code_files(choice: EngineChoice) -> list[Path]:
    """Of a user's engine, what moves bodies: the program, or the files of the module or package that has the class."""
    if choice.kind == "executable":
        return [Path(choice.name)]
    with users_folders_last():
        spec = importlib.util.find_spec(module_of(choice).partition(".")[0])
    if spec is None or not spec.submodule_search_locations:
        return [Path(spec.origin)] if spec and spec.origin else []
    folders = map(Path, spec.submodule_search_locations)
    return [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in CODE]


def normalised(text: str) -> str:
    """One spelling for a version: v3.3.7 is 3.3.7, 1.0-rc1 is 1.0rc1; what is no version stays."""
    try:
        return str(Version(text))
    except InvalidVersion:
        return text


def same_version(a: str | None, b: str | None) -> bool:
    """3.3 and 3.3.0 are."""
    if a is None or b is None:
        return False
    return canonicalize_version(a) == canonicalize_version(b)


# --- what a name stands for ---------------------------------------------------------------------------------


def _kind(name: str, wanted: str | None) -> Literal["registered", "class", "executable"]:
    """Of a name without a version only what is here; another version has an environment of its own."""
    if "/" in name or name.startswith("."):
        path = Path(name)
        if not path.is_file():
            raise EngineNameError(f"engine {name!r}: no such file; give the path of an executable, such as ./my_engine")
        if not os.access(path, os.X_OK):
            raise EngineNameError(f"engine {name!r} is not executable; run: chmod +x {name}")
        return "executable"
    if "." in name and name not in _registered():
        top = name.partition(".")[0]
        if not all(part.isidentifier() for part in name.split(".")):
            raise EngineNameError(f"engine {name!r} is not a dotted path to a class; write {SYNTAX}")
        with users_folders_last():
            if importlib.util.find_spec(top) is None:
                raise EngineNameError(
                    f"unknown engine {name!r}: no module {top!r} is installed or in the current folder"
                )
        return "class"
    if name not in _registered():
        near = difflib.get_close_matches(name.lower(), _registered(), n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise EngineNameError(f"unknown engine {name!r}{hint} Present: {', '.join(present_engines())}")
    if wanted is None and (why := _lack(name)):
        raise EngineNameError(f"engine {name!r} is unavailable: {why}")
    return "registered"


@cache
def _registered() -> dict[str, EntryPoint]:
    """Every registered engine, ours first. One that is registered twice is whichever comes with Upright."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name not in found or point.module.startswith("validation.engines."):
            found[point.name] = point
    return {name: found[name] for name in (*OURS, *sorted(found)) if name in found}


def _lack(name: str) -> str | None:
    """Why a registered engine cannot be used, as far as can be known without importing it; None if nothing is wrong."""
    behind = OURS.get(name)
    if name in OURS and behind is None:
        return None
    if behind is None:
        module = _registered()[name].module.partition(".")[0]
        return None if importlib.util.find_spec(module) else f"its module {module!r} is not installed"
    module, _ = behind
    if importlib.util.find_spec(module):
        return None
    limit = NO_WHEEL.get(name)
    if limit and sys.version_info[:2] >= limit:
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return f"no wheel for this Python ({here}); it has them below {limit[0]}.{limit[1]}"
    return f"not installed; run: pip install 'upright[{name}]'"


# --- loading ------------------------------------------------------------------------------------------------


def _load_registered(name: str) -> Any:
    try:
        return _registered()[name].load()
    except Exception as error:
        raise EngineNameError(f"engine {name!r} cannot be loaded: {in_a_line(error)}") from error


def _load_class(path: str) -> Any:
    module_name, _, class_name = path.rpartition(".")
    try:
        with users_folders_last(permanently=True):
            module = importlib.import_module(module_name)
    except Exception as error:
        raise EngineNameError(f"engine {path!r}: {module_name!r} cannot be imported: {in_a_line(error)}") from error
    if not hasattr(module, class_name):
        near = difflib.get_close_matches(class_name, dir(module), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise EngineNameError(f"unknown engine {path!r}: {module_name!r} has no {class_name!r}{hint}")
    return getattr(module, class_name)


@contextmanager
def users_folders_last(*, permanently: bool = False) -> Iterator[None]:
    """The current folder and those of $UPRIGHT_ENGINE_PATH at the end of the path: a user's file never hides what is
    installed.

    `permanently`: they stay there, because the user's module may import its neighbours later.
    """
    folders = [str(Path.cwd()), *filter(None, os.environ.get(ENGINE_PATH, "").split(os.pathsep))]
    added = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    sys.path += added
    try:
        yield
    finally:
        for folder in () if permanently else added:
            sys.path.remove(folder)


def in_a_line(error: BaseException) -> str:
    """What it is called, and its own words."""
    return f"{type(error).__name__}: {message_of(error)}".removesuffix(": ")


def message_of(error: BaseException) -> str:
    """On one line; an error of somebody else's may have words of any length, or fail when it is asked for them."""
    try:
        return one_line(str(error), LONGEST)
    except BaseException as another:
        return f"its own words cannot be had ({type(another).__name__})"
