"""The end of a script: the value that shows a fault, in words, and the exit status that it decides.

A few lines of numpy from positions, velocities, masses and shapes, apart from all that Upright measures with. An
overlap is the least of those along many directions, each from how far the two bodies extend along it.
"""

from collections.abc import Callable

import numpy as np

from reference_engine.dense import norm
from scenarios import mass
from scenarios.scene import PlanarScene, inertias, masses
from validation.metrics.facts import FALLEN, MOVED, NEARLY, axes_of_revolution
from validation.records.quantities import quantity
from validation.tools.fuzzing.comparison import oracle_of
from validation.tools.fuzzing.exact_motion import EXACT_MOTION
from validation.tools.fuzzing.oracles import conserved_axes, momentum_allowed
from validation.tools.fuzzing.scripts.closing import HISTORY, Closing, Find, finished, matrix_source, rest_scale
from validation.tools.fuzzing.scripts.forces import lag_source, stored_source
from validation.tools.fuzzing.scripts.overlaps import hangs, through
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, one_line, rows
from validation.tools.fuzzing.scripts.ties import came_apart, outside_the_cone

LIMIT = 10  # s of wall-clock time, after which a script that hangs ends
LARGEST = 1e10  # m: what is further away has no number that means anything


def closing_of(find: Find) -> Closing:
    """Raises ScriptError for a fault that a script does not show."""
    closing = CLOSINGS.get(find.violation.oracle)
    if closing is None:
        known = ", ".join(CLOSINGS)
        raise ScriptError(f"a script does not show {find.violation.oracle!r}; what it shows: {known}")
    return closing(find)


# --- energy and momentum ----------------------------------------------------------------------------------------------


def _energy(find: Find) -> Closing:
    scene, lag = find.scene, find.engine.lag
    stored = stored_source(scene)
    behind, behind_of_spin = lag_source(scene, lag)
    moments = np.where(np.isinf(inertias(scene)), 0.0, inertias(scene))
    moving = np.where(np.isinf(masses(scene)), 0.0, masses(scene))  # what is fixed has no energy
    functions: tuple[str, ...] = ()
    lines = [
        "# Total energy at each step",
        f"time = {find.dt!r} * np.arange(len(states))",
        f"mass, gravity = np.array({numbers(moving)}), np.array({numbers(scene.gravity)})",
    ]
    if lag and any(scene.gravity):
        side = "behind" if lag < 0.0 else "ahead of"
        lines.append(
            f"velocity[1:] -= {numbers(lag)} * gravity  # which the engine has {abs(lag):.3g} s {side} the positions"
        )
    lines += behind
    if isinstance(scene, PlanarScene):
        lines += [
            *behind_of_spin,
            f"inertia = np.array({numbers(moments)})",
            "energy = 0.5 * mass * (velocity**2).sum(axis=2) + 0.5 * inertia * spin**2 - mass * (position @ gravity)",
        ]
    else:
        lines.append(f"inertia = np.array({rows(moments)})  # about the body's axes")
        if not find.engine.spin_of_body:
            lines.append(
                "spin = np.array([[matrix(q).T @ w for q, w in zip(*now)] for now in zip(turn, spin)])  # in those axes"
            )
        lines += [
            *behind_of_spin,
            "energy = 0.5 * mass * (velocity**2).sum(axis=2) + 0.5 * (inertia * spin**2).sum(axis=2)",
            "energy -= mass * (position @ gravity)",
        ]
    summed = "energy.sum(axis=1) + stored" if stored else "energy.sum(axis=1)"
    lines += [*stored, f"total = np.nan_to_num({summed}, nan=np.inf)"]
    if any("matrix(" in line for line in lines):
        functions = (matrix_source(find),)
    text = (
        "\n".join(lines)
        + """
rise = total - np.minimum.accumulate(total)
high = int(np.argmax(rise))
low = int(np.argmin(total[: high + 1]))
print(f"total energy: {total[0]:.4g} J at the start, {total.max():.4g} J at most; it rises from "
      f"{total[low]:.4g} J at {time[low]:.4g} s to {total[high]:.4g} J at {time[high]:.4g} s; nothing drives it")
"""
    )
    return Closing(text=HISTORY + text + finished(f"rise[high] > {find.energy_allowed:.4g}"), functions=functions)


def _momentum(find: Find) -> Closing:
    scene = find.scene
    axes = conserved_axes(scene)
    words = ", ".join("xyz"[axis] for axis in axes)
    text = f"""# Momentum along {words}, where nothing outside forces; gravity's share is taken off
time = {find.dt!r} * np.arange(len(states))
mass, gravity = np.array({numbers(masses(scene))}), np.array({numbers(scene.gravity)})
momentum = (mass[:, None] * velocity).sum(axis=1) - mass.sum() * gravity * time[:, None]
momentum = np.nan_to_num(momentum[:, {axes}], nan=np.inf)
change = np.abs(momentum - momentum[0]).max(axis=1)
most = int(np.argmax(change))
print(f"momentum along {words}: {{momentum[0].round(6).tolist()}} kg m/s at the start, "
      f"{{momentum[most].round(6).tolist()}} kg m/s after {{time[most]:.4g}} s")
"""
    return Closing(text=HISTORY + text + finished(f"change[most] > {momentum_allowed(scene):.4g}"))


# --- rest -------------------------------------------------------------------------------------------------------------


def _speeds(find: Find) -> str:
    radii = [mass.bounding_radius(body.shape) for body in find.scene.bodies]
    spin = "np.abs(spin)" if isinstance(find.scene, PlanarScene) else "np.linalg.norm(spin, axis=2)"
    return (
        HISTORY
        + "# How fast any point of a body may be: speed of its centre, and spin times its radius\n"
        + f"speed = np.linalg.norm(velocity, axis=2) + np.array({numbers(radii)}) * {spin}\n"
    )


def _never_rested(find: Find) -> Closing:
    limit, long = (NEARLY * rest_scale(find.scene)[0], rest_scale(find.scene)[1] / NEARLY)
    steps = max(1, round(long / find.dt))
    text = f"""last = speed[-{steps}:]
print(f"it starts in equilibrium; in the last {steps * find.dt:.3g} s the largest speed is {{last.max():.4g}} m/s, "
      f"and at the end {{last[-1].max():.4g}} m/s")
"""
    return Closing(text=_speeds(find) + text + finished(f"last.max() > {limit:.4g}"))


def _never_slows(find: Find) -> Closing:
    limit, _ = rest_scale(find.scene)
    names = ", ".join(one_line(find.scene.bodies[i].name) for i in find.bodies)
    text = f"""speed = speed[:, {find.bodies}]
quarter = len(states) // 4
before, after = speed[-2 * quarter:-quarter].mean(axis=0).max(), speed[-quarter:].mean(axis=0).max()
print(f"{names}: mean speed {{before:.4g}} m/s in the third quarter of the time, {{after:.4g}} m/s in the last, "
      f"though friction should stop it")
"""
    return Closing(text=_speeds(find) + text + finished(f"after > {limit:.4g}"))


TURNED_IN_PLANE = "turned = np.abs(turn - turn[0]).max(axis=0)\n"
TURNED_IN_SPACE = """cosine = np.abs((turn * turn[0]).sum(axis=2)) / np.linalg.norm(turn, axis=2)
turned = 2.0 * np.arccos(np.minimum(1.0, cosine)).max(axis=0)
"""


def _moved(find: Find) -> Closing:
    text = """# How far each body gets from where it starts
gone = np.linalg.norm(position - position[0], axis=2).max(axis=0)
"""
    text += TURNED_IN_PLANE if isinstance(find.scene, PlanarScene) else TURNED_IN_SPACE
    conditions = []
    for i in find.bodies:
        body = find.scene.bodies[i]
        radius = mass.bounding_radius(body.shape)
        text += (
            f'print(f"{one_line(body.name)}: it starts at rest in equilibrium, its centre moves by {{gone[{i}]:.4g}} m '
            f'and it turns by {{np.degrees(turned[{i}]):.4g}} degrees; it is {2.0 * radius:.4g} m across")\n'
        )
        conditions.append(f"gone[{i}] + {radius:.4g} * min(2.0, turned[{i}]) > {MOVED * 2.0 * radius:.4g}")
    return Closing(text=HISTORY + text + finished(" or ".join(conditions)))


def _fell_over(find: Find) -> Closing:
    i = find.bodies[0]
    name = one_line(find.scene.bodies[i].name)
    up = f"up = np.array({numbers(np.array(find.scene.gravity) / -norm(np.array(find.scene.gravity)))})\n"
    functions: tuple[str, ...] = (matrix_source(find),)
    if isinstance(find.scene, PlanarScene):
        lean, functions = f"lean = abs(turn[-1, {i}] - turn[0, {i}])\n", ()
    elif (axis := axes_of_revolution(find.scene).get(i)) is None:
        upright = f"(matrix(turn[0, {i}]).T @ up) @ (matrix(turn[-1, {i}]).T @ up)"
        lean = f"{up}lean = np.arccos(np.clip({upright}, -1.0, 1.0))\n"
    else:
        along = f"abs(matrix(turn[k, {i}])[:, {axis}] @ up)"
        lean = f"{up}first, last = (np.arccos(min(1.0, {along})) for k in (0, -1))\n"
        lean += "lean = abs(last - first)  # of its axis\n"
    text = f"""print(f"{name}: it starts upright, at rest in equilibrium; at the end it is {{np.degrees(lean):.4g}} "
      f"degrees aslant")
"""
    return Closing(text=HISTORY + lean + text + finished(f"lean > {FALLEN:.4g}"), functions=functions)


def _elsewhere(find: Find) -> Closing:
    must, scene = find.must, find.scene
    if must is None:
        raise ScriptError("where the body must be is not known here")
    (i,) = (i for i, body in enumerate(scene.bodies) if body.name == must.body)
    turned = f"abs(turn[k, {i}] - must[2])"
    if not isinstance(scene, PlanarScene):
        turned = f"2.0 * np.arccos(min(1.0, abs(turn[k, {i}] @ must[3:]) / np.linalg.norm(turn[k, {i}])))"
    n = scene.dimension
    text = f"""# Where mechanics has it then, from an exact solution
k, must = {must.step}, np.array({numbers(must.pose)})
off = np.linalg.norm(position[k, {i}] - must[:{n}])
off += {mass.bounding_radius(scene.bodies[i].shape):.6g} * min(2.0, {turned})
print(f"{one_line(must.body)}: after {{k}} steps it is at {{position[k, {i}].round(6).tolist()}} m; it must be at "
      f"{{must[:{n}].round(6).tolist()}} m; it is off by {{off:.4g}} m, {quantity(must.allowed, "m")} is allowed")
"""
    return Closing(text=HISTORY + text + finished(f"not off <= {must.allowed!r}"))


# --- what does not end, or ends without numbers -----------------------------------------------------------------------


def _broken(find: Find) -> Closing:
    text = f"""faulthandler.cancel_dump_traceback_later()
{HISTORY}# The first step with a number that means nothing any more, or the last one
largest = [np.nan_to_num(np.abs(part), nan=np.inf).reshape(len(states), -1).max(axis=1)
           for part in (position, velocity, spin)]
beyond = np.flatnonzero(np.max(largest, axis=0) > {LARGEST:g})
k = beyond[0] if beyond.size else len(states) - 1
warned = {find.engine.warned}
print(f"after {{k * {find.dt!r}:.4g}} s the largest coordinate is {{largest[0][k]:.4g}} m, "
      f"speed {{largest[1][k]:.4g}} m/s, spin {{largest[2][k]:.4g}} rad/s",
      f"; the engine {{warned}}" if warned else "", sep="")
"""
    return Closing(text=text + finished("beyond.size or warned"))


CLOSINGS: dict[str, Callable[[Find], Closing]] = {
    "broken": _broken,
    "went through": through,
    "left": through,
    "came apart": came_apart,
    "blew up": _energy,
    "hangs": hangs,
    "keeps moving": _never_slows,
    "moved": _moved,
    "fell over": _fell_over,
    "never rested": _never_rested,
    "energy gained": _energy,
    "momentum not kept": _momentum,
    "outside the friction cone": outside_the_cone,
    oracle_of(EXACT_MOTION): _elsewhere,
}
