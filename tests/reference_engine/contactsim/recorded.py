"""Recorded runs of the original engine: what was set up, as a world and settings. `replay` repeats them.

The format is JSON with `setup` (bodies with edges, mass, state; forces, connectors, tolerances, solver, seed),
`meta` (what the engine's own test expects), `final`, `totals`.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine.contactsim.settings import FaithfulSettings
from reference_engine.errors import WorldError
from reference_engine.planar_model.connectors import BACKGROUND, Connector, Joint, Path, PathEnd, PathJoint, Rope, curve
from reference_engine.planar_model.forces import Attraction, ConstantForce, Force, Spring, Thruster
from reference_engine.planar_model.shape import Edge, Outline
from reference_engine.planar_model.world import Body, World
from reference_engine.trigonometry import sine_and_cosine

Array = NDArray[np.float64]
Json = Mapping[str, Any]

INTEGRATORS = {
    "RUNGE_KUTTA": "runge_kutta",
    "MODIFIED_EULER": "modified_euler",
    "EULERS_METHOD": "euler",
    "EULER": "euler",
    "EULERS": "euler",
}
FORCES = ("GravityLaw", "DampingLaw", "Gravity2Law", "ConstantForceLaw", "Spring", "RotatingTestForce")
UNRECORDED_PASSING = {  # edges of other bodies that a body passes through: the engine's own tests set them
    "MiscellanyTest.clock_with_gears": (
        ("ESCAPE_WHEEL", "ANCHOR", 7, 10), ("GEAR2", "ESCAPE_WHEEL", 0, 47), ("ANCHOR", "ESCAPE_WHEEL", 48, 191),
    ),
    "MiscellanyTest.non_collide_edges": (("BALL", "PENDULUM1", 0, 2),),
}  # fmt: skip
HANDLE = (0.0, -3.0), 2.0, 0.3  # m, N, rad/s: what RotatingTestForce is in the engine's own test, which records none


class NotRepresented(WorldError):  # noqa: N818  says what is wrong without the word
    """The engine cannot represent this run; the reason in words."""


def number(value: Any) -> float:
    """JSON has no infinity and no nan: they are words."""
    return float(value) if value is not None else math.nan


def settings_of(setup: Json) -> FaithfulSettings:
    integrator = str(setup["solver"])
    adaptive = integrator.startswith("ADAPTIVE_")
    integrator = integrator.removeprefix("ADAPTIVE_")
    if integrator not in INTEGRATORS:
        raise NotRepresented(f"solver: {setup['solver']!r} is not one of {sorted(INTEGRATORS)}, plain or ADAPTIVE_")
    tolerances = {(body["distance_tol"], body["velocity_tol"], body["accuracy"]) for body in setup["bodies"]}
    if len(tolerances) != 1:
        raise NotRepresented(f"bodies with tolerances of their own: {sorted(tolerances)}")
    distance, velocity, accuracy = tolerances.pop()  # the bodies' own count, should the whole's differ
    return FaithfulSettings(
        distance_tolerance=distance,
        velocity_tolerance=velocity,
        collision_accuracy=accuracy,
        collision_handling=str(setup["collision_handling"]).replace(" ", "_"),
        extra_acceleration=str(setup.get("extra_accel") or "none"),
        extra_acceleration_time_step=setup.get("extra_accel_time_step") or 0.025,
        contact_forces=setup["sim_class"] == "ContactSim",
        integrator=INTEGRATORS[integrator],
        adaptive=adaptive,
        joint_small_impacts=bool(setup["joint_small_impacts"]),
        random_seed=int(setup["random_seed"]),
    )


def world_of(setup: Json, test: str = "") -> World:
    """Raises NotRepresented, with the reason, for what this engine does not have.

    `test` is the name of the engine's own test, for what a setup does not record.
    """
    if setup["sim_class"] not in ("ContactSim", "ImpulseSim"):
        raise NotRepresented(f"sim_class: {setup['sim_class']} is not ContactSim or ImpulseSim")
    rows = setup["bodies"]
    index = {row["name"]: i for i, row in enumerate(rows)} | {"SCRIM": BACKGROUND}
    bodies = tuple(body_of(row) for row in rows)
    elasticity = np.array([row["elasticity"] for row in rows], np.float64)
    passing = {
        (i, index[name])
        for i, row in enumerate(rows)
        for name in row.get("non_collide", ())
        if index.get(name, BACKGROUND) not in (BACKGROUND, i)
    }
    gravity, damping, turning, forces = 0.0, 0.0, 0.0, []
    for law in setup["force_laws"]:
        if law["type"] == "GravityLaw":
            gravity = law["gravity"]
        elif law["type"] == "DampingLaw":
            damping, turning = law["damping"], law["damping"] * law["rotate_ratio"]
        else:
            forces.append(force_of(law, index))
    return World(
        bodies=bodies,
        gravity=(0.0, -float(gravity)),
        damping=damping,
        rotational_damping=turning,
        restitution=np.minimum(elasticity[:, None], elasticity[None, :]),
        forces=tuple(forces),
        connectors=tuple(connector_of(c, index, test) for c in setup["connectors"]),
        passing=tuple(sorted(passing)),
        passing_edges=tuple((index[a], index[b], i, k) for a, b, i, k in UNRECORDED_PASSING.get(test, ())),
    )


def body_of(row: Json) -> Body:
    edges = []
    for edge in row["edges"]:
        if edge["type"] not in ("straight", "circular"):
            raise NotRepresented(f"body {row['name']}: {edge['type']} edges")
        (x1, y1), (x2, y2) = edge["v1"], edge["v2"]
        round_edge = edge["type"] == "circular"
        edges.append(
            Edge(
                start=(x1, y1),
                end=(x2, y2),
                centre=(edge["center"][0], edge["center"][1]) if round_edge else None,
                clockwise=bool(edge["clockwise"]) if round_edge else False,
            )
        )
    live = row.get("special_edge")
    more: dict[str, Any] = {"live_edge": live["index"], "depth": live["centroid_radius"]} if live else {}
    more["centre_of_mass"] = row["cm_body"]
    plain = Outline(edges, **more)
    holes = [k for k, (first, _) in enumerate(plain.loops) if not has_outside_as(row["edges"][first], plain, k)]
    outline = Outline(edges, **more, holes=holes)
    for k, (first, end) in enumerate(outline.loops):
        if not all(has_outside_as(edge, outline, k) for edge in row["edges"][first:end]):
            raise NotRepresented(f"body {row['name']}: edges of loop {k} have their outsides on different sides")
    mass, state = number(row["mass"]), row["state"]
    fixed = mass == math.inf
    return Body(
        shape=outline,
        position=(state["x"], state["y"]),
        angle=state["angle"],
        velocity=(state["vx"], state["vy"]),
        spin=state["omega"],
        fixed=fixed,
        name=row["name"],
        mass=1.0 if fixed else mass,
        inertia=None if fixed else float(row["moment_about_cm"]),
    )


def has_outside_as(edge: Json, outline: Outline, loop: int) -> bool:
    """The recorded run says for every edge which side is outside; ours follows from the way round its loop."""
    solid_on_left = outline.solid_on_left(loop)
    if edge["type"] == "circular":
        return bool(edge["outside_is_out"]) == (bool(edge["clockwise"]) != solid_on_left)
    dx, dy = edge["v2"][0] - edge["v1"][0], edge["v2"][1] - edge["v1"][1]
    up = dy if abs(dx) < 1e-10 else -dx
    return bool(edge["outside_is_up"]) == ((up > 0.0) == solid_on_left)


def force_of(law: Json, index: Mapping[str, int]) -> Force:
    kind = law["type"]
    if kind == "Gravity2Law":
        return Attraction(strength=law["gravity"])
    if kind == "ConstantForceLaw":
        body = index[law["body"]]
        if law["loc_type"] != 0:
            raise NotRepresented("ConstantForceLaw at a point of the world")
        return ConstantForce(
            body=body, point=pair(law["location"]), force=tuple(law["direction"]),
            torque=law["torque"], turns=law["dir_type"] == 0,
        )  # fmt: skip
    if kind == "Spring" and "stiffness" in law:
        first, second = index[law["body1"]], index[law["body2"]]
        return Spring(
            first=first, second=second, first_point=pair(law["attach1"]), second_point=pair(law["attach2"]),
            length=law["rest_length"], stiffness=law["stiffness"], damping=law.get("damping", 0.0),
        )  # fmt: skip
    if kind == "RotatingTestForce":
        body = index[str(law["str"]).split('"')[1]]
        return Thruster(body=body, point=HANDLE[0], force=(HANDLE[1], 0.0), turn_rate=HANDLE[2])
    raise NotRepresented(f"force law {kind}; known are {', '.join(FORCES)}")


def connector_of(row: Json, index: Mapping[str, int], test: str = "") -> Connector:
    kind = row["type"]
    if kind in ("PathJoint", "PathEndPoint"):
        return path_connector_of(row, index, test)
    if kind not in ("Joint", "Rope"):
        raise NotRepresented(f"connector {kind}; known are Joint, Rope, PathJoint and PathEndPoint")
    first, second = index[row["body1"]], index[row["body2"]]
    points = pair(row["attach1"]), pair(row["attach2"])
    if kind == "Rope":
        return Rope(
            first=first, second=second, first_point=points[0], second_point=points[1], length=row["rest_length"],
            rod=bool(row["rod"]),
        )  # fmt: skip
    return Joint(
        first=first, second=second, first_point=points[0], second_point=points[1],
        normal=(row["normal"][0], row["normal"][1]), normal_turns=row["normal_type"] != "WORLD",
    )  # fmt: skip


def path_connector_of(row: Json, index: Mapping[str, int], test: str) -> Connector:
    """A setup does not say what a path is, nor where on it and on its body: that is the engine's own test's."""
    of_test = next((make for name, make in PATHS.items() if name in test), None)
    if of_test is None:
        raise NotRepresented(f"connector {row['type']}: the path of {test or 'a run without a name'} is not known")
    path = of_test()
    named = [row[key] for key in ("body1", "body") if key in row] + str(row.get("str", "")).split('"')[1::2]
    body = next((index[name] for name in named if index.get(name, BACKGROUND) != BACKGROUND), 0)
    point = pair(row["attach1"]) if "attach1" in row else ROLLER_POINT
    if row["type"] == "PathJoint":
        return PathJoint(body=body, point=point, path=path)
    limit = float(path.table[path.nearest(STOP_NEAR), 0])
    return PathEnd(body=body, point=point, path=path, limit=limit)


def circle_of_3_m(t: float) -> tuple[float, float]:
    sine, cosine = sine_and_cosine(t)
    return 3.0 * cosine, 3.0 * sine


PATHS: dict[str, Callable[[], Path]] = {
    "MiscellanyTest.roller_hump": lambda: curve(lambda t: (t, 3.0 + t * t * (-7.0 + t * t) / 6.0), -3.0, 3.0),
    "MiscellanyTest.roller_end_point": lambda: curve(
        circle_of_3_m, -3.0 * math.pi / 2.0, math.pi / 2.0, closed=True
    ),
}  # fmt: skip
ROLLER_POINT, STOP_NEAR = (0.0, -0.9), (-2.0, -2.0)  # m, on the body; in the world


def pair(point: Any) -> tuple[float, float]:
    return float(point[0]), float(point[1])
