"""What is read of MuJoCo's data, of scenes and of models alike: contacts, options, warnings."""

from typing import Any

import mujoco
import numpy as np

from reference_engine.array_types import Indices
from validation.engines.engine import NotFiniteError, Value
from validation.engines.shared import recorder

LAG_IN_STEPS = {"euler": -0.5, "implicit": -0.5, "implicitfast": -0.5, "rk4": 0.0}
CHECK_EVERY = 64  # steps between looks at the warning counters


def contact_rows(model: Any, data: Any, member: Indices, dt: float, *, knows_forces: bool) -> recorder.Rows | None:
    """a, b, points, normals, gaps and impulses on b of the contacts of the last step, at the poses it started from.

    Of those MuJoCo leaves out because they are out of reach it reports no force, and neither do we; nor of what is no
    member of the scene. `member`: (G,) of each geom, -1 of what is none.
    """
    contact = data.contact
    first, second = contact.geom1, contact.geom2
    solved = np.flatnonzero((contact.exclude == 0) & (first >= 0) & (second >= 0))
    solved = solved[(member[first[solved]] >= 0) & (member[second[solved]] >= 0)]
    if not solved.size:
        return None
    frames = contact.frame.reshape(-1, 3, 3)[solved]
    impulses = np.full((solved.size, 3), np.nan)
    if knows_forces:
        force = np.zeros((solved.size, 6))
        for row, k in zip(force, solved.tolist()):
            mujoco.mj_contactForce(model, data, k, row)
        impulses = np.einsum("ki,kij->kj", force[:, :3], frames) * dt
    a, b = member[first[solved]], member[second[solved]]
    return a, b, contact.pos[solved], frames[:, 0], contact.dist[solved], impulses


def options_of(model: Any) -> dict[str, Value]:
    """mjOption, its vectors as text, its kinds as MuJoCo numbers them."""
    option = model.opt
    found: dict[str, Value] = {}
    for name in dir(option):
        value = None if name.startswith("_") else getattr(option, name)
        if isinstance(value, (bool, int, float)):
            found[name] = value
        elif isinstance(value, np.ndarray):
            found[name] = " ".join(map(str, value.tolist()))
    return found


def check_warnings(data: Any) -> None:
    counts = data.warning.number
    for name in ("BADQPOS", "BADQVEL", "BADQACC"):
        if counts[getattr(mujoco.mjtWarning, f"mjWARN_{name}")]:
            raise NotFiniteError(f"MuJoCo warned {name} (not finite, or above 1e10) by {data.time:.4g} s")
    for name in ("CONTACTFULL", "CNSTRFULL"):
        if counts[getattr(mujoco.mjtWarning, f"mjWARN_{name}")]:
            raise MemoryError(f"MuJoCo warned {name}: it dropped contacts for want of memory by {data.time:.4g} s")
