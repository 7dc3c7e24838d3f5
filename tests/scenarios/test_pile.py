"""The pile: nothing overlaps at the start, and the same seed gives the same pile."""

import pytest

from scenarios.catalogue.pile import pile
from scenarios.scene import content_hash
from tests.scenarios.start_gaps import start_gaps


@pytest.mark.parametrize("space", ["planar", "spatial"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_the_start_all_are_clear_of_each_other_and_of_the_walls(space, seed):
    """None within a twentieth of a body of another; the same look finds a body that is moved into its neighbour."""
    scene = pile(n=24, seed=seed, space=space).scene
    assert start_gaps(scene) == {}
    first, second, *rest = scene.bodies
    inside = second.model_copy(update={"position": first.position})
    overlapped = start_gaps(scene.model_copy(update={"bodies": (first, inside, *rest)}))
    assert overlapped[(first.name, second.name)] < -0.1


def test_the_same_seed_gives_the_same_pile_and_another_seed_another():
    assert content_hash(pile(seed=7).scene) == content_hash(pile(seed=7).scene)
    assert content_hash(pile(seed=7).scene) != content_hash(pile(seed=8).scene)


def test_a_larger_pile_is_the_smaller_one_with_more_on_top():
    assert pile(n=30).scene.bodies[:20] == pile(n=20).scene.bodies


def test_every_third_body_is_round():
    kinds = [body.shape.kind for body in pile(n=6).scene.bodies]
    assert kinds == ["polygon", "polygon", "disc"] * 2
