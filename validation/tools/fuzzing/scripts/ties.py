"""The ends of scripts that show joints coming apart, and contact forces that no friction law has."""

from typing import Any

from scenarios import mass
from validation.metrics.outcomes import APART
from validation.tools.fuzzing.oracles import CONE_SHARE
from validation.tools.fuzzing.scripts.closing import HISTORY, Closing, Find, finished, matrix_source
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, one_line

DESCRIBED = {
    "rod": "its ends should stay {length:.4g} m apart, and are off that by",
    "rope": "its ends should stay within {length:.4g} m, and are beyond that by",
    "prismatic": "its second end should stay on the line through its first, and is off that by",
    "slider": "its second end should stay on the line through its first, and is off that by",
}
PINNED = "its two ends should be one point, and are apart by"


def came_apart(find: Find) -> Closing:
    """Of the joint between the named bodies that gapes most."""
    scene, names = find.scene, set(find.violation.bodies)
    joints: list[Any] = [one for one in scene.joints if {one.a, one.b} - {None} == names] or list(scene.joints)
    text = HISTORY + "status = 0\n"
    across = {body.name: 2.0 * mass.bounding_radius(body.shape) for body in scene.bodies}
    for joint in joints:
        limit = APART * min(across[name] for name in (joint.a, joint.b) if name is not None)
        between = " and ".join(one_line(name) for name in (joint.a, joint.b or "the world"))
        words = DESCRIBED.get(joint.kind, PINNED).format(length=getattr(joint, "length", 0.0))
        text += (
            f"# {one_line(joint.name)}: a {joint.kind} joint\n"
            f"gap = np.array([{_gap(find, joint)} for k in range(len(states))])\n"
            "gap = np.nan_to_num(gap, nan=np.inf)\n"
            "most = int(np.argmax(gap))\n"
            f'print(f"{one_line(joint.name)}, a {joint.kind} joint of {between}: {words} {{gap[most]:.4g}} m "\n'
            f'      f"after {{most * {find.dt!r}:.4g}} s, {{gap[0]:.4g}} m at the start")\n'
            f"status |= int(gap[most] > {limit:.4g})\n"
        )
    functions = (matrix_source(find), *([OFF_LINE] if "off_line(" in text else []))
    return Closing(text=text + "sys.exit(status)\n", functions=functions)


def _gap(find: Find, joint: Any) -> str:
    """Source: m, by which a joint is not met at step k."""
    index = {body.name: i for i, body in enumerate(find.scene.bodies)}

    def point(name: str | None, anchor: Any) -> str:
        local = f"np.array({numbers(anchor)})"
        i = index.get(name or "")
        return local if i is None else f"(position[k, {i}] + matrix(turn[k, {i}]) @ {local})"

    apart = f"{point(joint.b, joint.anchor_b)} - {point(joint.a, joint.anchor_a)}"
    match joint.kind:
        case "revolute" | "ball" | "hinge":
            return f"np.linalg.norm({apart})"
        case "rod":
            return f"abs(np.linalg.norm({apart}) - {joint.length!r})"
        case "rope":
            return f"max(0.0, np.linalg.norm({apart}) - {joint.length!r})"
        case "prismatic" | "slider":
            axis = f"matrix(turn[k, {index[joint.a]}]) @ np.array({numbers(joint.axis)})"
            return f"off_line({apart}, {axis})"
    raise ScriptError(f"a script does not measure the joint {joint.name!r}, a {joint.kind}")


OFF_LINE = '''
def off_line(way, axis):
    """m, of a point from the line along an axis."""
    axis = axis / np.linalg.norm(axis)
    return np.linalg.norm(way - (way @ axis) * axis)
'''


def outside_the_cone(find: Find) -> Closing:
    """The pair whose impulses, added up over all steps, are furthest outside its cone, as the engine itself reports."""
    scene = find.scene
    members: tuple[Any, ...] = (*scene.bodies, *scene.boundaries)
    names = [one_line(member.name) for member in members]
    table = [[scene.pair_law(a, b)[0] if a is not b else 0.0 for b in members] for a in members]
    text = f"""# Impulses of each pair over all steps, along the normal, across it and in size; friction of each pair
names = {names}
friction = {table}
impulses = {{}}
for contacts_now in reported:
    for a, b, force, normal in contacts_now:
        pressing = force @ normal
        rubbing = np.linalg.norm(force - pressing * normal)
        now = {find.dt!r} * np.array([pressing, rubbing, np.linalg.norm(force)])
        impulses[a, b] = impulses.get((a, b), np.zeros(3)) + now
outside, pair = -1.0, None
for (a, b), (pressing, rubbing, size) in impulses.items():
    share = (rubbing - friction[a][b] * max(pressing, 0.0)) / max(size, 1e-12)
    outside, pair = max((outside, pair), (share, (a, b)), key=lambda one: one[0])
if pair is None:
    print("the engine reports no contact")
else:
    a, b = pair
    pressing, rubbing, _ = impulses[pair]
    print(f"{{names[a]}} and {{names[b]}}: over all steps the engine reports impulses of {{pressing:.4g}} N s "
          f"along the normal and {{rubbing:.4g}} N s across it; friction {{friction[a][b]:.4g}} allows "
          f"{{friction[a][b] * max(pressing, 0.0):.4g}} N s")
"""
    return Closing(text=text + finished(f"outside > {CONE_SHARE}"), watched=True)
