"""The single impacts: each is what its name says, and the scene's law is obeyed to round-off."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_engine import impact, inverse_mass, multiple_impact
from scenarios.catalogue import scenario_of, single_impact
from scenarios.catalogue.single_impact import CASES
from scenarios.scenario import ParameterError
from scenarios.scene import ImpactLaw
from tests.effort import tries

INERTIA = {"ball": 0.5 * 0.1**2, "corn": 10.0 / 12.0}
SLIDES, TURNS = "slip, compression; slip, end", "slip, slip-stop; slip, compression; slip, end"
STICKS = "slip, slip-stop; stick, compression; stick, end"


@pytest.mark.parametrize(
    ("case", "path"),
    [
        ("ball-slides", SLIDES),
        ("ball-grips", STICKS),
        ("rod-sticks", STICKS),
        ("rod-slides", SLIDES),
        ("rod-turns-back", TURNS),
        ("rod-jams", STICKS),
        ("rod-grazes", STICKS),
        ("corner", STICKS),
    ],
)
def test_each_case_is_what_it_is_called(case, path):
    body, arm = single_impact.body_at_impact(case, "planar")
    blow = CASES[case]
    K = inverse_mass(1.0, body.inertia or INERTIA[case[:4]], arm)
    u = np.array(blow.velocity) + blow.spin * np.array([-arm[1], arm[0]])
    found = impact(K, u, friction=blow.friction, restitution=blow.restitution, law="poisson")
    assert "; ".join(f"{kind.rstrip('+-1')}, {end}" for kind, end in found.phases) == path
    if case == "rod-turns-back":
        assert found.velocity[0] * u[0] < 0.0
    presses = K[1, 1] - blow.friction * np.sign(u[0]) * K[0, 1]  # of du_n by a unit of the normal impulse, sliding
    assert (presses < 0.0) == (case in ("rod-jams", "rod-grazes"))


@pytest.mark.parametrize("law", ["newton", "poisson"])
@settings(max_examples=tries(100))
@given(
    angle=st.floats(0.1, 1.5), slip=st.floats(-5.0, 5.0), friction=st.floats(0.0, 0.6), restitution=st.floats(0.0, 1.0)
)
def test_the_closed_form_is_the_complementarity_problem_s_solution(law, angle, slip, friction, restitution):
    K, u = inverse_mass(1.0, 1.0 / 12.0, (-0.5 * np.cos(angle), -0.5 * np.sin(angle))), np.array([slip, -2.0])
    found = single_impact.impulse(K, u, friction, restitution, law)
    other = multiple_impact(K, u[None], friction=friction, restitution=restitution, law=law).impulse[0]
    assert found == pytest.approx(other, abs=1e-9)


def test_newtons_law_raises_the_energy_of_the_double_pendulum():
    ratio = {law: single_impact.after_impact(law)[1] for law in get_args(ImpactLaw)}
    assert ratio["newton"] == pytest.approx(ratio["incremental-newton"], rel=1e-9) and ratio["newton"] > 6.0
    assert max(ratio["poisson"], ratio["stronge"], ratio["chatterjee-ruina"]) <= 1.0


def test_the_tip_that_grazes_is_thrown_up_by_friction_many_times_as_fast_as_it_came():
    bounced = {law: scenario_of(f"single-impact:case=rod-grazes,law={law}").scene for law in ("newton",)}
    body, arm = single_impact.body_at_impact("rod-grazes", "planar")
    blow = CASES["rod-grazes"]
    K, u = inverse_mass(1.0, body.inertia, arm), np.array(blow.velocity)
    up = {
        law: (u + K @ single_impact.impulse(K, u, blow.friction, blow.restitution, law))[1]
        for law in get_args(ImpactLaw)
    }
    assert bounced and up["newton"] == pytest.approx(0.5 * 0.05)
    assert up["incremental-poisson"] > 10.0 * 0.05 and up["stronge"] > 5.0 * 0.05


def test_the_pendulum_is_the_planes_alone():
    with pytest.raises(ParameterError, match="space=planar"):
        scenario_of("single-impact:case=pendulum,space=spatial")
