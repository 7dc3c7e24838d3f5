"""Models of a user's own: which files are read, below which root, and what commands make of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scenarios.native import Model, ModelFile
from scenarios.scene_error import SceneError
from tests.validation.command import upright
from validation.running.model_files import MOST_BYTES, MOST_OF_ONE, read_model

FALLING = (
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
    "<body name='crate' pos='0 0 0.2'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "{more}</worldbody>{beside}</mujoco>"
)
PLAIN = FALLING.format(more="", beside="")
HELD = (
    "<body name='arm' pos='1 0 1'><joint name='hinge' axis='0 1 0'/>"
    "<geom type='sphere' size='0.1' pos='0.2 0 0'/></body>"
)
DRIVEN = FALLING.format(
    more=HELD,
    beside="<actuator><motor name='motor' joint='hinge'/></actuator>"
    "<tendon><fixed name='sum' limited='true' range='-9 9'><joint joint='hinge' coef='1'/></fixed></tendon>"
    "<keyframe><key name='on' qpos='0 0 0.1 1 0 0 0 0' ctrl='3'/></keyframe>",
)  # fmt: skip


def names(model: Model) -> list[str]:
    return [one.path for one in model.files]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")


def test_a_model_has_all_files_that_it_refers_to_and_no_others(tmp_path: Path) -> None:
    for folder in ("robot/meshes", "robot/parts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "package.xml").write_text("<package/>", encoding="utf-8")
    write(
        tmp_path / "robot",
        main="<mujoco><compiler meshdir='meshes'/><include file='parts/arm.xml'/></mujoco>",
        other="<mujoco/>",
    )
    write(tmp_path / "robot/parts", arm="<mujocoinclude><asset><mesh file='a.stl'/></asset></mujocoinclude>")
    (tmp_path / "robot/meshes/a.stl").write_bytes(b"stl")
    (tmp_path / "robot/meshes/b.stl").write_bytes(b"other")
    model = read_model(str(tmp_path / "robot/main.xml"))
    assert model.file == "robot/main.xml" and model.language == "mjcf"
    assert names(model) == ["robot/main.xml", "robot/meshes/a.stl", "robot/parts/arm.xml"]
    assert model.files[1].content() == b"stl"


def test_what_engines_read_though_it_is_not_well_formed_is_read(tmp_path: Path) -> None:
    text = PLAIN.replace(
        "<worldbody>", "<!-- a -- b --><asset><texture name='t'type='2d' file='a.png'/></asset><worldbody>"
    )
    write(tmp_path, model=text)
    (tmp_path / "a.png").write_bytes(b"png")
    assert names(read_model(str(tmp_path / "model.xml"))) == ["a.png", "model.xml"]


@pytest.mark.parametrize("mark", [".git", "package.xml", ""])
def test_the_root_is_the_git_tree_else_the_package_else_the_folder(tmp_path: Path, mark: str) -> None:
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    write(inner, model=PLAIN)
    if mark:
        (tmp_path / mark).mkdir()
    assert read_model(str(inner / "model.xml")).file == ("a/b/model.xml" if mark else "model.xml")
    assert read_model(str(inner / "model.xml"), root=str(tmp_path / "a")).file == "b/model.xml"


@pytest.mark.parametrize("site", ["site-packages", "anywhere"])
def test_the_root_of_what_is_installed_is_its_package(tmp_path: Path, site: str) -> None:
    """Anywhere: by pip --target, which leaves the package's metadata beside it."""
    folder = tmp_path / site / "robots/arms"
    folder.mkdir(parents=True)
    write(folder, model=PLAIN)
    if site == "anywhere":
        assert read_model(str(folder / "model.xml")).file == "model.xml"
        (tmp_path / site / "robots-1.0.dist-info").mkdir()
    assert read_model(str(folder / "model.xml")).file == "arms/model.xml"


def test_the_identity_is_that_of_files_start_and_duration(tmp_path: Path) -> None:
    write(tmp_path, model=PLAIN)
    path = str(tmp_path / "model.xml")
    one = read_model(path)
    assert one.digest(2.0) == read_model(path).digest(2.0) == one.without_data().digest(2.0)
    others = [one.digest(3.0), read_model(path, start="home").digest(2.0)]
    write(tmp_path, model=PLAIN + " ")
    others.append(read_model(path).digest(2.0))
    assert len({one.digest(2.0), *others}) == 4


def test_a_file_whose_data_is_not_what_was_stored_is_refused() -> None:
    whole = ModelFile.of("a.xml", b"<mujoco/>")
    with pytest.raises(ValueError, match=r"a\.xml: the stored file is damaged"):
        whole.model_copy(update={"data": ModelFile.of("a.xml", b"<other/>").data}).content()
    for path in ("/etc/passwd", "../a.xml", "a/../b.xml", "a\\b.xml", ""):
        with pytest.raises(ValueError, match="path"):
            ModelFile.of(path, b"")


def hostile(folder: Path) -> dict[str, tuple[str, str]]:
    """File -> what is in it, and what is said of it."""
    outside = folder.parent / "outside.xml"
    outside.write_text(PLAIN, encoding="utf-8")
    with (folder / "big.stl").open("wb") as file:
        file.truncate(100 * 2**20)
    for k in range(5):
        with (folder / f"heavy{k}.stl").open("wb") as file:
            file.truncate(60 * 2**20)
    heavy = "".join(f"<mesh file='heavy{k}.stl'/>" for k in range(5))
    (folder / "link.xml").symlink_to(outside)
    many = "".join(f"<geom size='0.1' pos='{k} 0 0'/>" for k in range(100_000))
    mesh = "<mujoco><asset><mesh file='{}'/></asset></mujoco>"
    entity = "<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>"
    return {
        "loop": ("<mujoco><include file='loop.xml'/></mujoco>", "loop.xml: includes itself"),
        "out": ("<mujoco><include file='../outside.xml'/></mujoco>", "'../outside.xml', which is not in"),
        "linked": ("<mujoco><include file='link.xml'/></mujoco>", "'link.xml', which is not in"),
        "absolute": (mesh.format("/etc/hostname"), "'/etc/hostname', an absolute path"),
        "big": (mesh.format("big.stl"), "big.stl: 100.0 MiB; allowed: 64 MiB in one file"),
        "heavy": (
            f"<mujoco><asset>{heavy}</asset></mujoco>",
            "heavy4.stl: 60.0 MiB; allowed: for all files of a model",
        ),
        "entity": (entity, "has a DOCTYPE"),
        "broken": ("<mujoco><worldbody>", "XML"),
        "scene": ("<scene/>", "begins with <scene>; allowed: <mujoco>, <robot> or <sdf>"),
        "many": (FALLING.format(more=many, beside=""), "elements of XML; allowed: 50000"),
        "nan": (PLAIN.replace("0 0 0.2", "0 0 nan"), "nan"),
        "still": ("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>", "no body of it can move"),
        "slow": (PLAIN.replace("<mujoco>", "<mujoco><option timestep='1e-12'/>"), "2 s are 2.0e+12 steps of 1e-12 s"),
        "absent": ("<mujoco><include file='nothing.xml'/></mujoco>", "nothing.xml"),
    }


def test_a_hostile_model_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    assert MOST_OF_ONE < 100 * 2**20 and MOST_BYTES < 300 * 2**20
    for name, (text, said) in hostile(folder).items():
        write(folder, **{name: text})
        done = upright("run", f"{name}.xml", "--engine", "mujoco", folder=folder)
        line = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 2 and said in line and "Traceback" not in done.stderr, (name, done.stderr)
        assert len(line) < 1000, name


def test_a_start_is_a_keyframe_or_a_file_of_arrays(tmp_path: Path) -> None:
    write(tmp_path, model=PLAIN)
    path = str(tmp_path / "model.xml")
    np.savez(tmp_path / "state.npz", qpos=np.arange(7.0).reshape(1, 7))
    assert read_model(path, start=str(tmp_path / "state.npz")).start.values == {"qpos": tuple(map(float, range(7)))}
    np.savez(tmp_path / "nan.npz", qpos=np.array([np.nan]))
    np.savez(tmp_path / "text.npz", qpos=np.array(["a"]))
    np.savez(tmp_path / "objects.npz", qpos=np.array([{}], dtype=object))
    (tmp_path / "broken.npz").write_bytes(b"PK")
    wrong = {"nan": "is not finite", "text": "array of <U1", "objects": "no archive", "broken": "no archive"}
    for name, said in (wrong | {"absent": "cannot be read"}).items():
        with pytest.raises(SceneError, match="--from: ") as error:
            read_model(path, start=str(tmp_path / f"{name}.npz"))
        assert said in str(error.value)


def test_recorded_controls_have_times_or_a_rate_or_one_row_a_step(tmp_path: Path) -> None:
    write(tmp_path, model=DRIVEN)
    path, file = str(tmp_path / "model.xml"), str(tmp_path / "demo.npz")
    rows = np.array([[1.0], [2.0], [3.0]])
    for given, times in (
        ({}, ()),
        ({"control_times": [0.0, 0.1, 0.4]}, (0.0, 0.1, 0.4)),
        ({"control_rate": 20}, (0.0, 0.05, 0.1)),
    ):
        np.savez(file, controls=rows, qvel=np.zeros(7), **given)
        start = read_model(path, start=file).start
        assert start.controls is not None and start.controls.times == times and set(start.values) == {"qvel"}
        assert start.controls.rows == ((1.0,), (2.0,), (3.0,))
    wrong = (
        ({"control_rate": 20}, "control_rate without controls"),
        ({"controls": rows, "control_rate": 0}, "control_rate is [0.0]; allowed: one number above 0, in Hz"),
        ({"controls": rows, "control_rate": 9, "control_times": [0, 1, 2]}, "allowed: one of them"),
        ({"controls": rows, "control_times": [0.0, 1.0]}, "3 rows at 2 times; allowed: one at each"),
        ({"controls": rows, "control_times": [0.0, 2.0, 1.0]}, "their times decrease"),
        ({"controls": np.zeros((2, 2, 2))}, "controls is of shape (2, 2, 2)"),
    )
    for arrays, said in wrong:
        np.savez(file, **arrays)
        with pytest.raises(SceneError, match="--from: ") as error:
            read_model(path, start=file)
        assert said in str(error.value)


def test_a_model_is_run_stored_shown_checked_and_run_again_without_its_file(tmp_path: Path) -> None:
    write(tmp_path, model=DRIVEN)
    given = ("model.xml", "--engine", "mujoco", "--from", "on", "--duration", "0.5")
    done = upright("run", *given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not measured of model.xml:content=" in done.stdout
    assert "limits of tendons that are sums of joints: sum" in done.stdout and "time step 1/500 s" in done.stdout
    (line,) = upright("run", *given, "--json", folder=tmp_path).stdout.splitlines()
    case = json.loads(line)
    label = f"model.xml:content={case['parameters']['content'][:8]}"
    assert (
        case["outcome"] == "completed" and "penetration_max" in case["metrics"] and "actuator_work" in case["metrics"]
    )
    upright("accept", "--reason", "first", folder=tmp_path)
    assert upright("check", *given, folder=tmp_path).returncode == 0
    (tmp_path / "model.xml").unlink()
    shown = upright("show", label, "--html", "motion.html", folder=tmp_path)
    assert shown.returncode == 0 and (tmp_path / "motion.html").stat().st_size > 1000, shown.stderr
    again = upright("run", label, "--engine", "mujoco", "--fresh", "--json", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["trajectory_hash"] == case["trajectory_hash"]


def test_a_model_runs_on_engines_that_load_it(tmp_path: Path) -> None:
    write(tmp_path, model=PLAIN)
    alone = upright("run", "model.xml", "--duration", "0.1", "--json", folder=tmp_path)
    assert [json.loads(line)["engine"] for line in alone.stdout.splitlines()] == ["mujoco"], alone.stderr
    none = upright("run", "model.xml", "--engine", "pymunk", folder=tmp_path)
    assert none.returncode == 2 and none.stderr.splitlines()[-1] == "model.xml: pymunk loads no MJCF"
    both = upright("run", "model.xml", "--engine", "pymunk", "--engine", "mujoco", "--duration", "0.1", folder=tmp_path)
    assert both.returncode == 0 and "declined" in both.stdout
    idle = upright("run", "bouncing-ball", "--engine", "pymunk", "--from", "home", folder=tmp_path)
    assert idle.returncode == 2 and "--from: is of models, and none is given" in idle.stderr


@pytest.mark.slow
def test_settings_of_a_model_are_compared(tmp_path: Path) -> None:
    write(tmp_path, model=DRIVEN)
    done = upright("compare", "mujoco", "mujoco:integrator=rk4", "model.xml", "--duration", "0.5", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "profile default; time step 1/500 s" in done.stdout and "not measured of model.xml" in done.stdout


LINK = (
    "<link name='{name}'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>"
)
HINGED = (
    f"<robot name='r'>{LINK.format(name='base')}{LINK.format(name='arm')}<joint name='j' type='continuous'>"
    "<parent link='base'/><child link='arm'/><origin xyz='0.3 0 0'/><axis xyz='0 1 0'/></joint></robot>"
)


def test_a_urdf_robot_runs_on_both_engines_each_by_its_own_description(tmp_path: Path) -> None:
    pytest.importorskip("pybullet", reason="no wheel for this Python")
    (tmp_path / "robot.urdf").write_text(HINGED, encoding="utf-8")
    both = upright("run", "robot.urdf", "--duration", "0.1", "--json", folder=tmp_path)
    assert [json.loads(line)["engine"] for line in both.stdout.splitlines()] == ["pybullet", "mujoco"], both.stderr
    given = ("run", "robot.urdf", "--engine", "pybullet:fixed_base=true", "--engine", "pybullet", "--duration", "0.1")
    done = upright(*given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "time step 1/240 s" in done.stdout and "motors, at rest, that pybullet gives every joint: j" in done.stdout
    for setting, said in (("linear_damping=0", "a model has its own"), ("fixed_base=maybe", "allowed: true | false")):
        wrong = upright("run", "robot.urdf", "--engine", f"pybullet:{setting}", folder=tmp_path)
        assert wrong.returncode == 2 and said in wrong.stderr.splitlines()[-1]


def test_an_engine_that_crashes_on_a_model_is_one_line(tmp_path: Path) -> None:
    """Of two roots pybullet 3.2.7 dies by itself."""
    pytest.importorskip("pybullet", reason="no wheel for this Python")
    two = f"<robot name='r'>{LINK.format(name='a')}{LINK.format(name='b')}</robot>"
    (tmp_path / "two.urdf").write_text(two, encoding="utf-8")
    done = upright("run", "two.urdf", "--engine", "pybullet", folder=tmp_path)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2 and line.startswith("two.urdf: ") and "SIGSEGV" in line and len(line) < 300


def test_a_mesh_is_found_where_pybullet_goes_on_to_look(tmp_path: Path) -> None:
    """In the folders above the file, up to the root; and what an SDF file has for the text of a uri."""
    (tmp_path / "package.xml").write_text("<package/>", encoding="utf-8")
    for folder in ("robot", "meshes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "meshes/a.obj").write_bytes(b"v 0 0 0")
    mesh = "<geometry><mesh filename='meshes/a.obj'/></geometry>"
    (tmp_path / "robot/r.urdf").write_text(f"<robot name='r'><link name='a'>{mesh}</link></robot>", encoding="utf-8")
    uri = "<geometry><mesh><uri>../meshes/a.obj</uri></mesh></geometry>"
    (tmp_path / "robot/r.sdf").write_text(f"<sdf><model><link>{uri}</link></model></sdf>", encoding="utf-8")
    for name, language in (("r.urdf", "urdf"), ("r.sdf", "sdf")):
        model = read_model(str(tmp_path / "robot" / name))
        assert model.language == language and names(model) == sorted(["meshes/a.obj", f"robot/{name}"])


LEVEL = (
    "import pymunk\n\ndef build():\n    space = pymunk.Space()\n    space.gravity = 0, -10\n"
    "    body = pymunk.Body(1, 1)\n    body.position = 0, 3\n    space.add(body, pymunk.Circle(body, 0.5))\n"
    "    space.add(pymunk.Segment(space.static_body, (-5, 0), (5, 0), 0.1))\n    return space\n\nbuild.dt = 1 / 100\n"
)


def test_a_function_is_run_stored_checked_and_never_run_out_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "level.py").write_text(LEVEL, encoding="utf-8")
    path = {"UPRIGHT_ENGINE_PATH": str(tmp_path)}  # of servers that were started in the folder of another test
    given = ("level:build", "--engine", "pymunk", "--duration", "0.5")
    done = upright("run", *given, folder=tmp_path, **path)
    assert done.returncode == 0 and "time step 1/100 s" in done.stdout, done.stderr
    (line,) = upright("run", *given, "--json", folder=tmp_path, **path).stdout.splitlines()
    case = json.loads(line)
    label = f"level.build:content={case['parameters']['content'][:8]}"
    assert case["outcome"] == "completed" and "penetration_max" in case["metrics"]
    upright("accept", "--reason", "first", folder=tmp_path, **path)
    assert upright("check", *given, folder=tmp_path, **path).returncode == 0
    again = upright("run", label, "--engine", "pymunk", "--fresh", "--json", folder=tmp_path, **path)
    assert json.loads(again.stdout)["trajectory_hash"] == case["trajectory_hash"], again.stderr
    (tmp_path / "level.py").write_text(LEVEL.replace("0, 3", "0, 2"), encoding="utf-8")
    other = upright("run", label, "--engine", "pymunk", "--fresh", folder=tmp_path, **path)
    assert other.returncode == 2 and "level.py is not here, or not as it was" in other.stderr.splitlines()[-1]
    both = upright("run", "level:build", "--engine", "mujoco", folder=tmp_path, **path)
    assert both.returncode == 2 and "mujoco runs no function that builds a world" in both.stderr.splitlines()[-1]
    started = upright("run", "level:build", "--engine", "pymunk", "--from", "home", folder=tmp_path, **path)
    assert started.returncode == 2 and "--from" in started.stderr.splitlines()[-1]
