"""A scene of the user's own, judged by what holds for any scene: no truth but the invariants of mechanics."""

import re
from pathlib import Path
from typing import Any

from scenarios.catalogue.shared.laws import MOVING_SHARE, contact_laws, flight_laws
from scenarios.forces import is_driven
from scenarios.scenario import Scenario
from scenarios.scene import Damping, Scene, colliding_pairs, content_hash, read_scene
from scenarios.truth import Invariant, Truth

LABEL = re.compile(r"[^/]+:content=[0-9a-f]{8}")
"""What `Scenario.label` makes of a scene file: my_scene.json:content=1a2b3c4d. It names a scene that was run, where
that is stored; files go by their path."""


def scenario_from_file(path: Path) -> Scenario:
    """The scenario of a scene file, named as the file is without its folder. Raises SceneError."""
    return scenario_from_scene(file_name(path), read_scene(path))


def file_name(path: Path) -> str:
    """Without its folder; what is unprintable, or would make an option of a label, is replaced."""
    name = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in path.name)
    return f"\N{REPLACEMENT CHARACTER}{name[1:]}" if name.startswith("-") else name


def scenario_from_scene(name: str, scene: Scene) -> Scenario:
    """The scenario of a scene that is in no catalogue; its identity is its name and the scene's content."""
    native = getattr(scene, "native", None)
    if native is not None and native.model.probe is not None and native.model.probe.kind == "separation":
        return _swept(name, scene)
    content = content_hash(scene) if native is None else native.model.digest(scene.duration)
    identity = {"content": content}
    return Scenario(
        name=name,
        title=scene.title or name,
        probes=f"a {'scene' if native is None else 'model'} of your own: conservation and contact",
        regime="your own",
        scene=scene,
        truth=Truth(
            kind="invariants",
            source="laws of mechanics: contact, friction and damping take energy; inner forces keep momentum",
            span=(0.0, scene.duration),
            invariants=invariants_of(scene),
        ),
        headline="penetration_max" if may_collide(scene) else "energy_gain",
        laws=contact_laws(scene, share=MOVING_SHARE) if may_collide(scene) else flight_laws(scene),
        parameters=identity,
        from_file=True,
    )


def _swept(name: str, scene: Any) -> Scenario:
    """Of a model whose body is moved from outside: where contact begins is all that its poses say."""
    return Scenario(
        name=name,
        title=scene.title or name,
        probes="where contact of two bodies of your model begins",
        regime="your own",
        scene=scene,
        truth=Truth(
            kind="invariants",
            source="contact begins where the gap ends",
            span=(0.0, scene.duration),
            invariants=frozenset({"no-overlap"}),
        ),
        headline="contact_range",
        parameters={"content": scene.native.model.digest(scene.duration)},
        from_file=True,
    )


def may_collide(scene: Scene) -> bool:
    """Whether any pair may collide; a large scene is not searched for one."""
    return len(scene.bodies) > 200 or bool(colliding_pairs(scene))


def invariants_of(scene: Scene) -> frozenset[Invariant]:
    """What must hold of a scene whatever its bodies do."""
    found: set[Invariant] = {"elastic-depth" if scene.contact.compliant else "no-overlap"}
    if not (scene.thrusters or is_driven(scene)):
        damped = scene.damping != Damping() or any(spring.damping for spring in scene.springs)
        lossless = not damped and not may_collide(scene)
        found.add("energy" if lossless else "energy-not-gained")
    tied = any(joint.b is None for joint in scene.joints) or any(spring.b is None for spring in scene.springs)
    resisted = scene.damping != Damping()
    supported = scene.boundaries or any(body.fixed for body in scene.bodies)
    if not (tied or resisted or supported or scene.thrusters):
        found |= {"momentum", "angular-momentum"}
    return frozenset(found)
