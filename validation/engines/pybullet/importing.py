"""What pybullet has loaded as a scene of ours: its joints with their limits, damping and friction, and what is lost."""

from __future__ import annotations

import pybullet as pb

from scenarios.native import Model
from validation.engines.pybullet.description import described
from validation.engines.pybullet.loading import Loaded
from validation.engines.shared.importing import Beside, Data, Imported, stands_alone

DAMPING, FRICTION, LOW, HIGH = 6, 7, 8, 9  # columns of getJointInfo
OF_THE_SCENE = ("its gaps are not measured", "how far they open is not measured")
"""How lines of the description end that hold of the scene, too."""


def imported(loaded: Loaded, given: Model, duration: float, title: str) -> Imported:
    """Raises ModelError, SceneError."""
    found = described(loaded, given, duration, title)
    beside = Beside()
    for name, link in found.joints.items():
        joint = link.joint
        acts: Data = {"start": float(loaded.call(pb.getJointState, *link.address)[0])}
        if joint[LOW] <= joint[HIGH]:
            acts["limits"] = {"low": float(joint[LOW]), "high": float(joint[HIGH])}
        if joint[LOW] == joint[HIGH]:
            beside.lose("joints without any way to go, which move here", [name])
            del acts["limits"]
        for field, column in (("damping", DAMPING), ("friction", FRICTION)):
            if joint[column] > 0.0:
                acts[field] = float(joint[column])
        beside.along[name] = acts
    if loaded.settings["motors"]:
        beside.lose("motors, at rest, that pybullet gives every joint", list(found.joints))
    beside.lost["damping of motion, by default 0.04 1/s, which pybullet does not give"] = None
    native = found.scene.native
    assert native is not None
    others = [line for line in native.unmeasured if line.endswith(OF_THE_SCENE)]
    return stands_alone(found.scene, beside, [line.replace(OF_THE_SCENE[0], "it has no shape here") for line in others])
