"""What a step costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def step_time(step_times: NDArray[np.float64]) -> float:
    """s: mean wall time of a step of one simulation, (N,) s each. Take the least of several simulations.

    NaN without steps.
    """
    return float(np.mean(step_times)) if len(step_times) else float("nan")
