"""The player in a real browser: jumps, steps, enlarged displacements, arrows with a scale, zoom, words for those who do
not see it, and files. What the first review found missing is quoted where it is tested."""

from __future__ import annotations

import dataclasses
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.scene import parse_scene
from tests.browser import needs_browser, opened_browser
from tests.validation.store.made import falling, tumbling
from validation.records.trajectory import Contacts, PlanarTrajectory, finite_section
from validation.report.motion import Event, Track
from validation.report.player import motion_html

pytestmark = needs_browser

BOXES = [
    {
        "name": name,
        "shape": {"kind": "polygon", "vertices": [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]},
        "mass": 1.0,
        "position": [0.0, height],
    }
    for name, height in (("lower", 0.5), ("upper", 1.5))
]
SCENE = {"dimension": 2, "duration": 0.5, "bodies": BOXES, "boundaries": [{"kind": "half-plane", "name": "ground"}]}
PLANAR = parse_scene(SCENE)
BALLS = [
    {"name": name, "shape": {"kind": "sphere", "radius": 0.5}, "mass": 1.0, "position": [x, 0.0, 2.0]}
    for name, x in (("left", -1.0), ("right", 1.0))
]
SPATIAL = parse_scene({"dimension": 3, "duration": 0.5, "bodies": BALLS})
WEIGHT = 9.81


def resting(shift: float = 0.0) -> PlanarTrajectory:
    """Two boxes on each other; the upper one is `shift` to the right from sample 10 on. Of the pair's two corners the
    engine names one from below and one from above, as the reference does."""
    motion = falling(bodies=2)
    pose = np.zeros_like(motion.pose)
    pose[..., 1] = (0.5, 1.5)
    pose[10:, 1, 0] = shift
    contacts = Contacts(
        sample=np.array([3, 3, 3]),
        a=np.array([0, 1, 0]),
        b=np.array([1, 0, 2]),
        point=np.array([[-0.5, 1.0], [0.5, 1.0], [0.0, 0.0]]),
        normal=np.array([[0.0, 1.0], [0.0, -1.0], [0.0, -1.0]]),
        gap=np.zeros(3),
        impulse=np.array([[0.0, 0.5], [0.0, -0.5], [0.0, -2.0]]) * WEIGHT * motion.dt,
    )
    return dataclasses.replace(motion, pose=pose, twist=np.zeros_like(pose), contacts=contacts)


DIFFERENCE = Event(time=10 / 60, kind="difference", text="first difference from accepted: upper, x", bodies=(1,))


def pair(**given: Any) -> str:
    new = Track(label="now", trajectory=resting(3e-4), events=[DIFFERENCE])
    old = Track(label="accepted", trajectory=resting())
    return motion_html(PLANAR, [new, old], "two boxes", **given)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as found:
        yield found


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    contexts = []

    def shown(page: str, *, width: int = 1200, **given: Any) -> Any:
        path = tmp_path / "motion.html"
        path.write_text(page, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **given))
        opened = contexts[-1].new_page()
        opened.set_default_timeout(20_000)
        failed: list[str] = []
        opened.on("pageerror", lambda error: failed.append(str(error)))
        opened.goto(path.as_uri())
        opened.evaluate("setRunning(false)")
        assert not failed
        return opened

    yield shown
    for context in contexts:
        context.close()


def time_of(page: Any) -> float:
    return float(page.evaluate("now"))


def test_it_steps_from_sample_to_sample(show: Any) -> None:
    """The fault: "Missing: jump to the first difference, steps"; it went by 1/30 s, between the samples."""
    page = show(pair())
    page.keyboard.press("Home")
    assert time_of(page) == 0.0
    page.click("#step")
    page.keyboard.press("ArrowRight")
    assert time_of(page) == pytest.approx(2 / 60, abs=1e-12)
    assert page.inner_text("#time") == "t = 0.0333 s, sample 2 of 29"
    page.click("#stepBack")
    assert time_of(page) == pytest.approx(1 / 60, abs=1e-12)
    page.keyboard.press("End")
    assert time_of(page) == pytest.approx(29 / 60, abs=1e-12)


def test_it_jumps_to_the_first_difference_and_shows_whose_it_is(show: Any) -> None:
    """The fault: "Missing: jump to the first difference"."""
    page = show(pair())
    page.click("#events button:has-text('first difference')")
    assert time_of(page) == pytest.approx(10 / 60, abs=1e-12)
    assert page.inner_text("#what") == "now: first difference from accepted: upper, x"
    assert page.evaluate("marked") == [1]
    thick = """marked => {
      const {drawing} = panels[0], g = drawing.context, widths = [], stroke = g.stroke.bind(g);
      g.stroke = () => { widths.push(g.lineWidth); stroke(); };
      drawing.draw([layerAt(tracks[0], 0, false)], {marked});
      return widths.filter(wide => wide === 3).length;
    }"""
    assert [page.evaluate(thick, marked) for marked in ([1], 1, None)] == [1, 1, 0]
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    assert time_of(page) == pytest.approx(10 / 60, abs=1e-12)


def test_a_third_of_a_millimetre_is_seen_when_it_is_enlarged_and_the_picture_says_so(show: Any) -> None:
    """The fault: "Missing: ... exaggerated displacement": 0.3 mm is invisible beside a box of 1 m."""
    page = show(pair(ghost=True))
    seen = """factor => {
      element("exaggerate").value = Math.log10(factor); element("from").value = "1";
      const drawing = panels[0].drawing, words = [], traced = [];
      drawing.words = text => words.push(text);
      drawing.traceBody = (line, poses, body) => traced.push([body, drawing.toScreen(poses.subarray(3, 5))[0]]);
      element("exaggerate").oninput(); goTo(0.4);
      return [traced[1][1], traced[3][1], words.join(" ")];
    }"""
    old, new, words = page.evaluate(seen, 1)
    assert abs(new - old) < 0.1 and "enlarged" not in words, "pixels"
    old, new, words = page.evaluate(seen, 1000)
    assert new - old > 20.0 and "displacements from accepted enlarged \u00d7 1000" in words


def test_rotations_are_enlarged_in_the_plane_and_in_space(show: Any) -> None:
    page = show(pair())
    planar = page.evaluate("Array.from(exaggerated(Float64Array.of(1, 2.5, 0.3), Float64Array.of(1, 2, 0.1), 3, true))")
    assert planar == pytest.approx([1.0, 3.5, 0.7])

    def turned(angle: float) -> str:
        return f"Float64Array.of(0, 0, 0, {math.cos(angle / 2)}, 0, 0, {math.sin(angle / 2)})"

    spatial = page.evaluate(f"Array.from(exaggerated({turned(0.21)}, {turned(0.2)}, 100, false))")
    assert spatial[3:] == pytest.approx([math.cos(0.6), 0.0, 0.0, math.sin(0.6)])


def test_forces_are_arrows_of_one_sign_with_a_scale_in_newtons(show: Any) -> None:
    """The faults: "Contact forces of the reference are drawn up at one corner of a pair and down at the other", and
    "Missing: ... arrow heads and scale"."""
    page = show(pair())
    arrows, words, per_newton = page.evaluate(
        """() => {
      const {drawing} = panels[0], arrows = [], words = [];
      drawing.arrow = (from, to) => arrows.push([...from, ...to]);
      drawing.words = text => words.push(text);
      goTo(0.05);
      return [arrows, words, scene.forceScale * drawing.scale];
    }"""
    )
    *forces, scale = arrows
    up = [y - ty for _, y, _, ty in forces]
    assert up == pytest.approx([per_newton * WEIGHT * share for share in (0.5, 0.5, 2.0)], rel=1e-4)
    newtons = float(re.fullmatch(r"(\d+) N", words[-1])[1])  # type: ignore[index]
    assert scale[2] - scale[0] == pytest.approx(per_newton * newtons)


def test_a_force_stays_on_its_body_until_the_next_report(show: Any) -> None:
    """Reported at 0.05 s; the upper box is 0.2 m further right from 0.167 s on."""
    page = show(motion_html(PLANAR, [Track(label="x", trajectory=resting(0.2))], "x"))
    starts = """time => {
      const {drawing} = panels[0], found = [];
      drawing.arrow = from => found.push(drawing.toWorld(...from)[0]);
      goTo(time);
      return found.slice(0, 3);
    }"""
    assert page.evaluate(starts, 0.05) == pytest.approx([-0.5, 0.5, 0.0])
    assert page.evaluate(starts, 0.18) == pytest.approx([-0.3, 0.7, 0.0])


def test_a_pull_ends_where_its_path_is_now_and_lets_go(show: Any) -> None:
    """It goes from (0, 2) to (2, 2) m between 0.1 and 0.3 s; before and after, its path alone is drawn."""
    spring = {"a": "upper", "anchor_a": [0.5, 0.0], "anchor_b": [0.0, 2.0], "stiffness": 1.0}
    spring["anchor_path"] = [[0.1, [0.0, 2.0]], [0.3, [2.0, 2.0]]]
    pulled = parse_scene({**SCENE, "format": 2, "springs": [spring]})
    page = show(motion_html(pulled, [Track(label="x", trajectory=resting())], "x"))
    drawn = """time => {
      let found = null;
      panels[0].drawing.drawPull = (...given) => { found = given; };
      goTo(time);
      return found;
    }"""
    path = [[0.0, 2.0], [2.0, 2.0]]
    for time, end in ((0.05, None), (0.1, [0.0, 2.0]), (0.25, [pytest.approx(1.5), 2.0]), (0.3, None), (0.4, None)):
        assert page.evaluate(drawn, time) == [[0.5, 1.5], end, path]
    assert "a pull, along its path" in page.inner_text(".key")
    assert "pull" not in show(pair()).inner_text(".key")


def test_the_wheel_zooms_about_the_pointer_a_drag_pans_and_reset_brings_all_back(show: Any) -> None:
    """The fault: "Missing: ... zoom"."""
    page = show(pair())
    box = page.query_selector("#panels canvas").bounding_box()
    x, y = box["x"] + 100, box["y"] + 120
    world = "([x, y]) => panels[0].drawing.toWorld(x, y)"
    before = page.evaluate(world, [100, 120])
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    page.wait_for_function("camera.zoom > 1.2")
    assert page.evaluate(world, [100, 120]) == pytest.approx(before, abs=0.02), "m; the pixel of the pointer is rounded"
    page.mouse.down()
    page.mouse.move(x + 30, y + 10, steps=3)
    page.mouse.up()
    assert page.evaluate(world, [130, 130]) == pytest.approx(before, abs=0.02)
    page.click("#reset")
    assert page.evaluate(world, [100, 120]) == pytest.approx(before) and not page.evaluate("camera.moved")


def test_two_fingers_pinch(show: Any) -> None:
    page = show(pair())
    page.evaluate(
        """() => {
      const canvas = panels[0].drawing.canvas, {left, top} = canvas.getBoundingClientRect();
      const send = (type, pointerId, x) => canvas.dispatchEvent(
        new PointerEvent(type, {pointerId, pointerType: "touch", clientX: left + x, clientY: top + 200}));
      send("pointerdown", 1, 150); send("pointerdown", 2, 250);
      send("pointermove", 1, 100); send("pointermove", 2, 300);
      send("pointerup", 1, 100); send("pointerup", 2, 300);
    }"""
    )
    assert page.evaluate("camera.zoom") == pytest.approx(2.0, rel=1e-3)


def test_in_space_a_drag_turns_and_the_body_at_a_point_is_the_one_in_front(show: Any) -> None:
    page = show(motion_html(SPATIAL, [Track(label="x", trajectory=tumbling())], "space"))
    poses = "Float64Array.of(-1, 0, 2, 1, 0, 0, 0, 1, 0, 2, 1, 0, 0, 0)"
    found = """poses => {
      const {drawing} = panels[0], at = p => drawing.bodyAt(...drawing.toScreen(p), poses);
      const [x, y] = drawing.toScreen([1, 0, 2]), back = drawing.toScreen(drawing.toWorld(x + 5, y - 7, [1, 0, 2]));
      return [at([-1, 0, 2]), at([1, 0, 2]), at([0, 0, 9]), back[0] - x, back[1] - y];
    }"""
    assert page.evaluate(f"({found})({poses})") == pytest.approx([0, 1, -1, 5, -7])
    box = page.query_selector("#panels canvas").bounding_box()
    before = page.evaluate("[camera.azimuth, camera.zoom]")
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 100, steps=2)
    page.mouse.up()
    azimuth, zoom = page.evaluate("[camera.azimuth, camera.zoom]")
    assert azimuth < before[0] and zoom == before[1]
    page.evaluate("camera.azimuth = Math.PI / 2; camera.elevation = 0; show()")  # along x, from its far end
    assert page.evaluate(f"({found})({poses})")[:2] == [1, 1], "the right one hides the left one"


def test_who_does_not_see_it_is_told_what_it_shows(show: Any) -> None:
    """The fault: "the canvas has neither role nor label"."""
    page = show(pair())
    page.evaluate("goTo(0.05)")
    for canvas in page.query_selector_all("canvas:not([aria-hidden])"):
        assert canvas.get_attribute("role") == "img" and canvas.get_attribute("aria-label")
    label = page.get_attribute("#panels canvas", "aria-label")
    assert label == "motion of now: 2 bodies (lower, upper); at 0.0500 s: 0 contact points, 3 contact forces"
    for control in page.query_selector_all("button, select, input"):
        name = control.evaluate("e => e.ariaLabel || (e.labels && e.labels[0] ? e.labels[0].innerText : e.innerText)")
        assert name and re.search("[a-zA-Z]", name), control.evaluate("e => e.outerHTML")
    assert page.get_attribute("#slider", "aria-valuetext") == "0.0500 s of 0.4833 s"


def test_it_does_not_start_for_who_wants_less_motion(show: Any, browser: Any) -> None:
    page = show(pair(), reduced_motion="reduce")
    page.reload()
    assert page.inner_text("#play") == "Play"
    page.keyboard.press(" ")
    assert page.inner_text("#play") == "Pause"


def test_nothing_is_cut_off_on_a_telephone_and_both_motions_are_seen_at_once(show: Any) -> None:
    page = show(pair(), width=390)
    assert page.evaluate("panels.length") == 1
    for over in (False, True):
        page.evaluate(f"setOver({str(over).lower()})")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = "[...document.querySelectorAll('button, select')].filter(e => e.offsetParent && e.offsetHeight < 24).length"
    assert page.evaluate(small) == 0


def test_words_stand_out_by_four_and_a_half_to_one_in_light_and_dark(show: Any) -> None:
    """The fault: "Light 12 px words at 3.89:1" (WCAG 2.2, 1.4.3)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for palette in show(pair()).evaluate("Object.values(PALETTES)"):
        words = ("text", "soft", "force", "contact", *(f"t{i}" for i in range(6)))
        for name in words:
            light, dark = sorted((luminance(palette[name]), luminance(palette["back"])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def saved(page: Any, button: str) -> bytes:
    with page.expect_download() as found:
        page.click(button)
    return Path(found.value.path()).read_bytes()


def test_the_picture_the_motion_and_the_page_are_saved_as_files(show: Any) -> None:
    from PIL import Image

    page = show(pair())
    picture = Image.open(io.BytesIO(saved(page, "#png")))
    wide = page.evaluate("panels.length * size")
    assert picture.format == "PNG" and picture.width == 2 * wide
    moving = Image.open(io.BytesIO(saved(page, "#gif")))
    assert (moving.format, moving.width, moving.n_frames) == ("GIF", wide, 10)  # type: ignore[attr-defined]
    assert 9 * moving.info["duration"] == pytest.approx(483, abs=60), "ms, in real time"
    copy = saved(page, "#html").decode()
    again = show(copy)
    assert again.evaluate("JSON.stringify(data)") == page.evaluate("JSON.stringify(data)")
    assert again.evaluate("panels.length") == 2 and not re.search(r"https?:|src=|@import", copy)


def test_a_motion_that_ends_early_says_why_and_is_jumped_to(show: Any) -> None:
    """The fault: "A failed case shows the accepted motion only, without saying that its own is missing, and not its
    finite part"."""
    broken = resting()
    broken.pose[12:] = np.nan
    part = finite_section(broken)
    assert part is not None
    new = Track(label="now", trajectory=part, ended="not finite; shown up to its last finite sample")
    tracks = [new, Track(label="accepted", trajectory=resting())]
    page = show(motion_html(PLANAR, tracks, "x", absent=["gone: crashed"]))
    assert "not finite; shown up to its last finite sample" in page.inner_text("figcaption")
    assert page.inner_text("#absent") == "gone: crashed"
    page.keyboard.press("Home")  # it has been playing since it was opened
    page.keyboard.press("PageDown")
    assert time_of(page) == pytest.approx(11 / 60, abs=1e-12)
    page.evaluate("() => { window.seen = []; panels[0].drawing.words = w => seen.push(w); goTo(0.4); }")
    assert "now ended at 0.1833 s" in page.evaluate("seen")
