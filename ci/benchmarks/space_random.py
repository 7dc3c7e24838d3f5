"""Random scenes in space, followed by the reference engine: how they end, and what of mechanics they keep to.

    python -P ci/benchmarks/space_random.py [--scenes 40] [--first 0] [--limit 60] [--bodies 4]

Scene k is that of seed k: up to so many boxes, hulls, balls and capsules of 0.1 to 0.5 m, or a cylinder alone, dropped
and thrown on to a floor, or, every other time, boxes that stand on one another; friction 0 to 1.5, restitution 0 to 1;
for 2 s. Of each motion: does it go to its end within `limit` seconds, or to an error that names time and bodies;
overlap above 1e-9 m, friction above the cone by 1e-10, gains of energy above 1e-10 of what is there, by measures that
share nothing with the engine; and up to when poses agree to 1e-9 m with those of the scene mirrored, turned and in
another order of bodies.

Prints a line for each scene that is not well, then counts. Exits 1 where fewer than 97 % end, one hangs, or one breaks
a law.
"""
# ruff: noqa: E402  where kernels are kept is said before numba is imported

import argparse
import os
import pickle
import select
import signal
import sys
import time
from collections import Counter
from typing import Any

import numpy as np

from validation.running import kernel_cache

kernel_cache.use_kernel_cache()

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Box, Capsule, ConvexMesh, Cylinder, HalfSpace, SpatialBody, SpatialScene, Sphere
from scenarios.similarity import similar, similarity, vectors
from validation.engines.engine import resolve_settings
from validation.engines.reference.adapter import Reference
from validation.metrics import measure

DT = 1.0 / 240.0
OWN_HEIGHT = 1.2  # m, a body's own
LAWS = {"penetration_max": 1e-9, "cone_violation": 1e-10}


def shape_of(random: Any) -> Any:
    match random.choice(["box", "hull", "ball", "capsule"], p=[0.4, 0.2, 0.2, 0.2]):
        case "box":
            return Box(size=tuple(random.uniform(0.1, 0.5, 3)))
        case "hull":
            directions = random.normal(size=(int(random.integers(6, 13)), 3))
            directions /= np.linalg.norm(directions, axis=1)[:, None]
            return ConvexMesh(points=tuple(map(tuple, (directions * random.uniform(0.1, 0.25, 3)).tolist())))
        case "ball":
            return Sphere(radius=float(random.uniform(0.05, 0.25)))
    return Capsule(radius=float(random.uniform(0.05, 0.15)), length=float(random.uniform(0.1, 0.3)))


def alone(random: Any) -> Any:
    """Cylinders meet planes alone so far."""
    shape = shape_of(random)
    if random.uniform() < 0.5:
        return Cylinder(radius=float(random.uniform(0.05, 0.25)), length=float(random.uniform(0.05, 0.5)))
    return shape


def scene_of(seed: int, most: int) -> SpatialScene:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, most + 1))
    friction, restitution = float(random.uniform(0.0, 1.5)), float(random.uniform(0.0, 1.0))
    given: list[dict[str, Any]] = []
    height = 0.0
    for i in range(count):
        one: dict[str, Any] = {"name": f"body {i}", "friction": friction, "restitution": restitution}
        if seed % 2:  # a stack
            size = random.uniform(0.2, 0.5, 3)
            shift = random.uniform(-0.05, 0.05, 2)
            one |= {"shape": Box(size=tuple(size)), "position": (*shift, height + 0.5 * size[2])}
            height += float(size[2])
            if i == count - 1 and random.uniform() < 0.5:
                one["velocity"] = tuple(random.uniform(-1.0, 1.0, 3) * (1.0, 1.0, 0.0))
            one["mass"] = 1000.0 * float(np.prod(size))
        else:
            q = random.normal(size=4)
            one |= {
                "shape": shape_of(random) if count > 1 else alone(random), "mass": float(random.uniform(1.0, 10.0)),
                "position": (*random.uniform(-0.2, 0.2, 2), 0.6 + OWN_HEIGHT * i),
                "orientation": tuple(q / np.linalg.norm(q)),
                "velocity": tuple(random.uniform(-1.0, 1.0, 3)), "spin": tuple(random.uniform(-3.0, 3.0, 3)),
            }  # fmt: skip
        given.append(one)
    floor = HalfSpace(name="floor", friction=friction, restitution=restitution)
    bodies = tuple(SpatialBody(**{**one, "position": tuple(map(float, one["position"]))}) for one in given)
    return SpatialScene(bodies=bodies, boundaries=(floor,), duration=2.0)


TURN = np.array((0.5, 0.1, -0.7, 0.5))
OTHER = similarity(3, turn=tuple(TURN / np.linalg.norm(TURN)), mirrors=True)


def otherwise(scene: SpatialScene) -> SpatialScene:
    """Mirrored and turned, and the bodies in the opposite order."""
    other = similar(scene, OTHER)
    assert isinstance(other, SpatialScene)
    return other.model_copy(update={"bodies": other.bodies[::-1]})


def motion_of(scene: SpatialScene) -> Any:
    engine = Reference()
    return engine.simulate(scene, DT, resolve_settings(engine, "fair", {}, scene, DT))


def followed(seed: int, most: int) -> dict[str, Any]:
    """What became of a scene."""
    scene = scene_of(seed, most)
    try:
        motion = motion_of(scene)
    except Exception as error:
        return {"error": type(error).__name__, "reason": str(error)}
    found = {m.metric: m.value for m in measure(scenario_from_scene(f"seed {seed}", scene), motion)}
    off = {name: found[name] for name, most in LAWS.items() if found.get(name, 0.0) > most}
    scale = sum(float(b.mass or 0.0) * (9.81 * b.position[2] + 0.5 * float(np.dot(b.velocity, b.velocity)))
                for b in scene.bodies)  # fmt: skip
    if found.get("energy_gain", 0.0) > 1e-10 * scale:
        off["energy_gain"] = found["energy_gain"]
    result: dict[str, Any] = {"off": off, "events": 0 if motion.impacts is None else len(motion.impacts.time)}
    try:
        other = motion_of(otherwise(scene))
    except Exception as error:
        return result | {"agree": 0.0, "turned": f"{type(error).__name__}: {error}"}
    regular = np.arange(0.0, 2.0 + 1e-9, 20 * DT)
    ours, theirs = (
        m.position[[np.flatnonzero(np.abs(m.time - t) < 1e-9)[-1] for t in regular]] for m in (motion, other)
    )
    apart = np.abs(theirs[:, ::-1] - vectors(OTHER, ours)).max(axis=(1, 2))
    beyond = np.flatnonzero(apart > 1e-9)
    return result | {"agree": float(regular[beyond[0]]) if len(beyond) else 2.0}


def in_child(seed: int, most: int, limit: float) -> dict[str, Any]:
    """`followed` in a process of its own, which has so many seconds for each of its two motions."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, pickle.dumps(followed(seed, most)))
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], 2.0 * limit)
    raw = os.read(reading, 1 << 20) if ready else b""
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not ready:
        return {"error": "hangs", "reason": f"after {2.0 * limit:g} s"}
    return dict(pickle.loads(raw)) if raw else {"error": "crashed", "reason": ""}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name, default in (("scenes", 40), ("first", 0), ("bodies", 4)):
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--limit", type=float, default=60.0, help="s, of a motion")
    given = options.parse_args()
    Reference().warm_up()
    followed(2, 1)  # loads all that the children need
    ends: Counter[str] = Counter()
    broken, agree, slowest = 0, [], 0.0
    for seed in range(given.first, given.first + given.scenes):
        started = time.perf_counter()
        found = in_child(seed, given.bodies, given.limit)
        slowest = max(slowest, time.perf_counter() - started)
        ends[found.get("error", "ended")] += 1
        if "error" in found:
            print(f"seed {seed}: {found['error']}: {found['reason']}", flush=True)
            continue
        agree.append(found["agree"])
        if found["off"]:
            broken += 1
            print(
                f"seed {seed}: {', '.join(f'{name} {value:.3g}' for name, value in found['off'].items())}", flush=True
            )
        if "turned" in found:
            print(f"seed {seed}, turned: {found['turned']}", flush=True)
    print(
        ", ".join(f"{count} {how}" for how, count in ends.most_common()), f"of {given.scenes}; slowest {slowest:.1f} s"
    )
    to_end = sum(until >= 2.0 for until in agree)
    print(f"{broken} break a law; turned, mirrored and reordered {to_end} of {len(agree)} agree to 1e-9 to their end")
    hung = ends["hangs"] + ends["crashed"]
    return int(ends["ended"] < 0.97 * given.scenes or hung > 0 or broken > 0)


if __name__ == "__main__":
    sys.exit(main())
