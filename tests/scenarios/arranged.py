"""Arrangements as strategies draw them, and how hard the tests of them try."""

import functools

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from scenarios.scene import Scene
from scenarios.strategies.allowed import Allowed
from scenarios.strategies.probes import arrangements
from tests.effort import tries

SMALL = settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEARCH = settings(max_examples=1000, deadline=None, phases=(Phase.generate,), database=None)
ROUND_OFF = 1e-9  # m


@functools.cache
def drawn(allowed: Allowed, name: str) -> st.SearchStrategy[Scene]:
    return arrangements(allowed)[name]
