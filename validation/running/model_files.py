"""The files of a model: which there are, below which root, and its start. Nothing is read beyond the root.

The root is the folder that a user names; else, where the model lies in an installed package, that package's; else the
git tree's; else that of the nearest package.xml; else the model's own folder.
"""

import stat
import sysconfig
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
from pydantic import ValidationError

from scenarios.native import ENDINGS, Controls, Language, Model, ModelFile, Start
from scenarios.scene_error import SceneError

LANGUAGES: dict[str, Language] = {"mujoco": "mjcf", "mujocoinclude": "mjcf", "robot": "urdf", "sdf": "sdf"}
MOST_BYTES = 256 * 2**20  # of all files together
MOST_OF_ONE = 64 * 2**20
MOST_FILES = 5000
MOST_ELEMENTS = 50_000  # of XML, in all files; a hundred thousand geoms take MuJoCo minutes to load
MOST_INCLUDES = 200  # of XML files
Element = tuple[str, dict[str, str]]  # tag, attributes
REFERS = frozenset({"file", "filename", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"})
FOLDERS = ("meshdir", "texturedir", "assetdir")
MOST_STARTS = 1000  # in a folder
MOST_NUMBERS = 100_000  # of a start
CONTROLS = ("controls", "control_times", "control_rate")
"""Of a start: controls that are played, and their times, s, or how many there are in a second."""
SOMETHING = "give the path of a file"


def is_model(word: str) -> bool:
    """Whether what was typed is the path of a model, not a scenario's."""
    return word.casefold().endswith(ENDINGS)


def read_model(word: str, *, root: str = "", start: str = "") -> Model:
    """The model in a file with all that it refers to. Raises SceneError, one line."""
    path = Path(word)
    try:
        _must_be_a_file(path)
        path = path.resolve()
        top = _root_of(path) if not root else _given_root(path, Path(root))
    except OSError as error:
        raise SceneError(f"{word}: cannot be read ({error.strerror}); {SOMETHING}") from None
    return _Reader(path, top).model(_start_of(start))


def _must_be_a_file(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise SceneError(f"{path}: a folder, a device or a pipe, not a file; {SOMETHING}")


def _root_of(path: Path) -> Path:
    for key in ("purelib", "platlib"):
        site = Path(sysconfig.get_path(key)).resolve()
        if site in path.parents:
            return _package(path, site)
    for folder in path.parents:
        if folder.name in ("site-packages", "dist-packages") or any(folder.glob("*.dist-info")):  # pip --target
            return _package(path, folder)
    marks = ".git", "package.xml"
    found = (folder for mark in marks for folder in path.parents if (folder / mark).exists())
    return next(found, path.parent)


def _package(path: Path, site: Path) -> Path:
    """The top folder of the package in which the model lies."""
    steps = path.relative_to(site).parts
    return site / steps[0] if len(steps) > 1 else path.parent


def _given_root(path: Path, root: Path) -> Path:
    if not root.is_dir():
        raise SceneError(f"--root: {root}: no such folder; give a folder that the model is in")
    root = root.resolve()
    if root not in path.parents:
        raise SceneError(f"--root: {path.name} is not in {root}; give a folder that the model is in")
    return root


class _Reader:
    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root = path, root
        self.found: dict[str, bytes] = {}
        self.total = self.elements = 0
        self.folders: dict[str, None] = {"": None}  # in which assets are looked for, as the model has them
        self.asked: list[tuple[Path, str]] = []  # by which file, which
        self.language: Language = "mjcf"

    def model(self, start: Start) -> Model:
        self._read_xml(self.path, (), main=True)
        for by, text in self.asked:
            self._read_asset(by, text)
        return Model(
            language=self.language,
            file=self._below(self.path),
            files=tuple(ModelFile.of(name, content) for name, content in sorted(self.found.items())),
            start=start,
        )

    def _below(self, path: Path) -> str:
        return PurePosixPath(path.relative_to(self.root)).as_posix()

    def _read_xml(self, path: Path, through: tuple[Path, ...], *, main: bool = False) -> None:
        if path in through:
            raise SceneError(f"{self._below(path)}: includes itself, by {self._below(through[-1])}; mend the file")
        if len(through) > MOST_INCLUDES:
            raise SceneError(f"{self._below(path)}: more than {MOST_INCLUDES} files deep; mend the file")
        content = self._content(path)
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise SceneError(f"{self._below(path)}: has a DOCTYPE, of which entities come; leave it out")
        elements = _elements(content)
        if main:
            self.language = self._language_of(path, elements)
        self.elements += len(elements)
        if self.elements > MOST_ELEMENTS:
            allowed = f"allowed: {MOST_ELEMENTS} in all files"
            raise SceneError(f"{self._below(path)}: the model has {self.elements} elements of XML; {allowed}")
        for tag, attributes in elements:
            self._refer(path, tag, attributes, through)

    def _language_of(self, path: Path, elements: list[Element]) -> Language:
        if not elements:
            raise SceneError(f"{self._below(path)}: not XML; give a file of MJCF, URDF or SDF")
        first = elements[0][0]
        if first not in LANGUAGES:
            allowed = "allowed: <mujoco>, <robot> or <sdf>, of MJCF, URDF or SDF"
            raise SceneError(f"{self._below(path)}: begins with <{first:.40}>; {allowed}")
        return LANGUAGES[first]

    def _refer(self, path: Path, tag: str, attributes: Mapping[str, str], through: tuple[Path, ...]) -> None:
        for name in FOLDERS:
            if folder := attributes.get(name):
                self._check_path(path, folder)
                self.folders[folder] = None
        for name in REFERS.intersection(attributes):
            text = attributes[name]
            if tag in ("include", "model", "attach") and text.casefold().endswith(ENDINGS):
                candidates = dict.fromkeys(base / text for base in (self.path.parent, path.parent))
                self._check_path(path, text)
                for included in candidates:
                    if included.exists():
                        self._read_xml(self._inside(path, included, text), (*through, path))
            elif text:
                self.asked.append((path, text))

    def _check_path(self, by: Path, text: str) -> None:
        if text.startswith("/") or (len(text) > 1 and text[1] == ":"):
            allowed = "allowed: a path relative to the model"
            raise SceneError(f"{self._below(by)}: refers to {text!r:.200}, an absolute path; {allowed}")

    def _inside(self, by: Path, path: Path, text: str) -> Path:
        """Raises SceneError where the path, links followed, leads out of the root."""
        found = path.resolve()
        if self.root not in found.parents:
            hint = f"which is not in {self.root}; give --root"
            raise SceneError(f"{self._below(by)}: refers to {text!r:.200}, {hint}")
        return found

    def _read_asset(self, by: Path, text: str) -> None:
        """Wherever an engine may look for it; one that is nowhere is the engine's to report."""
        packaged = ""
        if text.startswith(("package://", "model://")):
            packaged = text = text.partition("://")[2].lstrip("/")
            bases = [self.root.parent, self.root]
            names = [text, text.partition("/")[2]]
        else:
            self._check_path(by, text)
            bases, names = [], [text]
        names.append(PurePosixPath(text).name)
        bases += [base / folder for base in (self.path.parent, by.parent) for folder in self.folders]
        if self.language != "mjcf":  # pybullet goes on to the folders above
            bases += [base for base in by.parents if base == self.root or self.root in base.parents]
        for candidate in dict.fromkeys(base / name for base in bases for name in names if name):
            if candidate.is_file():
                inside = self._inside(by, candidate, text)
                steps = _lexical(candidate, self.root)
                self._add(Path(self.root, *steps), inside)
                if packaged and steps != (lies := PurePosixPath(packaged).parts) and ".." not in lies:
                    self._add(Path(self.root, *lies), inside, again=True)  # below the package's name, as pybullet asks

    def _add(self, path: Path, source: Path, *, again: bool = False) -> None:
        """`again`: under another name, which counts once."""
        name = self._below(path)
        if name in self.found:
            return
        size = 0 if again else source.stat().st_size
        if size > MOST_OF_ONE:
            raise SceneError(f"{name}: {size / 2**20:.1f} MiB; allowed: {MOST_OF_ONE / 2**20:.0f} MiB in one file")
        if self.total + size > MOST_BYTES or len(self.found) == MOST_FILES:
            most = f"{MOST_BYTES / 2**20:.0f} MiB in {MOST_FILES} files"
            raise SceneError(f"{name}: {size / 2**20:.1f} MiB; allowed: for all files of a model {most}")
        self.total += size
        self.found[name] = source.read_bytes()

    def _content(self, path: Path) -> bytes:
        try:
            self._add(path, path)
        except OSError as error:
            raise SceneError(f"{path}: cannot be read ({error.strerror}); {SOMETHING}") from None
        return self.found[self._below(path)]


def _lexical(path: Path, root: Path) -> tuple[str, ...]:
    """The steps from the root to a path as it is written: links stay links, for the engine asks by that name."""
    steps: list[str] = []
    for step in path.parts:
        if step == "..":
            steps.pop()
        elif step != ".":
            steps.append(step)
    try:
        return Path(*steps).relative_to(root).parts
    except ValueError:
        return path.resolve().relative_to(root).parts


def _elements(content: bytes) -> list[Element]:
    """In order; engines read more than what is well-formed: attributes without a space between, dashes in
    a comment."""
    try:
        return [(element.tag, _attributes(element)) for element in ElementTree.fromstring(content).iter()]
    except (ElementTree.ParseError, ValueError, LookupError):
        lenient = _Lenient()
        lenient.feed(content.decode("utf-8", "replace"))
        return lenient.elements


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    """Of an element, and the file that one of SDF has for its text."""
    text = (element.text or "").strip()
    return dict(element.attrib) | ({"filename": text} if element.tag == "uri" and text else {})


class _Lenient(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))


# --- the start -------------------------------------------------------------------------------------------------------


def starts_in(text: str) -> list[str]:
    """The files of a folder, in the order of their names; else the start itself. Raises SceneError."""
    if not text or not Path(text).is_dir():
        return [text]
    found = sorted(str(path) for path in Path(text).glob("*.npz"))
    if not 0 < len(found) <= MOST_STARTS:
        raise SceneError(f"--from: {text}: a folder with {len(found)} .npz files; allowed: 1 to {MOST_STARTS}")
    return found


def _start_of(text: str) -> Start:
    """Of a keyframe's name, or a file of numpy arrays. Raises SceneError."""
    if not text:
        return Start()
    if not text.endswith(".npz"):
        return Start(keyframe=text)
    try:
        with np.load(text, allow_pickle=False) as given:
            values = {name: given[name] for name in given.files}
    except OSError as error:
        raise SceneError(f"--from: {text}: cannot be read ({error.strerror or 'no archive'}); {SOMETHING}") from None
    except Exception as error:  # of an archive that is none, zipfile and numpy raise what they like
        words = " ".join(str(error).split())[:200]
        raise SceneError(f"--from: {text}: no archive of numpy arrays ({words}); write one by numpy.savez") from None
    for name, array in values.items():
        if array.dtype.kind not in "fiu" or array.size > MOST_NUMBERS:
            allowed = f"allowed: at most {MOST_NUMBERS} numbers"
            raise SceneError(f"--from: {text}: {name!r:.60} is an array of {array.dtype} {array.shape}; {allowed}")
        if not np.isfinite(array).all():
            raise SceneError(f"--from: {text}: {name!r:.60} is not finite; allowed: finite numbers")
    controls = _controls_of(text, {name: values.pop(name) for name in CONTROLS if name in values})
    found = {name: tuple(np.asarray(array, np.float64).ravel().tolist()) for name, array in values.items()}
    return Start(values=found, controls=controls)


def _controls_of(text: str, given: Mapping[str, Any]) -> Controls | None:
    """Of a series of controls, at the times or the rate that are given with it; else one for each time step."""
    if not given:
        return None
    if "controls" not in given:
        raise SceneError(f"--from: {text}: {', '.join(given)} without controls; give the array controls, a row a time")
    if len(given) > 2:
        raise SceneError(f"--from: {text}: control_times and control_rate; allowed: one of them")
    rows = np.asarray(given["controls"], np.float64)
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or not rows.size:
        raise SceneError(f"--from: {text}: controls is of shape {rows.shape}; allowed: rows, one number an actuator")
    times: tuple[float, ...] = ()
    if "control_times" in given:
        times = tuple(np.asarray(given["control_times"], np.float64).ravel().tolist())
    elif "control_rate" in given:
        rate = np.asarray(given["control_rate"], np.float64).ravel()
        if rate.size != 1 or not rate[0] > 0.0:
            allowed = "allowed: one number above 0, in Hz"
            raise SceneError(f"--from: {text}: control_rate is {rate.tolist()!s:.60}; {allowed}")
        times = tuple((np.arange(len(rows)) / rate[0]).tolist())
    try:
        return Controls(times=times, rows=tuple(map(tuple, rows.tolist())))
    except ValidationError as error:
        raise SceneError(f"--from: {text}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
