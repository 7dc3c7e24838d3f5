"""What the adapter of DART offers of versions of dartpy that have less than the latest; dartpy is not needed."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from types import ModuleType, SimpleNamespace

import pytest

ADAPTER = "validation.engines.dart.adapter"


def adapter_with(monkeypatch: pytest.MonkeyPatch, *, detectors: str, solver: str = "", world: str = "") -> ModuleType:
    """The adapter as it is where dartpy has these detectors, and these methods of its solver and world."""
    dartpy = SimpleNamespace(
        dynamics=None,
        collision=SimpleNamespace(**dict.fromkeys(detectors.split())),
        constraint=SimpleNamespace(ConstraintSolver=SimpleNamespace(**dict.fromkeys(solver.split()))),
        simulation=SimpleNamespace(World=SimpleNamespace(**dict.fromkeys(world.split()))),
    )
    monkeypatch.setitem(sys.modules, "dartpy", dartpy)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "6")
    monkeypatch.delitem(sys.modules, ADAPTER, raising=False)
    adapter = importlib.import_module(ADAPTER)
    del sys.modules[ADAPTER]  # whoever imports it next gets what is installed
    return adapter


OLD = "FCLCollisionDetector BulletCollisionDetector DARTCollisionDetector"


def test_before_6_20_there_is_no_ode_and_so_no_fair_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """As dartpy 6.16 to 6.18: three detectors, no split impulses, nothing deactivated."""
    adapter = adapter_with(monkeypatch, detectors=OLD)
    assert adapter.SETTINGS.keys() == {"collision_detector", "max_contacts"}
    assert adapter.SETTINGS["collision_detector"].choices == ("fcl", "bullet", "dart")
    assert adapter.Dart.profiles == ("default",)


def test_from_6_20_on_every_setting_of_the_fair_profile_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = adapter_with(
        monkeypatch,
        detectors=f"{OLD} OdeCollisionDetector",
        solver="setSplitImpulseEnabled",
        world="setDeactivationOptions",
    )
    assert adapter.FAIR.keys() < adapter.SETTINGS.keys()
    assert adapter.FAIR["collision_detector"] in adapter.SETTINGS["collision_detector"].choices
    assert adapter.Dart.profiles == ("default", "fair")
