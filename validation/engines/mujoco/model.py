"""A scene as a MuJoCo model, of the MJCF that `mjcf` writes, and where the scene's bodies are in it."""

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from reference_engine.array_types import Indices
from scenarios.given_motion import given_bodies
from scenarios.joints import Motor
from scenarios.scene import PlanarScene, Scene
from validation.engines.engine import Settings
from validation.engines.mujoco.mjcf import Release, write_model
from validation.engines.shared.joint_tree import RODS, ROPES, Link

CONNECTS_SITES = hasattr(mujoco, "MjSpec") and hasattr(mujoco.MjSpec, "compiler")
MULTICCD_BY_DEFAULT = hasattr(mujoco.mjtDisableBit, "mjDSBL_MULTICCD")
ISLANDS_BY_DEFAULT = hasattr(mujoco.mjtDisableBit, "mjDSBL_ISLAND")
HAS_ISLANDS = ISLANDS_BY_DEFAULT or hasattr(mujoco.mjtEnableBit, "mjENBL_ISLAND")
RELEASE = Release(
    connects_sites=CONNECTS_SITES,
    has_autoreset=hasattr(mujoco.mjtDisableBit, "mjDSBL_AUTORESET"),
    has_islands=HAS_ISLANDS,
    islands_by_default=ISLANDS_BY_DEFAULT,
    multiccd_by_default=MULTICCD_BY_DEFAULT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where the scene's bodies are in the model."""

    roots: Indices  # (R,) scene bodies that hang on nothing, last those of given motion
    root_q: Indices  # (R, 3 planar or 7) into qpos
    root_v: Indices  # (R, 3 planar or 6) into qvel
    links: tuple[Link, ...]  # those that hang on a joint, parents first
    link_q: tuple[int, ...]  # first coordinate of each link
    link_v: tuple[int, ...]  # first rate of each link
    motors: tuple[tuple[Link, Motor], ...]  # in the order of the model's actuators
    body_id: dict[int, int]  # free scene body -> model body
    member: Indices  # (G,) the scene's body or boundary of each geom, bodies first


def build_model(scene: Scene, dt: float, settings: Settings) -> tuple[Any, Layout]:
    """Model and layout."""
    written = write_model(scene, dt, settings, RELEASE)
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(written.root, encoding="unicode"))
    for k, rod in enumerate(joint for joint in written.ties if isinstance(joint, RODS + ROPES)):
        if isinstance(rod, RODS):  # the equality holds length0 + data[0], and length0 is that of the model at zero
            model.eq_data[model.equality(f"rod{k}").id, 0] = rod.length - model.tendon_length0[k]
    _scale_without_given(model, scene)
    return model, _lay_out(model, scene, written.links, written.geoms)


def _scale_without_given(model: Any, scene: Scene) -> None:
    """MuJoCo's solver stops at an improvement that is small against the mean inertia; not against that of bodies which
    only their given motion moves."""
    given = [model.body(f"b{i}").id for i in given_bodies(scene)]
    if not given:
        return
    of_given = np.isin(model.dof_bodyid, given)
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    model.stat.meaninertia = float(np.mean(model.dof_M0[~of_given]))


# --- layout ---------------------------------------------------------------------------------------------


def _lay_out(model: Any, scene: Scene, links: tuple[Link, ...], geoms: list[int]) -> Layout:
    planar = isinstance(scene, PlanarScene)
    body_id = {link.body: model.body(f"b{link.body}").id for link in links}
    first_joint = {i: int(model.body_jntadr[body_id[i]]) for i in body_id}  # -1 of a fixed one
    given = given_bodies(scene)
    first_joint |= {i: int(model.body_jntadr[model.body(f"b{i}").id]) for i in given}
    roots = np.array([*(link.body for link in links if link.joint is None), *given], dtype=np.int64)
    first_q = np.array([model.jnt_qposadr[first_joint[i]] for i in roots], dtype=np.int64)
    first_v = np.array([model.jnt_dofadr[first_joint[i]] for i in roots], dtype=np.int64)
    hung = tuple(link for link in links if link.joint is not None)
    member = np.full(model.ngeom, -1, dtype=np.int64)
    for k, owner in enumerate(geoms):
        member[model.geom(f"g{k}").id] = owner
    return Layout(
        roots=roots,
        root_q=first_q[:, None] + np.arange(3 if planar else 7),
        root_v=first_v[:, None] + np.arange(3 if planar else 6),
        links=hung,
        link_q=tuple(_first(model.jnt_qposadr, first_joint[link.body]) for link in hung),
        link_v=tuple(_first(model.jnt_dofadr, first_joint[link.body]) for link in hung),
        motors=tuple((link, motor) for link in hung if (motor := getattr(link.joint, "motor", None)) is not None),
        body_id=body_id,
        member=member,
    )


def _first(addresses: Any, joint: int) -> int:
    """Of a joint's coordinates; 0 of a link that has none."""
    return 0 if joint < 0 else int(addresses[joint])
