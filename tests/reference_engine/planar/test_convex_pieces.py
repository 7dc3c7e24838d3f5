"""How the located mode takes shapes with arcs apart, and which it refuses."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, Edge, Outline, World, WorldError, wall
from reference_engine.planar.convex_pieces import CONCAVE_ARC, DISC, POLYGON, ROUNDED, pieces_of_outline
from tests.reference_engine.planar.arcs import half_disc, lens, loaded_disc, stadium, trough
from tests.reference_engine.planar.scenes import ground
from tests.reference_engine.planar.worlds import pack_model


def area(points: np.ndarray) -> float:
    x, y = points.T
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())


@pytest.mark.parametrize("shape", [half_disc(1.0)[0], lens(1.0, 0.6), stadium(1.0, 0.5), loaded_disc(0.5, 0.2)])
def test_what_is_convex_stays_whole(shape):
    (piece,) = pieces_of_outline(shape, "it")
    assert piece.kind == ROUNDED
    assert len(piece.rounded) == sum(edge.centre is not None for edge in shape.edges)


def test_either_way_round_the_parts_are_the_same():
    turned = [Edge(start=e.end, end=e.start, centre=e.centre, clockwise=not e.clockwise and e.centre is not None)
              for e in reversed(stadium(1.0, 0.5).edges)]  # fmt: skip
    (one,), (other,) = pieces_of_outline(stadium(1.0, 0.5), "it"), pieces_of_outline(Outline(turned), "it")
    assert area(one.corners) == area(other.corners) == 2.0
    assert {arc.centre for arc in one.rounded} == {arc.centre for arc in other.rounded}


@pytest.mark.parametrize("rim", [1.0, 0.1, 0.01])
def test_behind_a_concave_arc_the_polygons_leave_a_thin_layer_which_the_arc_guards(rim):
    """The polygons' area is that of the body less the layer: never more, and the thinner the body the thinner it."""
    pieces = pieces_of_outline(trough(1.0, rim), "it")
    assert [piece.kind for piece in pieces].count(CONCAVE_ARC) == 1
    body = 2.0 * (1.0 + rim) ** 2 - math.pi / 2.0
    solid = sum(area(piece.corners) for piece in pieces if piece.kind != CONCAVE_ARC)
    assert 0.0 < body - solid < 4.0 * rim
    assert all(piece.kind in (POLYGON, ROUNDED, CONCAVE_ARC) and piece.kind != DISC for piece in pieces)


def test_every_corner_of_every_part_has_its_row():
    """A hollow has one arc and many corners: what is listed after it must not slip."""
    bodies = [Body(shape=shape, inertia=1.0) for shape in (trough(1.0), stadium(1.0, 0.5), trough(0.5), lens(1.0, 0.6))]
    model = pack_model(World(bodies=(*bodies, Body(shape=Disc(1.0)), ground())))
    corners = model.first[-1]
    assert model.arc_first[0] == corners
    assert {len(rows) for rows in (model.straight, model.smooth, model.arcs, model.cone)} == {corners}
    assert len(model.vertices) == len(model.normals) == len(model.lengths) == model.arc_first[-1]
    of_the_lens = int(np.flatnonzero(model.row == 3)[0])
    assert list(model.straight[model.first[of_the_lens] : model.first[of_the_lens + 1]]) == [0, 0]


def test_a_crescent_is_segments_a_hollow_and_polygons():
    outer = Edge(start=(-1.0, 0.0), end=(1.0, 0.0), centre=(0.0, 0.0))
    inner = Edge(start=(1.0, 0.0), end=(-1.0, 0.0), centre=(0.0, 0.75), clockwise=True)
    pieces = pieces_of_outline(Outline([outer, inner]), "it")
    segments = [piece for piece in pieces if piece.rounded and piece.kind == ROUNDED]
    assert sum(2.0 * piece.rounded[0].half for piece in segments) == pytest.approx(math.pi, abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        (wall(2.0), "live edge"),
        (
            Outline([*stadium(1.0, 0.5).edges, Edge(start=(0.1, 0.0), end=(0.1, 0.0), centre=(0.0, 0.0))], holes=(1,)),
            "holes",
        ),
        (
            Outline([Edge(start=(-1.0, 0.0), end=(1.0, 0.0), centre=(0.0, 0.0)),
                     Edge(start=(1.0, 0.0), end=(0.0, 0.0), centre=(0.5, 0.0), clockwise=True),
                     Edge(start=(0.0, 0.0), end=(-1.0, 0.0))]),
            "turns back on itself at the start of edge 1",
        ),
    ],
    ids=["live edge", "hole", "cusp"],
)  # fmt: skip
def test_what_this_mode_does_not_have_is_named(shape, why):
    with pytest.raises(WorldError, match=f"body 'it'.*{why}"):
        pieces_of_outline(shape, "it")
