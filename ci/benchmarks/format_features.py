"""Each feature of scene format 2 on every engine, against its closed form: writes data/format_features.json.

    python -P ci/benchmarks/format_features.py            # a minute; then: python -P ci/tables.py
    python -P ci/benchmarks/format_features.py --check    # ends with 1 where a value is not as it was written

A value is the largest distance of a centre from its exact position, m. What an engine declines has its reason.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data/format_features.json"
ENGINES = ("reference", "mujoco", "pybullet", "dart", "rapier", "physx")
IN_PLANE = ("reference", "pymunk", "box2d", "mujoco", "pybullet", "dart", "rapier", "physx")
STEPS = ("1/240", "1/960")
FEATURES = {
    "several shapes a body, moved to its centre of mass": "hammer-swing:space=spatial",
    "the same in flight, principal axes aslant": "hammer-flight",
    "spring and damper of a hinge": "driven-joint",
    "the same of a slider": "driven-joint:joint=slider",
    "position motor": "driven-joint:motor=position",
    "velocity motor": "driven-joint:motor=velocity",
    "force motor": "driven-joint:motor=force",
    "limit of a hinge": "joint-stop",
    "limit of a slider": "joint-stop:joint=slider",
    "dry friction of a hinge": "joint-brake",
    "dry friction of a slider": "joint-brake:joint=slider",
    "rope in space": "conical-pendulum",
    "rod in space": "conical-pendulum:tie=rod",
    "fixed joint": "fixed-flight",
    "contact margin": "stand-off:space=spatial",
    "given motion, at one speed": "moving-plate:space=spatial",
    "given motion, to and fro": "moving-plate:moved=shaken,space=spatial",
    "given motion, by knots": "moving-plate:moved=cart,space=spatial",
    "given motion, turning": "turning-plate:space=spatial",
}
PLANAR = {
    "several shapes a body, moved to its centre of mass": "hammer-swing",
    "contact margin": "stand-off",
    "given motion, at one speed": "moving-plate",
    "given motion, ever faster": "moving-plate:moved=set-off",
    "given motion, to and fro": "moving-plate:moved=shaken",
    "given motion, by knots": "moving-plate:moved=cart",
    "given motion, turning": "turning-plate",
}
"""Of format 2 in the plane"""
SAME = 2.0  # a factor: other processors and releases of engines end elsewhere by that much, and not further


def measured() -> dict[str, dict[str, Any]]:
    """Of each scenario and engine: an error for each step, or why not."""
    for words in (FEATURES, PLANAR):  # its kernels are compiled when they are first called, which is no simulation
        _run([*words.values()], ("reference",), STEPS[0], "--time-limit", "900")
    return _measured([*FEATURES.values()], ENGINES) | _measured([*PLANAR.values()], IN_PLANE)


def _measured(words: list[str], engines: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for step in STEPS:
        done = _run(words, engines, step)
        if not done.stdout:
            raise SystemExit(done.stderr.strip().splitlines()[-1])
        for line in done.stdout.splitlines():
            case = json.loads(line)
            cells = found.setdefault(_scene_of(case, words), {})
            if case["outcome"] == "declined":
                cells[case["engine"]] = case["reason"]
            elif case["outcome"] == "completed":
                cells.setdefault(case["engine"], []).append(case["metrics"]["truth_error_position"]["value"])
            else:
                cells[case["engine"]] = case["outcome"]
    return found


def _run(words: list[str], engines: tuple[str, ...], step: str, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("upright")), "run", *words, "--json", "--dt", step, *more]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--db", f"{folder}/runs.db", *(part for engine in engines for part in ("--engine", engine))]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])


def _scene_of(case: dict[str, Any], words: list[str]) -> str:
    """Which of the words: its parameters are among those of the case, and no other of that name fits better."""
    fitting = []
    for word in words:
        name, _, rest = word.partition(":")
        given = dict(item.split("=") for item in rest.split(",") if item)
        if name == case["scenario"] and all(case["parameters"].get(key) == value for key, value in given.items()):
            fitting.append(word)
    return max(fitting, key=len)


def main() -> None:
    found = measured()
    if "--check" not in sys.argv:
        DATA.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    before = json.loads(DATA.read_text(encoding="utf-8"))
    wrong = [
        f"{word}, {engine}: {now}, was {was}"
        for word, cells in before.items()
        for engine, was in cells.items()
        if engine in found[word] and not _same(was, now := found[word][engine])
    ]
    print("\n".join(wrong) or "all as written")
    sys.exit(bool(wrong))


def _same(was: Any, now: Any) -> bool:
    if isinstance(was, str) or isinstance(now, str):
        return bool(was == now)
    return all(max(a, b) < 1e-9 or abs(math.log(a / b)) < math.log(SAME) for a, b in zip(was, now))


if __name__ == "__main__":
    main()
