"""The time of rest that the scenario states, against a program of scipy's event location that shares no line."""

import pytest

from scenarios.catalogue import tumbling_block
from tests.reference_engine.planar import tumbling_oracle as witness


def test_the_block_rests_when_the_witness_says():
    measures = tumbling_block.WIDTH, tumbling_block.HEIGHT, tumbling_block.TILT, tumbling_block.FALL
    assert measures == (witness.WIDE, witness.HIGH, witness.TILT, witness.FALL)
    assert tumbling_block.RESTITUTION == witness.BACK
    assert witness.rest_times(1e-10)[-1] == pytest.approx(tumbling_block.REST, abs=5e-9)
