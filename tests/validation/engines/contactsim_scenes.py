"""Recorded runs of the original as scenes, as far as scenes can say what was set up."""

from collections.abc import Mapping
from typing import Any

from reference_engine import elementary
from scenarios.boundaries import HalfPlane
from scenarios.contact import ContactLaw
from scenarios.forces import Damping
from scenarios.joints import Revolute, Rod, Rope
from scenarios.scene import Disc, PlanarBody, PlanarScene, Polygon

Json = Mapping[str, Any]


class NoScene(Exception):  # noqa: N818  says what is wrong without the word
    """What of a run no scene says."""


def scene_of(run: Json) -> PlanarScene:
    """Raises NoScene. Walls come last, as half-planes on their one live side, wherever the original has them."""
    setup = run["setup"]
    if setup["start_time"]:
        raise NoScene("it starts in the middle, from a state after steps")
    walls = [row for row in setup["bodies"] if row.get("special_edge")]
    bodies = tuple(body_of(row) for row in setup["bodies"] if not row.get("special_edge"))
    gravity, damping = 0.0, Damping()
    for force in setup["force_laws"]:
        if force["type"] == "GravityLaw":
            gravity = float(force["gravity"])
        elif force["type"] == "DampingLaw":
            linear = float(force["damping"])
            damping = Damping(linear=linear, angular=linear * force["rotate_ratio"])
        else:
            raise NoScene(f"force {force['type']}")
    return PlanarScene(
        bodies=bodies,
        boundaries=tuple(half_plane_of(row) for row in walls),
        joints=tuple(joints_of(setup["connectors"])),
        gravity=(0.0, 0.0 - gravity),
        damping=damping,
        contact=ContactLaw(restitution_rule="min"),
        duration=float(run["final"]["t"]),
    )


def body_of(row: Json) -> PlanarBody:
    if any(row["cm_body"]):
        raise NoScene("a centre of mass that is not the origin of its body")
    corners = [tuple(map(float, edge["v1"])) for edge in row["edges"]]
    if len(row["edges"]) == 1:
        shape: Disc | Polygon = Disc(radius=abs(corners[0][0]))
    elif any(edge["type"] == "circular" for edge in row["edges"]):
        raise NoScene("an outline with arcs")
    else:
        shape = Polygon(vertices=tuple(corners))
    state, fixed = {name: float(value) for name, value in row["state"].items()}, row["mass"] == "Infinity"
    free: dict[str, Any] = {"mass": float(row["mass"]), "inertia": float(row["moment_about_cm"])} if not fixed else {}
    return PlanarBody(
        name=row["name"],
        shape=shape,
        fixed=fixed,
        restitution=float(row["elasticity"]),
        position=(state["x"], state["y"]),
        angle=state["angle"],
        velocity=(state["vx"], state["vy"]),
        spin=state["omega"],
        **free,
    )


def half_plane_of(row: Json) -> HalfPlane:
    edge, state = row["edges"][row["special_edge"]["index"]], row["state"]
    middle = [(a + b) / 2.0 for a, b in zip(edge["v1"], edge["v2"])]
    c, s = float(elementary.cos(float(state["angle"]))), float(elementary.sin(float(state["angle"])))
    (x, y), size = middle, max(map(abs, middle))
    normal = (c * x - s * y) / size, (s * x + c * y) / size
    point = float(state["x"]) + size * normal[0], float(state["y"]) + size * normal[1]
    return HalfPlane(name=row["name"], point=point, normal=normal, restitution=float(row["elasticity"]))


def joints_of(connectors: list[Json]) -> list[Revolute | Rod | Rope]:
    found: list[Revolute | Rod | Rope] = []
    for k, row in enumerate(connectors):
        if row["type"] not in ("Joint", "Rope"):
            raise NoScene(f"connector {row['type']}")
        ends = [(row[f"body{i}"], tuple(map(float, row[f"attach{i}"][:2]))) for i in (1, 2)]
        if ends[0][0] == "SCRIM":
            ends.reverse()
        (a, anchor_a), (b, anchor_b) = ends
        given: dict[str, Any] = {"name": f"tie {k}", "a": a, "b": None if b == "SCRIM" else b}
        given |= {"anchor_a": anchor_a, "anchor_b": anchor_b}
        if row["type"] == "Rope":
            kind = Rod if row["rod"] else Rope
            found.append(kind(**given, length=float(row["rest_length"]), collide=True))
            continue
        points = [[c[name] for name in ("body1", "body2", "attach1", "attach2")] for c in connectors]
        if points.count(points[k]) != 2:
            raise NoScene("a joint along one direction alone")
        if points.index(points[k]) == k:
            found.append(Revolute(**given))
    return found
