"""Releases of a toy engine as wheels in a folder, and one of them as if it were installed: no index is asked."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

TOY = """
class Toy:
    name, version = "toy", "1.0"

    def declines(self, scene):
        return None

    def simulate(self, scene, dt, settings):
        import numpy as np
        from validation.records.trajectory import PlanarTrajectory

        time = dt * np.arange(round(scene.duration / dt) + 1)
        pose = np.zeros((len(time), len(scene.bodies), 3))
        for i, body in enumerate(scene.bodies):
            pose[:, i] = (*body.position, body.angle)
            pose[:, i, 1] -= SUNK
        return PlanarTrajectory(time=time, pose=pose, twist=np.zeros_like(pose), dt=dt, velocity_lag=0.0)
"""  # SUNK: an expression in which `time` may stand
ENTRY_POINTS = "[upright.engines]\ntoy = toy_engine:Toy\n"


def toy(sunk: str) -> str:
    """The engine's source; everything rests, `sunk` m below where it was put."""
    return TOY.replace("SUNK", sunk)


def files(version: str, speed: float, head: str = "") -> dict[str, str]:
    """Of the distribution toy-engine, by their paths in a wheel; `head` begins its module."""
    info = f"toy_engine-{version}.dist-info"
    return {
        "toy_engine.py": head + toy(f"{speed} * time").replace('"1.0"', f'"{version}"'),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toy-engine\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": ENTRY_POINTS,
    }


def wheel(folder: Path, version: str, speed: float, head: str = "") -> Path:
    path = folder / f"toy_engine-{version}-py3-none-any.whl"
    parts = files(version, speed, head)
    record = f"toy_engine-{version}.dist-info/RECORD"
    listed = "".join(f"{name},,\n" for name in (*parts, record))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (parts | {record: listed}).items():
            archive.writestr(name, text)
    return path


def empty_wheel(folder: Path, name: str, version: str) -> None:
    """A distribution that has nothing but a name and a version."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", files(version, 0.0)[f"toy_engine-{version}.dist-info/WHEEL"])
        archive.writestr(f"{info}/RECORD", "")


def installed(folder: Path, version: str, speed: float) -> Path:
    """A folder to put on the path."""
    for name, text in files(version, speed).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def from_wheels(folder: Path) -> Mapping[str, str]:
    """Environment variables with which pip looks nowhere else."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}
