"""How much a test tries: everything in `make slow`; where slow tests are left out, enough to notice a fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

QUICK = "not slow"  # pytest's -m
quick = False  # set by conftest.py before any test is imported


def tries(whole: int, part: int = 0) -> int:
    """`whole`, or where the slow tests are left out `part` of it: a fifth, and ten at least, if none is given."""
    return (part or min(whole, max(10, whole // 5))) if quick else whole


def few(count: int, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Of the cases of a parametrised test all but the first `count` are slow."""
    return [case if i < count else pytest.param(*case, marks=pytest.mark.slow) for i, case in enumerate(cases)]
