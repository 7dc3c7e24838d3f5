"""docs/gallery.md and docs/how-it-works.md: examples run and print what is said there; pictures show what was computed.

Beside the tests of the located mode, whose fixture compiles its kernels in one process.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

from reference_engine import Body, Bowl, HalfPlane, World, box, simulate

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 60_000  # bytes of a picture
KNOWN = ("ladder", "bowl", "rope", "stack", "backspin")  # motions in closed form, which no change may move


def gallery() -> ModuleType:
    """ci/ is no package: nothing imports it."""
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "ci" / "gallery.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


GALLERY = gallery()
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
EXAMPLES = GALLERY.examples(PAGE)
LECTURE, REFERENCE = (
    re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    for page in ("how-it-works.md", "reference.md")
)


@contextmanager
def compiled_once(code: str) -> Iterator[None]:
    """Faithful kernels are compiled by one process: the lock of their own tests."""
    if "faithful" not in code or os.environ.get("NUMBA_DISABLE_JIT"):
        yield
        return
    with (Path(os.environ["NUMBA_CACHE_DIR"]) / "faithful.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)


def agree(printed: str, code: str) -> None:
    """With the comment at the end of the code, to its last digits."""
    shown, said = numbers(printed), numbers(code.rsplit("# ", 1)[1])
    assert len(shown) == len(said) > 0
    for number, value in zip(shown, said):
        assert abs(float(number) - float(value)) <= 0.6 * 10.0 ** -len(value.partition(".")[2]), (shown, said)


def length(line: ElementTree.Element) -> float:
    return float(np.hypot(*(float(line.get(f"{c}2", "")) - float(line.get(f"{c}1", "")) for c in "xy")))


def test_examples_pictures_and_what_is_drawn_of_them_are_the_same() -> None:
    assert PAGE.count("```python") == len(EXAMPLES) == PAGE.count("](gallery/")
    assert set(EXAMPLES) == set(GALLERY.SHOTS) == {path.stem for path in (ROOT / "docs" / "gallery").iterdir()}
    for name in EXAMPLES:
        picture = (ROOT / "docs" / "gallery" / f"{name}.svg").read_text(encoding="utf-8")
        assert len(picture.encode()) < LARGEST, name
        ElementTree.fromstring(picture)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_the_page_says_to_the_last_digit_there(name: str, capsys) -> None:
    with compiled_once(EXAMPLES[name]):
        world, motion = GALLERY.computed(EXAMPLES[name])
    agree(capsys.readouterr().out, EXAMPLES[name])
    assert motion.time[-1] >= GALLERY.SHOTS[name].times[-1]
    assert len(world.bodies) == motion.pose.shape[1]


@pytest.mark.parametrize("code", LECTURE, ids=lambda code: code.split("=")[0].splitlines()[-1].strip())
def test_the_sums_of_the_lecture_come_out_as_it_says(code: str, capsys) -> None:
    exec(code, {})
    agree(capsys.readouterr().out, code)


def test_the_examples_of_the_reference_run() -> None:
    assert len(REFERENCE) > 0
    for code in REFERENCE:
        names: dict = {}
        with compiled_once(code):
            exec(code, names)
        assert np.isfinite(names["motion"].pose).all()


@pytest.mark.parametrize("name", KNOWN)
def test_a_picture_is_the_one_that_its_example_gives_now(name: str) -> None:
    now = GALLERY.picture(*GALLERY.computed(EXAMPLES[name]), GALLERY.SHOTS[name])
    cached = (ROOT / "docs" / "gallery" / f"{name}.svg").read_text(encoding="utf-8")
    a, b = (np.array([float(x) for x in numbers(text)]) for text in (now, cached))
    assert a.shape == b.shape
    assert np.abs(a - b).max() < 1.0  # px; round-off decides the last digit, a tenth


def test_red_lines_under_a_block_are_as_long_as_half_its_weight_and_point_up() -> None:
    ground = Body(shape=HalfPlane(), fixed=True)
    world = World(bodies=(ground, Body(shape=box(1.0, 1.0), position=(0.0, 0.5), mass=2.0)))
    motion = simulate(world, 0.5, 0.25)
    drawn = ElementTree.fromstring(GALLERY.picture(world, motion, GALLERY.Shot((0.5,))))
    *forces, scale = drawn.iter(f"{SVG}line")
    (label,) = drawn.iter(f"{SVG}text")
    newtons_per_pixel = float(str(label.text).removesuffix(" N")) / length(scale)
    assert [length(line) * newtons_per_pixel for line in forces] == pytest.approx([9.81, 9.81], rel=5e-3)
    assert all(line.get("x1") == line.get("x2") for line in forces)
    assert all(float(line.get("y2", "")) < float(line.get("y1", "")) for line in forces)  # y goes down in a picture


def test_friction_tilts_the_red_line_against_the_slide() -> None:
    ground = Body(shape=HalfPlane(), fixed=True)
    world = World(bodies=(ground, Body(shape=box(1.0, 1.0), position=(0.0, 0.5), velocity=(3.0, 0.0))), friction=0.25)
    _, force = GALLERY.force_lines(simulate(world, 0.5, 0.25), 1)
    assert force[:, 1].sum() == pytest.approx(9.81, rel=1e-9)
    assert force[:, 0] == pytest.approx(-0.25 * force[:, 1], rel=1e-9)


def test_a_half_plane_is_drawn_up_to_its_edge_and_not_beyond() -> None:
    """Turned by 45 degrees about (1, 0): nothing above the line, and far along it both ways."""
    (ground,) = GALLERY.loops(HalfPlane())
    x, y = GALLERY.turned(ground, np.array([1.0, 0.0, np.pi / 4])).T
    height = (y - (x - 1.0)) / np.sqrt(2.0)
    assert height.max() == pytest.approx(0.0, abs=1e-12)
    on_edge = np.abs(height) < 1e-9
    assert np.ptp(x[on_edge]) == pytest.approx(2.0 * GALLERY.FAR / np.sqrt(2.0))


def test_a_bowl_is_all_that_lies_outside_of_its_circle() -> None:
    circle, around = GALLERY.loops(Bowl(2.0))
    assert np.hypot(*circle.T) == pytest.approx(2.0)
    assert np.abs(around).min() == GALLERY.FAR
