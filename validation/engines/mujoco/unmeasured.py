"""What of a MuJoCo model moves bodies beside gravity, contacts and joints, and what of it is not measured, by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from reference_engine.array_types import Array
from reference_engine.dense import mul
from validation.engines.mujoco.internals import CAN_SUM, unit_of_tendon

EQUALITY, DISABLED, WRAP, OBJECT = mujoco.mjtEq, mujoco.mjtDisableBit, mujoco.mjtWrap, mujoco.mjtObj
MOST_NAMES = 8  # in one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Forces:
    bodies: frozenset[int]  # of the model, that they act on
    conserves: bool  # whether none of them can add energy, or store it, that is not summed
    sums: bool  # whether there is something to sum
    unmeasured: tuple[str, ...]


def forces_of(model: Any) -> Forces:
    rows = [*_of_joints(model), *_of_actuators(model), *_of_tendons(model), *_of_equalities(model), *_of_bodies(model)]
    rows += [*_of_everything(model)]
    named = [text for _, _, text in rows if text]
    without = [what for _, what, _ in rows if what]
    if without:
        named.append(f"energy: {', '.join(dict.fromkeys(without))} may add or store it")
    return Forces(
        bodies=frozenset(body for bodies, _, _ in rows for body in bodies),
        conserves=not without,
        sums=CAN_SUM and bool(rows) and not without,
        unmeasured=tuple(named),
    )


Row = tuple[set[int], str, str]
"""Bodies that it acts on; what it is, if it can add or store energy that is not summed; what is not measured of it."""


def _summed(what: str) -> str:
    """ "" where this release lets what it adds or stores be summed."""
    return "" if CAN_SUM else what


def _named(model: Any, kind: Any, numbers: Iterable[int], what: str) -> str:
    """What it is, and of which."""
    given = [mujoco.mj_id2name(model, kind, int(k)) or f"number {k}" for k in numbers]
    more = f" and {len(given) - MOST_NAMES} more" if len(given) > MOST_NAMES else ""
    return f"{what}: {', '.join(given[:MOST_NAMES])}{more}"


def _is_off(model: Any, *names: str) -> bool:
    return any(model.opt.disableflags & int(getattr(DISABLED, f"mjDSBL_{name}", 0)) for name in names)


def _set(values: Any, count: int) -> NDArray[np.bool_]:
    """(count,): of which something is not 0."""
    return np.any(np.reshape(values, (count, -1)), axis=1) if count else np.zeros(0, bool)


def _of_joints(model: Any) -> Iterator[Row]:
    spring, damper = _is_off(model, "SPRING", "PASSIVE"), _is_off(model, "DAMPER", "PASSIVE")
    constraint = _is_off(model, "CONSTRAINT")
    of_dofs = [
        ("", model.dof_damping, damper),
        ("", getattr(model, "dof_dampingpoly", np.zeros(model.nv)), damper),
        ("", model.dof_frictionloss, constraint or _is_off(model, "FRICTIONLOSS")),
        (_summed("rotors (armature)"), model.dof_armature, False),
    ]
    of_joints = [
        (_summed("springs of joints"), model.jnt_stiffness, spring),
        (_summed("springs of joints"), getattr(model, "jnt_stiffnesspoly", np.zeros(model.njnt)), spring),
        ("plasticity of joints", getattr(model, "jnt_plasticadr", np.full(model.njnt, -1)) >= 0, False),
        ("", model.jnt_limited, constraint or _is_off(model, "LIMIT")),
    ]
    rows = [(what, _set(of, model.nv), off, model.dof_jntid) for what, of, off in of_dofs]
    rows += [(what, _set(of, model.njnt), off, np.arange(model.njnt)) for what, of, off in of_joints]
    for what, which, off, joint_of in rows:
        joints = np.unique(joint_of[which]).tolist()
        if joints and not off:
            yield {body for j in joints for body in _both_sides(model, int(model.jnt_bodyid[j]))}, what, ""


def _both_sides(model: Any, body: int) -> set[int]:
    """A body that has a joint, and what it hangs on."""
    return {int(model.body_weldid[body]), int(model.body_weldid[model.body_parentid[body]])} - {0}


def _of_actuators(model: Any) -> Iterator[Row]:
    if not model.nu or _is_off(model, "ACTUATION"):
        return
    yield _treed(model), _summed("actuators"), ""
    sticky = int(getattr(mujoco.mjtTrn, "mjTRN_BODY", -1))
    if adhesive := [k for k in range(model.nu) if int(model.actuator_trntype[k]) == sticky]:
        yield _treed(model), "adhesion", _named(model, OBJECT.mjOBJ_ACTUATOR, adhesive, "adhesion of bodies")


def _treed(model: Any) -> set[int]:
    """Every body that moves."""
    return {int(body) for body in model.body_weldid if body}


def _of_tendons(model: Any) -> Iterator[Row]:
    if not model.ntendon:
        return
    bodies: set[int] = set()
    for kind, k in zip(model.wrap_type.tolist(), model.wrap_objid.tolist()):
        if kind == WRAP.mjWRAP_JOINT:
            bodies |= _both_sides(model, int(model.jnt_bodyid[k]))
        elif kind == WRAP.mjWRAP_SITE:
            bodies.add(int(model.body_weldid[model.site_bodyid[k]]))
        elif kind in (WRAP.mjWRAP_SPHERE, WRAP.mjWRAP_CYLINDER):
            bodies.add(int(model.body_weldid[model.geom_bodyid[k]]))
    springs = bool(np.any(model.tendon_stiffness)) or bool(np.any(getattr(model, "tendon_armature", 0)))
    mixed = [k for k in np.flatnonzero(model.tendon_limited).tolist() if unit_of_tendon(model, k) != "travel"]
    text = _named(model, OBJECT.mjOBJ_TENDON, mixed, "limits of tendons that are sums of joints") if mixed else ""
    yield bodies - {0}, _summed("springs of tendons") if springs else "", text
    if np.any(getattr(model, "tendon_plasticadr", np.full(1, -1)) >= 0):
        yield set(), "plasticity of tendons", ""


def _active(model: Any) -> list[int]:
    """Equalities that act at the start."""
    flags = getattr(model, "eq_active0", getattr(model, "eq_active", None))
    return [] if _is_off(model, "EQUALITY", "CONSTRAINT") else np.flatnonzero(np.asarray(flags)).tolist()


def connections(model: Any) -> list[int]:
    return [k for k in _active(model) if int(model.eq_type[k]) == EQUALITY.mjEQ_CONNECT]


def connected_ends(model: Any, data: Any, k: int) -> list[tuple[int, Array]]:
    """Both bodies that a connection ties, and the points of the world at which it does, m."""
    ids = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    if _is_of_sites(model, k):
        return [(int(model.site_bodyid[site]), data.site_xpos[site].copy()) for site in ids]
    anchors = model.eq_data[k].reshape(-1)[:6].reshape(2, 3)
    bodies = [max(one, 0) for one in ids]  # no second one is the world
    return [(i, data.xpos[i] + mul(data.xmat[i].reshape(3, 3), anchor)) for i, anchor in zip(bodies, anchors)]


def _is_of_sites(model: Any, k: int) -> bool:
    return hasattr(model, "eq_objtype") and int(model.eq_objtype[k]) == OBJECT.mjOBJ_SITE


def _of_equalities(model: Any) -> Iterator[Row]:
    for k in _active(model):
        kind, a, b = int(model.eq_type[k]), int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        bodies: set[int] = set()
        if kind in (EQUALITY.mjEQ_CONNECT, EQUALITY.mjEQ_WELD):
            ends = [int(model.site_bodyid[one]) if _is_of_sites(model, k) else one for one in (a, b) if one >= 0]
            bodies = {int(model.body_weldid[one]) for one in ends} - {0}
        elif kind == EQUALITY.mjEQ_JOINT:
            for one in (a, b):
                bodies |= _both_sides(model, int(model.jnt_bodyid[one])) if one >= 0 else set()
        else:
            bodies = _treed(model)
        name = EQUALITY(kind).name.removeprefix("mjEQ_").lower()
        text = _named(model, OBJECT.mjOBJ_EQUALITY, [k], f"how far an equality ({name}) opens")
        measured = kind in (EQUALITY.mjEQ_CONNECT, EQUALITY.mjEQ_WELD, EQUALITY.mjEQ_JOINT, EQUALITY.mjEQ_TENDON)
        yield bodies, _summed("equalities"), "" if measured else text


def _of_bodies(model: Any) -> Iterator[Row]:
    lifted = np.flatnonzero(model.body_gravcomp)
    if lifted.size and not _is_off(model, "GRAVITY"):
        bodies = {int(model.body_weldid[body]) for body in lifted} - {0}
        yield bodies, _summed("gravity compensation"), ""
    if asleep := _asleep(model):
        what = "bodies that start asleep, and stay in the air or not until something wakes them"
        yield {int(model.body_weldid[body]) for body in asleep}, "", _named(model, OBJECT.mjOBJ_BODY, asleep, what)
    moved = np.flatnonzero(model.body_mocapid >= 0)
    if moved.size:
        yield (
            set(),
            "",
            _named(model, OBJECT.mjOBJ_BODY, moved, "bodies that are moved from outside (mocap), which stay here"),
        )


def _asleep(model: Any) -> list[int]:
    """Bodies of the trees that the model puts to sleep at the start, where sleep is on (from 3.3.8)."""
    enabled = int(getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
    if not model.opt.enableflags & enabled:
        return []
    trees = np.flatnonzero(model.tree_sleep_policy == int(mujoco.mjtSleepPolicy.mjSLEEP_INIT)).tolist()
    first, count = model.tree_bodyadr, model.tree_bodynum
    return [body for tree in trees for body in range(int(first[tree]), int(first[tree] + count[tree]))]


def _of_everything(model: Any) -> Iterator[Row]:
    option = model.opt
    every = _treed(model)
    if option.density or option.viscosity or np.any(option.wind):
        yield every, _summed("the medium") if np.any(option.wind) else "", ""
    if getattr(model, "nflex", 0):
        named = _named(model, OBJECT.mjOBJ_FLEX, range(model.nflex), "shape, gaps and energy of flexes")
        yield every, "flexes", named
    if getattr(model, "nplugin", 0):
        yield every, "plugins", _named(model, OBJECT.mjOBJ_PLUGIN, range(model.nplugin), "what plugins do")
    for name, what in (("geom_surfacevel", "moving surfaces"), ("geom_adhesion", "adhesion")):
        geoms = np.flatnonzero(np.any(np.reshape(getattr(model, name, np.zeros(0)), (-1, 1)), axis=1))
        if geoms.size:
            per = max(1, np.size(getattr(model, name)) // model.ngeom)
            named = _named(model, OBJECT.mjOBJ_GEOM, sorted({*(geoms // per)}), f"{what} of geoms")
            yield every, what, named
