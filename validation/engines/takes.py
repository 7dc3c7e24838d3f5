"""What engines take, by features of scenes (`scenarios.features`): sets that an adapter joins to its allow-list.

What is in none of an engine's sets is declined by name: so is what scenes come to have later, until it is listed.
"""

from typing import Any

from scenarios.features import scene_features
from scenarios.scene import Scene

FORMAT = 1  # of scenes that an engine without an allow-list is given


def _named(features: str) -> frozenset[str]:
    return frozenset(features.split())


MOTION = _named("""
    gravity boundaries boundaries.point boundaries.normal boundaries.center
    bodies.fixed bodies.mass bodies.inertia bodies.position bodies.velocity bodies.spin
""")
PLANAR = MOTION | _named("planar bodies.angle half-plane disc polygon")
SPATIAL = MOTION | _named("spatial bodies.orientation half-space sphere box")
MARGIN = _named("bodies.margin boundaries.margin")
GIVEN_MOTION = _named("""
    bodies.motion bodies.motion.velocity bodies.motion.acceleration bodies.motion.amplitude bodies.motion.frequency
    bodies.motion.phase bodies.motion.spin bodies.motion.knots
""")
GROUPS = _named("groups bodies.group")
FORCES = _named("""
    damping damping.linear damping.angular damping.quadratic
    springs springs.b springs.anchor_path springs.rest_length springs.damping springs.tension_only
    thrusters thrusters.profile
""")
JOINTS = _named("joints joints.b joints.collide")
HINGES = _named("revolute prismatic ball hinge slider")
TIES = _named("rod rope")
DRIVES = _named("""
    joints.start joints.spring joints.spring.rest joints.damping
    joints.motor position-motor velocity-motor force-motor joints.motor.damping joints.motor.most
""")
"""Springs, damping and motors of joints, which every engine that takes springs can have as forces on the bodies."""
LIMITS = _named("joints.limits")
FRICTION_OF_JOINTS = _named("joints.friction")
COMPOUND = _named("""
    compound bodies.shape.pieces.position bodies.shape.pieces.angle bodies.shape.pieces.orientation
""")
SHAPES = _named("capsule cylinder ellipsoid convex-mesh")
WALLS = _named("bowl hollow-sphere")
RULES = frozenset(  # for engines that ask the scene for the law of each pair
    f"contact.{quantity}_rule={rule}"
    for quantity in ("friction", "restitution")
    for rule in ("geometric-mean", "product", "mean", "min", "max")
)
FRICTION = RULES | _named("""
    friction bodies.friction boundaries.friction bodies.restitution boundaries.restitution
    contact.pairs contact.pairs.friction contact.pairs.restitution
""")
"""Restitution as a field; that a pair has some is the feature `restitution`."""
NEWTON = _named("contact.impact_law=newton contact.impact_order=simultaneous contact.impact_order=sequential")
"""Restitution of speeds. How several contacts at once share an impulse is the engine's own affair, which the cradle in
touch measures in either order (docs/impacts.md)."""
SOLVER = GROUPS | FORCES | FRICTION | NEWTON
"""What a solver of rigid bodies with friction takes."""
COMPLIANT = _named("""
    compliant contact.compliant contact.compliant.most_damping contact.compliant.materials.poisson_ratio
    contact.compliant.pairs.sliding_friction contact.compliant.pairs.rolling_resistance
    contact.compliant.pairs.v_small contact.compliant.pairs.w_small
    bodies.material bodies.contact_radius boundaries.material
""")


def loads_none(engine: str, language: str) -> str:
    if language == "python":
        return f"{engine} runs no function that builds a world"
    return f"{engine} loads no {language.upper()}"


def not_taken(engine: Any, scene: Scene) -> str | None:
    """Why an engine's lists say that it cannot represent the scene: its own reason, or the features by name."""
    native = getattr(scene, "native", None)
    if native is not None:
        language = native.model.language
        return None if language in getattr(engine, "loads", ()) else loads_none(engine.name, language)
    takes = getattr(engine, "takes", None)
    if takes is None:
        if scene.format == FORMAT:
            return None
        return f"{engine.name} has no list of what it takes, and the scene is of format {scene.format}, not {FORMAT}"
    missing = scene_features(scene) - takes
    if not missing:
        return None
    own = (reason for feature, reason in getattr(engine, "because", {}).items() if feature in missing)
    return next(own, f"{engine.name} does not take {', '.join(sorted(missing))}")
