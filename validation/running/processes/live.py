"""A simulation that is moved on step by step, and pushed as it goes; in a forked child of its engine's server.

    {"until": step, "springs": [...], "thrusters": [...]}   ->   the frames from there to that step, as a trajectory

Springs and thrusters stand beside the scene's own for these steps. They act as they would in a scene that has them
from the start, so the motion is that of such a scene to the last bit.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from scenarios.forces import Spring, Thruster, has_applied_forces
from scenarios.scene import PlanarScene, Scene
from validation.engines.engine import DeclinedError, NotFiniteError, Settings
from validation.engines.shared.recorder import SceneWorld, World, state_of
from validation.records.trajectory import (
    Contacts,
    PlanarTrajectory,
    SpatialTrajectory,
    Trajectory,
    first_not_finite,
    to_bytes,
)
from validation.running.processes.frames import CHUNK, Reader

Write = Callable[[dict[str, Any], bytes], None]


def run_live(engine: Any, scene: Scene, request: Mapping[str, Any], settings: Settings, write: Write) -> None:
    """Until nobody asks for more. Raises what the engine raises, and DeclinedError where its world cannot be pushed."""
    world: World = engine.build(scene, request["dt"], settings)
    if not isinstance(world, SceneWorld):
        raise DeclinedError(f"{engine.name}: its world has forces of its own, nothing can push it while it runs")
    every, dt, step = int(request["live"]), float(request["dt"]), 0
    write({"step": 0}, to_bytes(_frames(world, scene, dt, [(0, state_of(world), None)])))
    for asked in _questions(int(request["inbox"])):
        world.scene = scene.model_copy(
            update={
                "springs": (*scene.springs, *map(Spring.model_validate, asked.get("springs", ()))),
                "thrusters": (*scene.thrusters, *map(Thruster.model_validate, asked.get("thrusters", ()))),
            }
        )
        world.has_forces = has_applied_forces(world.scene)
        taken = []
        while step < asked["until"]:
            step += 1
            watched = step % every == 0
            world.step(watched=watched)
            if watched:
                taken.append((step, state_of(world), world.contacts()))
        if not taken:
            write({"step": step}, b"")
            continue
        frames = _frames(world, scene, dt, taken)
        if found := first_not_finite(frames):
            raise NotFiniteError(f"body {scene.bodies[found[1]].name!r} is not finite from t = {found[0]:.6g} s")
        write({"step": step}, to_bytes(frames))


def _questions(inbox: int) -> Iterator[dict[str, Any]]:
    reader = Reader()
    while data := os.read(inbox, CHUNK):
        for header, _ in reader.feed(data):
            yield header


def _frames(world: World, scene: Scene, dt: float, taken: list[tuple[int, Any, Any]]) -> Trajectory:
    kind: type[Any] = PlanarTrajectory if isinstance(scene, PlanarScene) else SpatialTrajectory
    state = {name: np.stack([parts[k] for _, parts, _ in taken]) for k, name in enumerate(kind.STATE)}
    rows = [(k, *contacts) for k, (_, _, contacts) in enumerate(taken) if contacts is not None and len(contacts[0])]
    contacts = None
    if rows:
        width = len(scene.gravity)
        a, b = (np.concatenate([np.array(row[i], np.int64).ravel() for row in rows]) for i in (1, 2))
        points, normals = (np.concatenate([np.reshape(row[i], (-1, width)) for row in rows]) for i in (3, 4))
        gap = np.concatenate([np.array(row[5], np.float64).ravel() for row in rows])
        impulse = np.concatenate([np.reshape(row[6], (-1, width)) for row in rows])
        sample = np.concatenate([np.full(len(row[1]), row[0], np.int64) for row in rows])
        given = dict(zip(("point", "normal", "gap", "impulse"), (points, normals, gap, impulse)))
        contacts = Contacts(sample=sample, a=a, b=b, **{k: np.asarray(v, np.float64) for k, v in given.items()})
    motion: Trajectory = kind(
        time=np.array([step * dt for step, _, _ in taken]),
        dt=dt,
        velocity_lag=world.velocity_lag,
        contact_tolerance=world.contact_tolerance,
        state_hash="live",
        contacts=contacts,
        **state,
    )
    return motion
