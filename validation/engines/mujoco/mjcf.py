"""As much of MjSpec as our adapter uses, for MuJoCo before 3.2.5, which has none or another: it writes MJCF.

The same model comes out of both, to the last bit (a test holds that): numbers are written with all their digits.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

HAS_SPEC = hasattr(mujoco, "MjSpec") and hasattr(mujoco.MjSpec, "compiler")

INTEGRATORS = {"EULER": "Euler", "RK4": "RK4", "IMPLICIT": "implicit", "IMPLICITFAST": "implicitfast"}
SOLVERS = {"PGS": "PGS", "CG": "CG", "NEWTON": "Newton"}
OPTIONS = ("timestep", "impratio", "iterations", "tolerance", "noslip_iterations", "ls_iterations", "ccd_tolerance")
DISABLED = {"mjDSBL_FILTERPARENT": "filterparent", "mjDSBL_AUTORESET": "autoreset", "mjDSBL_MULTICCD": "multiccd"}
ENABLED = {"mjENBL_MULTICCD": "multiccd"}


class Node:
    """A body of the model, or the world."""

    def __init__(self, element: Any) -> None:
        self._element = element
        self.explicitinertial = False
        self.ipos, self.mass, self.inertia = [0.0, 0.0, 0.0], 0.0, [0.0, 0.0, 0.0]
        self.nodes: list[Node] = []

    def add_body(self, **given: Any) -> Node:
        self.nodes.append(Node(_add(self._element, "body", given)))
        return self.nodes[-1]

    def add_joint(self, *, type: Any, **given: Any) -> None:
        _add(self._element, "joint", {"type": _word(type), **given})

    def add_geom(self, *, type: Any, meshname: str | None = None, **given: Any) -> None:
        mesh = {} if meshname is None else {"mesh": meshname}
        _add(self._element, "geom", {"type": _word(type), **mesh, **given})

    def add_site(self, **given: Any) -> None:
        _add(self._element, "site", given)

    def close(self) -> None:
        """Say the mass of this body and of all below."""
        if self.explicitinertial:
            _add(self._element, "inertial", {"pos": self.ipos, "mass": self.mass, "diaginertia": self.inertia})
        for node in self.nodes:
            node.close()


class Tendon:
    def __init__(self, element: Any) -> None:
        self._element = element
        self.limited: Any = None
        self.range: Any = None

    def wrap_site(self, name: str) -> None:
        _add(self._element, "site", {"site": name})

    def close(self) -> None:
        if self.range is not None:
            self._element.set("limited", "true")
            self._element.set("range", _text(self.range))


class MjcfSpec:
    """`add_*` and `compile` as of MjSpec."""

    def __init__(self) -> None:
        self._root = ElementTree.Element("mujoco")
        _add(self._root, "compiler", {"angle": "radian"})
        self.compiler, self.memory = SimpleNamespace(), 0
        self.option = SimpleNamespace(disableflags=0, enableflags=0)
        self.worldbody = Node(ElementTree.SubElement(self._root, "worldbody"))
        self._parts = {name: ElementTree.SubElement(self._root, name) for name in _PARTS}
        self._tendons: list[Tendon] = []

    def add_mesh(self, *, name: str, uservert: list[float], **_: Any) -> None:
        """Without faces: MuJoCo takes the hull of the points."""
        _add(self._parts["asset"], "mesh", {"name": name, "vertex": uservert})

    def add_exclude(self, *, bodyname1: str, bodyname2: str) -> None:
        _add(self._parts["contact"], "exclude", {"body1": bodyname1, "body2": bodyname2})

    def add_pair(self, *, geomname1: str, geomname2: str, **given: Any) -> None:
        _add(self._parts["contact"], "pair", {"geom1": geomname1, "geom2": geomname2, **given})

    def add_tendon(self, *, name: str, solref_limit: Any, solimp_limit: Any) -> Tendon:
        given = {"name": name, "solreflimit": solref_limit, "solimplimit": solimp_limit}
        self._tendons.append(Tendon(_add(self._parts["tendon"], "spatial", given)))
        return self._tendons[-1]

    def add_equality(self, *, type: Any, objtype: Any, name1: str, name2: str = "", **given: Any) -> None:
        if type == mujoco.mjtEq.mjEQ_TENDON:
            _add(self._parts["equality"], "tendon", {"tendon1": name1, **given})
        else:
            _add(self._parts["equality"], "connect", {"site1": name1, "site2": name2, **given})

    def compile(self) -> Any:
        self.worldbody.close()
        for tendon in self._tendons:
            tendon.close()
        self._close_options()
        if self.memory:
            _add(self._root, "size", {"memory": int(self.memory)})
        return mujoco.MjModel.from_xml_string(ElementTree.tostring(self._root, encoding="unicode"))

    def _close_options(self) -> None:
        option = vars(self.option)
        given = {name: option[name] for name in OPTIONS if name in option} | {"gravity": option["gravity"]}
        given["integrator"] = INTEGRATORS[_last(option["integrator"])]
        given["solver"] = SOLVERS[_last(option["solver"])]
        given |= {"cone": _word(option["cone"]), "jacobian": _word(option["jacobian"])}
        flags = {flag: "disable" for name, flag in DISABLED.items() if option["disableflags"] & _bit("Disable", name)}
        flags |= {flag: "enable" for name, flag in ENABLED.items() if option["enableflags"] & _bit("Enable", name)}
        _add(_add(self._root, "option", given), "flag", flags)


_PARTS = ("asset", "contact", "tendon", "equality")


def _bit(kind: str, name: str) -> int:
    """0 where this release has no such bit."""
    return int(getattr(getattr(mujoco, f"mjt{kind}Bit"), name, 0))


def _add(element: Any, tag: str, given: dict[str, Any]) -> Any:
    return ElementTree.SubElement(element, tag, {name: _text(value) for name, value in given.items()})


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return " ".join(repr(number) for number in np.atleast_1d(np.asarray(value)).ravel().tolist())


def _last(member: Any) -> str:
    """mjINT_EULER: EULER"""
    return str(member.name).rpartition("_")[2]


def _word(member: Any) -> str:
    """mjGEOM_BOX: box, as MJCF has it"""
    return _last(member).lower()
