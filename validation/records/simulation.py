"""What became of one simulation: the trajectory or none, the outcome, and what it cost."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from validation.records.trajectory import Trajectory

Status = Literal["completed", "declined", "crashed", "timed_out", "out_of_memory", "not_finite", "adapter_failed"]
BROKEN: frozenset[Status] = frozenset({"crashed", "timed_out", "out_of_memory", "not_finite"})
"""What the engine did; an adapter of ours that failed says nothing of the engine, so such a case is not compared."""


Limit = Literal["", "proven", "given up"]
"""At which it crashed: a `reference_engine.DocumentedLimit`, with a proof that no motion goes on, or without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    outcome: Status
    trace: str = ""  # where it broke: a traceback, or the last lines that it printed
    reason: str = ""  # why declined, which signal, which limit: as it stands in the report
    limit: Limit = ""
    trajectory: Trajectory | None = None
    encoded: bytes = b""
    """The trajectory as it came from another process, in place of `to_bytes`; of one that broke, which has none, its
    samples up to the last finite one, if it was recorded."""
    step_times: NDArray[np.float64] | None = None  # (N,) s, wall time of each step, inside the engine alone
    cpu_share: float = 1.0  # of a core, that its process had while it simulated
    wall_time: float = 0.0  # s, of the whole process from fork to reply
    peak_memory: int = 0  # bytes, resident
