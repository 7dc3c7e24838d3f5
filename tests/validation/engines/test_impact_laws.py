"""A scene that names a law of impact: the reference engine obeys, others do what is theirs."""

from typing import Any, get_args

import numpy as np
import pytest

from scenarios.catalogue import scenario_of
from scenarios.catalogue.single_impact import Case
from scenarios.scenario import ParameterError
from scenarios.scene import Box, ImpactLaw, Scene, Sphere
from tests.effort import few
from tests.validation.engines.planar_scenes import ball, box, ground, scene
from tests.validation.engines.spatial_scenes import ENGINES, motion_of, solid, space
from validation.engines.engine import DeclinedError
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.reference.adapter import Reference

DT = 1.0 / 60.0
SPACES = ("planar", "spatial")
CASES = [(case, SPACES[(i + turn) % 2]) for turn in (0, 1) for i, case in enumerate(get_args(Case))]
CARRIED = (0.0, 0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(("case", "dimension"), few(len(CASES) // 2, CASES))
def test_the_reference_obeys_whatever_law_the_scene_names(case: str, dimension: str) -> None:
    for law in get_args(ImpactLaw):
        try:
            scenario = scenario_of(f"single-impact:case={case},law={law},space={dimension}")
        except ParameterError:
            continue
        engine = Reference()
        if engine.declines(scenario.scene):
            assert case == "pendulum" and law not in ("newton", "poisson")
            continue
        motion = motion_of(engine, scenario.scene, dt=DT)
        exact = scenario.truth.pose(motion.time)
        assert np.abs(motion.position - exact[..., : motion.position.shape[2]]).max() < 1e-12
        assert scenario.truth.goal.measure(motion) == pytest.approx(scenario.truth.goal.value, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("engine", [Pymunk(), *ENGINES[:-1]], ids=lambda engine: engine.name)
def test_peers_have_newtons_law_with_coulombs_between_the_impulse_and_the_slip_afterwards(engine: Any) -> None:
    """Where a rod's sliding turns round: 0.439 m/s by that law, 0.375 by the nearest other, 0.244 followed through."""
    named = "spatial" if engine.name == "pybullet" else "planar"
    scenario, stronge = (scenario_of(f"single-impact:space={named},law={law}") for law in ("newton", "stronge"))
    motion = motion_of(engine, scenario.scene, dt=1.0 / 240.0)
    assert scenario.truth.goal.measure(motion) == pytest.approx(scenario.truth.goal.value, abs=1e-9)
    assert abs(stronge.truth.goal.value - scenario.truth.goal.value) > 0.1
    assert engine.declines(stronge.scene) == f"{engine.name} does not take contact.impact_law=stronge"


def with_law(given: Scene, law: str, **more: Any) -> Scene:
    return given.model_copy(update={"contact": given.contact.model_copy(update={"impact_law": law, **more})})


def test_what_comes_to_stay_in_contact_is_declined_once_that_is_known() -> None:
    """A disc that rests, and one that falls and does not bounce."""
    for height in (0.5, 1.0):
        given = with_law(scene(ball(position=(0.0, height)), duration=1.0, ground=ground()), "stronge")
        engine = Reference()
        assert engine.declines(given) is None
        with pytest.raises(DeclinedError, match=r"'stronge' .* flights and impacts alone; this scene has more .*t = "):
            engine.simulate(given, DT, engine.profile("default", given, DT))


def test_what_flights_cannot_be_is_declined_in_words() -> None:
    engine = Reference()
    cube = Box(size=(1.0, 1.0, 1.0))
    two = space(solid(cube, "one"), solid(cube, "two", position=(3.0, 0.0, 0.0)), duration=1.0)
    assert engine.declines(with_law(two, "stronge")) is None
    flat = scene(box(), box(name="other", position=(3.0, 0.0)), duration=1.0)
    assert "of which not both are round" in str(engine.declines(with_law(flat, "stronge")))
    grouped = with_law(two, "stronge", impact_order="grouped")
    declined = str(engine.declines(grouped))
    assert "'stronge' is for one contact; contacts in 'grouped' order have newton or poisson" in declined
    assert engine.declines(with_law(scene(box(), duration=1.0), "stronge")) is None


@pytest.mark.parametrize("law", [None, "newton", "poisson"])
@pytest.mark.parametrize(
    ("order", "after"), [("simultaneous", (-0.6, 0.4, 0.4, 0.4, 0.4)), ("sequential", CARRIED), ("grouped", CARRIED)]
)
@pytest.mark.parametrize("dimension", ["planar", "spatial"])
def test_the_reference_obeys_every_order_of_a_cradle(
    dimension: str, order: str, after: tuple[float, ...], law: Any
) -> None:
    """Balls in touch, the first arrives with 1 m/s, e = 1."""
    if dimension == "planar":
        given = scenario_of("cradle-in-touch").scene
    else:
        balls = (solid(Sphere(radius=0.05), f"ball {i}", position=(0.1 * i - 0.1 * (i == 0), 0.0, 1.0), restitution=1.0,
                       velocity=(float(i == 0), 0.0, 0.0)) for i in range(5))  # fmt: skip
        given = space(*balls, duration=0.5, gravity=(0.0, 0.0, 0.0))
    named = with_law(given, law, impact_order=order)
    engine = Reference()
    assert engine.declines(named) is None
    motion = motion_of(engine, named, dt=DT)
    assert motion.velocity[-1, :, 0] == pytest.approx(after, abs=1e-9)
