"""`upright engines test`: an engine in C keeps the protocol, and each way of not keeping it is told by its name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.effort import few
from tests.validation.command import kept_servers
from validation.engines import engine_of, present_engines
from validation.tools.conformance import Check, conformance

SOURCE = Path(__file__).parents[3] / "docs" / "protocol" / "falling.c"
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: cc is not on the path")

ENGINE = """
class Resting:
    name, version = "resting", "1.0"

    def declines(self, scene):
        [body, *others] = scene.bodies
        still = body.shape.kind == "disc" and not others and not any(body.velocity)
        return None if scene.boundaries and still else "it flies nowhere"

    def simulate(self, scene, dt, settings):
        import numpy as np
        from validation.records.trajectory import Contacts, PlanarTrajectory

        S = round(scene.duration / dt) + 1
        pose = np.zeros((S, 1, 3)) + [0.0, 0.5, 0.0]
        down = np.zeros((S, 2)) + [0.0, -1.0]
        contacts = Contacts(
            sample=np.arange(S), a=np.zeros(S, int), b=np.full(S, MEMBER), point=np.zeros((S, 2)),
            normal=NORMAL * down, gap=np.zeros(S), impulse=IMPULSE * 2.0 * 9.81 * dt * down,
        )
        return PlanarTrajectory(
            time=dt * np.arange(S), pose=pose, twist=np.zeros_like(pose), dt=dt, velocity_lag=0.0, contacts=contacts
        )
"""


@pytest.fixture(autouse=True)
def servers() -> Iterator[None]:
    with kept_servers():
        yield


def compiled(folder: Path, monkeypatch: pytest.MonkeyPatch, right: str = "", wrong: str = "") -> list[Check]:
    """What is said of the engine in C, with one thing in it done another way."""
    text = SOURCE.read_text(encoding="utf-8")
    assert right in text
    (folder / "falling.c").write_text(text.replace(right, wrong) if right else text)
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", "falling", "falling.c"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return conformance(engine_of("./falling"))


def failed(checks: list[Check]) -> list[str]:
    return [f"{check.about}: {check.summary}" for check in checks if check.status == "fails"]


@needs_cc
def test_the_engine_in_c_keeps_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = compiled(tmp_path, monkeypatch)
    assert failed(checks) == []
    notes = [check.summary for check in checks if check.status == "note"]
    assert notes == ["reports no contacts; what they would tell is not tested"]
    declined = [check.summary for check in checks if check.status == "declined"]
    assert {"it is planar", "it knows discs alone"} <= set(declined)
    assert checks[0].summary == "./falling falling 1.0, profiles default, 0 settings"


@needs_cc
@pytest.mark.parametrize(
    ("right", "wrong", "described"),
    few(
        2,
        [
            ("dt, -0.5 * dt, samples", "dt, 0.5 * dt, samples", "velocity lag: declared 0.00208 s, found -0.00208 s"),
            ("p[2] = body[i].angle", "p[2] = body[i].angle - 6.5 * (s > 200)", "angle: off by 6.5 rad"),
            ("body[i].vy += gy * dt", "body[i].vy -= gy * dt", "positions: off by 9.8"),
            ("put(time, samples), ", "", "the bytes end early"),
            ("&body[bodies].x, &body[bodies].y", "&body[bodies].y, &body[bodies].x", "start: off by 1"),
            ("!body[i].fixed)", "1)", "fixed bodies: off by"),
            ('return decline("nothing bounces")', "break", "bounce: end: off by"),
        ],
    ),
)
def test_what_is_not_kept_is_told(
    right: str, wrong: str, described: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert described in "\n".join(failed(compiled(tmp_path, monkeypatch, right, wrong)))


@pytest.mark.parametrize(
    ("member", "normal", "impulse", "described"),
    few(
        2,
        [
            (1, 1, 1, []),
            (1, -1, 1, ["contact normal: off by 2 (allowed 0.001); it points from a to b"]),
            (1, 1, -1, ["it acts on b, over the step that ends at the sample"]),
            (1, 1, 240, ["it acts on b, over the step that ends at the sample"]),  # a force
            (0, 1, 1, ["contacts are of [(0, 0)]; expected (0, 1): bodies are counted first, then boundaries"]),
            (2, 1, 1, ["contacts.b goes from 2 to 2; bodies and boundaries are 0 to 1"]),
        ],
    ),
)
def test_reported_contacts_follow_the_sign_convention(
    member: int, normal: int, impulse: int, described: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"MEMBER": member, "NORMAL": normal, "IMPULSE": impulse}
    constants = "".join(f"{name} = {value}\n" for name, value in values.items())
    (tmp_path / "resting.py").write_text(constants + ENGINE)
    monkeypatch.chdir(tmp_path)
    found = failed(conformance(engine_of("resting.Resting")))
    assert len(found) == len(described)
    assert all(words in line for words, line in zip(described, found))


@pytest.mark.parametrize(("name",), few(1, [(name,) for name in sorted(present_engines(), key="pymunk".__ne__)]))
def test_the_engines_that_come_with_upright_keep_the_protocol(name: str) -> None:
    assert failed(conformance(engine_of(name))) == []


FAULTY = """
import math
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.pymunk.world import World

class Engine(Pymunk):
    def build(self, scene, dt, settings):
        world = super().build(scene, dt, settings)
        world.__class__ = type("Faulty", (World,), FAULT)
        for shape in world.space.shapes:
            shape.friction *= SLIPPERY
            shape.elasticity *= DULL
        for joint in world.space.constraints:
            if hasattr(joint, "anchor_b"):
                joint.anchor_b = joint.anchor_b + (0.3 * LOOSE, 0.0)
        world.velocity_lag *= LAG
        return world

def forgetful(self, pose, twist, time=0.0):
    World.set_state(self, pose, 0.0 * twist, time=time)

def in_body_axes(self, body, force, point=None):
    angle = self.bodies[body].angle
    c, s = math.cos(angle), math.sin(angle)
    World.apply_force(self, body, (c * force[0] - s * force[1], s * force[0] + c * force[1]), point)

"""


@pytest.mark.parametrize(
    ("fault", "described"),
    few(
        2,
        [
            ({}, None),
            ({"SLIPPERY": "0.5"}, "friction: end: off by"),
            ({"LOOSE": "math.nan"}, "revolute: "),
            ({"FAULT": "{'set_state': forgetful}"}, "set_state: flight: goes on from its own state: off by"),
            ({"DULL": "0.5"}, "bounce: end: off by"),
            ({"LOOSE": "1.0"}, "revolute: end: off by"),
            ({"LAG": "-1"}, "flight: velocity lag: declared"),
            ({"FAULT": "{'apply_force': in_body_axes}"}, "apply_force: flight: momentum by a force at the centre: off"),
        ],
    ),
    ids=["none", "friction", "hinge 0/0", "set_state", "restitution", "hinge", "velocity lag", "apply_force"],
)
def test_a_fault_planted_in_an_engine_is_found(
    fault: dict[str, str], described: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"SLIPPERY": "1.0", "DULL": "1.0", "LOOSE": "0.0", "LAG": "1", "FAULT": "{}"} | fault
    constants = "".join(f"{name} = {value}\n" for name, value in values.items())
    (tmp_path / "faulty.py").write_text(FAULTY + constants)
    monkeypatch.chdir(tmp_path)
    found = failed(conformance(engine_of("faulty.Engine")))
    assert any(line.startswith(described) for line in found) if described else found == []


WRONG = """
import numpy as np
from validation.records.trajectory import PlanarTrajectory

class Engine:
    name, version = "wrong", "1.0"

    def declines(self, scene):
        return DECLINES

    def simulate(self, scene, dt, settings):
        S, B = round(scene.duration / dt) + 1, len(scene.bodies)
        pose = np.zeros((S, B, 3))
        good = dict(time=dt * np.arange(S), dt=dt, velocity_lag=0.0, pose=pose, twist=pose)
        return ANSWER
"""


@pytest.mark.parametrize(
    ("declines", "answer", "described"),
    few(
        2,
        [
            ("5", "None", "declines returned 5 (int); it should be the reason as text, or None"),
            ("None", "None", "simulate returned None (NoneType); it should be a PlanarTrajectory"),
            ("None", "dict(state_hash=5)", "state_hash is 5 (int); it should be text"),
            ("None", "dict(pose=pose[:, :, :2])", "pose: float64"),
            ("None", "dict(pose=pose.astype('f4'))", "pose: float32"),
            ("None", "dict(time=good['time'][::-1].copy())", "time: empty or decreasing"),
            ("None", "dict(pose=pose.tolist())", "pose: a list; expected an array"),
            ("None", "dict(dt='fast')", "dt is 'fast' (str); it should be a finite number"),
            ("None", "dict(pose=pose[:, :0], twist=pose[:, :0])", "0 bodies; expected: 3"),
            ("None", "dict(contacts=[1])", "contacts is [1] (list); it should be Contacts"),
        ],
    ),
)
def test_a_wrong_answer_is_told_what_it_should_be_and_ends_its_own_case_only(
    declines: str, answer: str, described: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answer if answer == "None" else f"PlanarTrajectory(**good | {answer})"
    (tmp_path / "wrong.py").write_text(WRONG.replace("DECLINES", declines).replace("ANSWER", answer))
    monkeypatch.chdir(tmp_path)
    checks = conformance(engine_of("wrong.Engine"))
    assert len(checks) > 10  # the others were asked all the same
    assert any(
        check.about == "flight" and described in check.summary and check.status == "fails" for check in checks
    ), checks


def test_an_engine_that_does_not_start_fails_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("class Engine:\n    def __init__(self):\n        raise OSError('no licence')\n")
    monkeypatch.chdir(tmp_path)
    [check] = conformance(engine_of("broken.Engine"))
    assert check.status == "fails" and "no licence" in check.summary
