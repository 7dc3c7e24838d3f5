"""Scenes of what our own engines alone simulate exactly: springs, thrusters and damping, round and concave outlines,
tracks, stated laws of impact, compliant contact; ellipsoids among themselves.

Other engines get springs by their adapters, explicitly: a stiff one is no fault of theirs, so these are not drawn for
them. Shrinking goes towards one body and no friction.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from scenarios.bodies import PlanarBody, SpatialBody
from scenarios.boundaries import HalfPlane, HalfSpace, HollowSphere
from scenarios.catalogue.shared.bodies import rectangle
from scenarios.contact import CompliantContact, ContactLaw, Material, MaterialPair
from scenarios.forces import Damping, Spring, Thruster
from scenarios.joints import Track
from scenarios.scene import PlanarScene, Scene, SpatialScene
from scenarios.shapes import ArcPolygon, Box, Disc, Ellipsoid, Polygon, Sphere
from scenarios.strategies import values
from scenarios.strategies.values import DURATIONS, MASSES

Draw = Callable[[st.SearchStrategy[Any]], Any]
IMPACT_LAWS = ("newton", "incremental-newton", "incremental-poisson", "stronge", "chatterjee-ruina", "stick-or-slip")
STADIUM = ArcPolygon(vertices=((-0.5, -0.25), (0.5, -0.25), (0.5, 0.25), (-0.5, 0.25)), bulges=(0.0, 1.0, 0.0, 1.0))
BISCUIT = ArcPolygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)), bulges=(0.2, 0.2, 0.2, 0.2))
CROSS = Polygon(
    vertices=(
        *((-0.6, -0.2), (-0.2, -0.2), (-0.2, -0.6), (0.2, -0.6), (0.2, -0.2), (0.6, -0.2)),
        *((0.6, 0.2), (0.2, 0.2), (0.2, 0.6), (-0.2, 0.6), (-0.2, 0.2), (-0.6, 0.2)),
    )
)
OUTLINES = (STADIUM, BISCUIT, CROSS)
ROUND = (Ellipsoid(semi_axes=(0.5, 0.25, 0.375)), Ellipsoid(semi_axes=(0.5, 0.5, 0.125)), Sphere(radius=0.5))
SPRING_RATES = (10.0, 100.0)  # N/m
SMALL = st.integers(-8, 8).map(lambda n: n / 8.0)  # m, m/s, rad/s
ANGLES = st.sampled_from((0.0, 0.3, 1.2, -2.0))
RUBBER = Material(name="rubber", young_modulus=1e6, poisson_ratio=0.4)


@st.composite
def sprung(draw: Draw, planar: bool) -> Scene:
    """Bodies afloat that springs tie to one another or to the world, with damping and a thruster now and then."""
    count = draw(st.integers(1, 3))
    bodies = [_afloat(draw, planar, i) for i in range(count)]
    width = 2 if planar else 3
    springs = []
    for i, body in enumerate(bodies):
        end = bodies[i - 1].name if i and draw(st.booleans()) else None
        rest = draw(st.sampled_from((0.0, 1.0)))
        springs.append(
            Spring(
                a=body.name, b=end, anchor_a=_arm(draw, width), stiffness=draw(st.sampled_from(SPRING_RATES)),
                anchor_b=_arm(draw, width), rest_length=rest, damping=draw(st.sampled_from((0.0, 0.0, 1.0))),
                tension_only=draw(st.booleans()) and rest > 0.0,
            )
        )  # fmt: skip
    more: dict[str, Any] = {}
    if draw(st.sampled_from((False, False, True))):
        more["damping"] = Damping(linear=0.5, angular=0.1, quadratic=draw(st.sampled_from((0.0, 0.2))))
    if draw(st.sampled_from((False, False, True))):
        thruster = Thruster(body=bodies[0].name, anchor=_arm(draw, width), force=(3.0, 1.0, 2.0)[:width])
        more["thrusters"] = (thruster,)
    return _scene(planar, bodies, draw, springs=tuple(springs), **more)


def _afloat(draw: Draw, planar: bool, i: int) -> Any:
    """Bodies of one group, which pass through one another."""
    mass, spin = draw(st.sampled_from(MASSES)), draw(SMALL)
    if planar:
        shape: Any = draw(st.sampled_from((rectangle(1.0, 0.5), Disc(radius=0.5))))
        return PlanarBody(
            name=f"body {i + 1}", shape=shape, mass=mass, position=(2.0 * i, 0.0), angle=draw(ANGLES),
            velocity=(draw(SMALL), draw(SMALL)), spin=spin, group=1,
        )  # fmt: skip
    shape = draw(
        st.sampled_from((Box(size=(1.0, 0.5, 0.25)), Sphere(radius=0.5), Ellipsoid(semi_axes=(0.5, 0.3, 0.2))))
    )
    return SpatialBody(
        name=f"body {i + 1}", shape=shape, mass=mass, position=(2.0 * i, 0.0, 0.0),
        velocity=(draw(SMALL), draw(SMALL), draw(SMALL)), spin=(spin, draw(SMALL), 4.0 * draw(SMALL)), group=1,
    )  # fmt: skip


def _arm(draw: Draw, width: int) -> tuple[float, ...]:
    return tuple(draw(st.sampled_from((0.0, 0.25, -0.125))) for _ in range(width))


def _scene(planar: bool, bodies: list[Any], draw: Draw, **more: Any) -> Scene:
    kind: Any = PlanarScene if planar else SpatialScene
    durations = DURATIONS if planar else (0.25, 0.5)  # s; in space Python integrates
    scene: Scene = kind(duration=draw(st.sampled_from(durations)), bodies=tuple(bodies), **more)
    return scene


@st.composite
def outlines(draw: Draw) -> Scene:
    """Bodies with round or re-entrant outlines, that fall onto the ground and one another."""
    surface = {"friction": draw(st.sampled_from(values.FRICTIONS)), "restitution": draw(st.sampled_from((0.0, 0.5)))}
    bodies = [
        PlanarBody(
            name=f"body {i + 1}", shape=draw(st.sampled_from(OUTLINES)), mass=draw(st.sampled_from(MASSES)),
            position=(draw(SMALL), 1.0 + 2.0 * i + abs(draw(SMALL))), angle=draw(ANGLES), velocity=(draw(SMALL), 0.0),
            spin=draw(SMALL), **surface,
        )
        for i in range(draw(st.integers(1, 2)))
    ]  # fmt: skip
    ground = HalfPlane(name="ground", **surface)
    return PlanarScene(duration=draw(st.sampled_from(DURATIONS)), bodies=tuple(bodies), boundaries=(ground,))


@st.composite
def tracks(draw: Draw) -> Scene:
    """A body whose anchor runs along a hump."""
    body = PlanarBody(
        name="body", shape=rectangle(0.5, 0.25), mass=draw(st.sampled_from(MASSES)), angle=draw(ANGLES),
        position=(0.0, 0.0), spin=draw(SMALL),
    )  # fmt: skip
    points = ((-2.0, 0.0), (2.0, 0.0), (4.0, 2.0))
    track = Track(name="track", a="body", anchor_a=(0.0, 0.0), points=points, bulges=(0.0, draw(_quarter())))
    velocity = (draw(st.sampled_from((1.0, 4.0, -2.0))), 0.0)
    return PlanarScene(
        duration=draw(st.sampled_from(DURATIONS)), bodies=(body.model_copy(update={"velocity": velocity}),),
        joints=(track,),
    )  # fmt: skip


def _quarter() -> st.SearchStrategy[float]:
    """A quarter of a circle: it leaves a level line smoothly."""
    return st.just(0.41421356237309503)


@st.composite
def stated(draw: Draw, planar: bool) -> Scene:
    """Flights and impacts by a law that the scene states."""
    law = draw(st.sampled_from(IMPACT_LAWS))
    surface = {"friction": draw(st.sampled_from(values.FRICTIONS)), "restitution": draw(st.sampled_from((1.0, 0.5)))}
    bodies: list[Any] = []
    for i in range(draw(st.integers(1, 3))):
        common: dict[str, Any] = {"name": f"body {i + 1}", "mass": draw(st.sampled_from(MASSES)), **surface}
        up, fall = 1.5 + 1.5 * i, -abs(draw(SMALL))
        if planar:
            shape: Any = Disc(radius=0.5) if i else draw(st.sampled_from((Disc(radius=0.5), rectangle(1.0, 0.5))))
            shape = shape if i == 0 or not isinstance(bodies[0].shape, Polygon) else Disc(radius=0.5)
            bodies.append(
                PlanarBody(shape=shape, position=(3.0 * i, up), angle=draw(ANGLES), velocity=(draw(SMALL), fall),
                           spin=draw(SMALL), group=1, **common)
            )  # fmt: skip
        else:
            shape = draw(st.sampled_from((Sphere(radius=0.5), Box(size=(1.0, 0.5, 0.25)))))
            bodies.append(
                SpatialBody(shape=shape, position=(3.0 * i, 0.0, up), velocity=(draw(SMALL), draw(SMALL), fall),
                            spin=(draw(SMALL), draw(SMALL), draw(SMALL)), group=1, **common)
            )  # fmt: skip
    ground: Any = HalfPlane(name="ground", **surface) if planar else HalfSpace(name="ground", **surface)
    more = {"boundaries": (ground,), "contact": ContactLaw(impact_law=law)}
    kind: Any = PlanarScene if planar else SpatialScene
    scene: Scene = kind(duration=draw(st.sampled_from((0.5, 1.0))), bodies=tuple(bodies), **more)
    return scene


@st.composite
def compliant(draw: Draw) -> Scene:
    """Rubber balls that meet one another, or fall onto rubber ground."""
    friction, e = draw(st.sampled_from((0.0, 0.5))), draw(st.sampled_from((1.0, 0.5)))
    law = MaterialPair(
        a="rubber", b="rubber", restitution=e, sliding_friction=friction,
        rolling_resistance=draw(st.sampled_from((0.0, 0.1))),
    )  # fmt: skip
    falls = draw(st.booleans())
    bodies = [
        SpatialBody(
            name=f"ball {i + 1}", shape=Sphere(radius=0.1), mass=draw(st.sampled_from((1.0, 2.0))), material="rubber",
            position=(0.05 * draw(SMALL), 0.0, 0.15 + 0.25 * i), velocity=(draw(SMALL), 0.0, 1.0 - 2.0 * i),
            spin=(0.0, 4.0 * draw(SMALL), draw(SMALL)),
        )
        for i in range(draw(st.integers(1, 2)))
    ]  # fmt: skip
    contact = ContactLaw(compliant=CompliantContact(materials=(RUBBER,), pairs=(law,)))
    if not falls:
        return SpatialScene(duration=0.5, bodies=tuple(bodies), contact=contact, gravity=(0.0, 0.0, 0.0))
    ground = HalfSpace(name="ground", material="rubber")
    return SpatialScene(duration=0.5, bodies=tuple(bodies), contact=contact, boundaries=(ground,))


@st.composite
def ellipsoids(draw: Draw) -> Scene:
    """Ellipsoids and balls that fall, spinning, onto the ground or into a hollow sphere."""
    surface = {"friction": draw(st.sampled_from(values.FRICTIONS)), "restitution": draw(st.sampled_from((0.0, 0.5)))}
    bodies = [
        SpatialBody(
            name=f"body {i + 1}", shape=draw(st.sampled_from(ROUND)), mass=draw(st.sampled_from(MASSES)),
            position=(0.25 * draw(SMALL), 0.25 * draw(SMALL), 0.75 + 1.25 * i),
            velocity=(draw(SMALL), draw(SMALL), 0.0), spin=(4.0 * draw(SMALL), draw(SMALL), 4.0 * draw(SMALL)),
            **surface,
        )
        for i in range(draw(st.integers(1, 2)))
    ]  # fmt: skip
    around: Any = HalfSpace(name="ground", **surface)
    if draw(st.booleans()):
        around = HollowSphere(name="bowl", center=(0.0, 0.0, 1.5), radius=2.5, **surface)
    return SpatialScene(duration=draw(st.sampled_from(DURATIONS)), bodies=tuple(bodies), boundaries=(around,))


def arrangements() -> dict[str, st.SearchStrategy[Scene]]:
    """By name, all of them."""
    return {
        "sprung in the plane": sprung(planar=True),
        "sprung in space": sprung(planar=False),
        "outlines": outlines(),
        "track": tracks(),
        "stated law in the plane": stated(planar=True),
        "stated law in space": stated(planar=False),
        "compliant": compliant(),
        "ellipsoids": ellipsoids(),
    }
