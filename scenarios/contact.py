"""Laws of contact between two bodies: friction and restitution of rigid ones, and elastic, damped materials.

Compliant contact has the normal force c depth^1.5 (1 - d s'), s' the speed at which the two part, never below 0 (Hertz
1882; Hunt & Crossley 1975, J. Appl. Mech. 42); c from moduli and radii (`stiffness`), d = 8 (1 - e) / (5 e v) from the
speed v at which they met, at most `most_damping` (Flores & Lankarani 2016, Contact Force Models, ch. 3). Friction and
rolling resistance fade to 0 below `v_small` and `w_small`; an approach no faster than `v_small` counts as one with
restitution 0.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from reference_engine import elementary
from reference_engine.elementary import cubed, power, squared
from scenarios.fields import Data, Friction, Name, Positive, Restitution, not_stated

PoissonRatio = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=-1, lt=0.5)]


ImpactLaw = Literal[
    "newton", "poisson", "incremental-newton", "incremental-poisson", "stronge", "chatterjee-ruina", "stick-or-slip"
]
GAINING: frozenset[str] = frozenset({"newton", "incremental-newton", "stick-or-slip"})
"""Laws of impact by which friction may make energy (Kane 1984; docs/impacts.md)."""
ImpactOrder = Literal["simultaneous", "sequential", "grouped"]
CombinationRule = Literal["geometric-mean", "product", "mean", "min", "max"]
COMBINE: dict[str, Callable[[float, float], float]] = {
    "geometric-mean": lambda p, q: math.sqrt(p * q),
    "product": lambda p, q: p * q,
    "mean": lambda p, q: 0.5 * (p + q),
    "min": min,
    "max": max,
}


class Material(Data):
    """An elastic solid."""

    name: Name
    young_modulus: Positive
    """Pa"""
    poisson_ratio: PoissonRatio = 0.3


class MaterialPair(Data):
    """The law of two materials in contact, or of one with itself."""

    a: Name
    b: Name
    restitution: Restitution
    """Nominal: without other forces the ratio of speeds is another function of it (`rebound_ratio`)."""
    sliding_friction: Friction = 0.0
    rolling_resistance: Friction = 0.0
    """Its torque is this times the pair's contact radius times the normal force."""
    v_small: Positive = 0.01
    """m/s"""
    w_small: Positive = 0.01
    """rad/s"""


class CompliantContact(Data):
    """Materials, and the law of every two that may meet."""

    materials: Annotated[tuple[Material, ...], Field(min_length=1, max_length=1000)]
    pairs: Annotated[tuple[MaterialPair, ...], Field(min_length=1, max_length=10_000)]
    most_damping: Positive = 2000.0
    """s/m, of the damping coefficient, which grows without limit as an approach gets slow."""

    @cached_property
    def material(self) -> dict[str, Material]:
        return {material.name: material for material in self.materials}

    @cached_property
    def laws(self) -> dict[frozenset[str], MaterialPair]:
        return {frozenset((pair.a, pair.b)): pair for pair in self.pairs}

    def law(self, a: Any, b: Any) -> MaterialPair:
        """Of two bodies or boundaries of a scene, which has one for every two that may meet."""
        return self.laws[frozenset((a.material, b.material))]


class PairLaw(Data):
    """Friction and restitution of one pair, whatever the combination rule says."""

    a: Name
    b: Name
    friction: Friction | None = None
    restitution: Restitution | None = None


class ContactLaw(Data):
    """How the pair values follow from those of the two sides. Every engine gets the pair's value.

    Which law of impact holds is part of the scene where it says so; else it is the engine's own, as it is in any case
    of engines that have one law only.
    """

    friction_rule: CombinationRule = "geometric-mean"
    restitution_rule: CombinationRule = "max"
    pairs: tuple[PairLaw, ...] = ()
    impact_law: Annotated[ImpactLaw | None, Field(exclude_if=not_stated)] = None
    """Restitution of speeds (Newton) or of impulses (Poisson); they differ with friction. By these two Coulomb's law
    holds between the whole impulse and the slip afterwards (Moreau 1988, Glocker & Pfeiffer 1995); the incremental ones
    and Stronge's follow friction through the impact, the last two are formulas (docs/impacts.md)."""
    impact_order: Annotated[ImpactOrder | None, Field(exclude_if=not_stated)] = None
    """An impact at several contacts: one problem over all of them; one after the other, the fastest first; or the
    fastest with those approaching that it moves."""
    compliant: Annotated[CompliantContact | None, Field(exclude_if=not_stated)] = None
    """In space: elastic, damped contact between materials, in place of rigid contact and all of the above."""

    @cached_property
    def laws(self) -> dict[frozenset[str], PairLaw]:
        """Names of a pair -> its own law. Kept here, so that a copied scene with another contact law has that one's."""
        return {frozenset((pair.a, pair.b)): pair for pair in self.pairs}


def margin(a: Any, b: Any) -> float:
    """m, between two bodies or boundaries: the gap at which they are in contact, and rest."""
    return float((a.margin or 0.0) + (b.margin or 0.0))


def widest_margin(scene: Any) -> float:
    """m, of any two of a scene: the two largest together."""
    each = sorted((member.margin or 0.0 for member in (*scene.bodies, *scene.boundaries)), reverse=True)
    return float(sum(each[:2]))


def fault(scene: Any) -> str | None:
    """What is wrong with the materials of a scene, in one line: path of the field, value, what is allowed."""
    given: CompliantContact | None = scene.contact.compliant
    bodies = [(f"bodies[{i}]", body) for i, body in enumerate(scene.bodies)]
    members = bodies + [(f"boundaries[{i}]", boundary) for i, boundary in enumerate(scene.boundaries)]
    if given is None:
        for path, member in members:
            for field in ("material", "contact_radius"):
                if getattr(member, field, None) is not None:
                    return (
                        f"{path}.{field}: {getattr(member, field)!r} given, and the scene has no contact.compliant; "
                        "give that law, or leave it out"
                    )
        return None
    if scene.dimension == 2:
        return "contact.compliant: given for a planar scene; allowed: in space, where solids have a Hertzian stiffness"
    for field in ("pairs", "impact_law", "impact_order"):
        if getattr(scene.contact, field):
            return f"contact.{field}: given beside contact.compliant, which has the law of every pair; leave one out"
    return _table_fault(given) or _member_fault(given, members) or _pair_fault(given, members)


def may_gain_energy(scene: Any) -> bool:
    """Whether the law of impact that the scene names may make energy in it: with friction, where something bounces."""
    members = (*scene.bodies, *scene.boundaries)
    rubs = any(member.friction > 0.0 for member in members)
    return scene.contact.impact_law in GAINING and rubs and any(member.restitution > 0.0 for member in members)


def _table_fault(given: CompliantContact) -> str | None:
    names: dict[str, int] = {}
    for i, material in enumerate(given.materials):
        if (first := names.setdefault(material.name, i)) != i:
            return (
                f"contact.compliant.materials[{i}].name: {material.name!r} is taken by materials[{first}]; give another"
            )
    seen: dict[frozenset[str], int] = {}
    for i, pair in enumerate(given.pairs):
        for field in ("a", "b"):
            if (name := getattr(pair, field)) not in names:
                return f"contact.compliant.pairs[{i}].{field}: {name!r} is no material; known: {_first_names(names)}"
        if (first := seen.setdefault(frozenset((pair.a, pair.b)), i)) != i:
            return f"contact.compliant.pairs[{i}]: {pair.a!r} and {pair.b!r} stand in pairs[{first}] already; once"
    return None


def _member_fault(given: CompliantContact, members: list[tuple[str, Any]]) -> str | None:
    for path, member in members:
        if getattr(member, "shape", member).kind == "compound":
            return f"{path}.shape.kind: 'compound' given beside contact.compliant; allowed: a body of one piece"
        if member.material not in given.material:
            what = "missing" if member.material is None else f"{member.material!r} is no material"
            return f"{path}.material: {what}; allowed: {_first_names(given.material)}"
        for field in ("friction", "restitution"):
            if getattr(member, field):
                return f"{path}.{field}: {getattr(member, field)} given, and its material has it; leave it out"
    return None


def _pair_fault(given: CompliantContact, members: list[tuple[str, Any]]) -> str | None:
    """Of any two members that are not both immovable, one of each kind."""
    kinds: dict[tuple[str, bool, bool], list[tuple[str, Any]]] = {}
    for path, member in members:
        immovable = bool(getattr(member, "fixed", True))
        kinds.setdefault((member.material, immovable, curvature(member) <= 0.0), []).append((path, member))
    for (material, immovable, _), these in kinds.items():
        for (other, other_immovable, _), those in kinds.items():
            if (immovable and other_immovable) or (these is those and len(these) < 2):
                continue
            (path, a), (_, b) = these[0], those[-1]
            if frozenset((material, other)) not in given.laws:
                there = ", ".join(f"{pair.a!r} with {pair.b!r}" for pair in given.pairs)
                return (
                    f"contact.compliant.pairs: no law for {material!r} with {other!r} ({a.name!r} and {b.name!r} may "
                    f"meet); there are: {there}"
                )
            if not curvature(a) + curvature(b) > 0.0:
                return (
                    f"{path}.contact_radius: missing; {a.name!r} and {b.name!r} are both flat, which leaves their "
                    "stiffness open; give one of them a radius, m"
                )
    return None


def _first_names(names: Any) -> str:
    return ", ".join(list(names)[:8])


def curvature(member: Any) -> float:
    """1/m, one over the radius that Hertz's law is given; 0 of what is flat, negative of a hollow sphere.

    That of `contact_radius`, or of the shape: a sphere's, capsule's or cylinder's radius, the geometric mean of an
    ellipsoid's semi-axes.
    """
    given = getattr(member, "contact_radius", None)
    if given is not None:
        return 1.0 / float(given)
    shape = getattr(member, "shape", member)
    match shape.kind:
        case "sphere" | "capsule" | "cylinder":
            return 1.0 / float(shape.radius)
        case "ellipsoid":
            return float(power(math.prod(shape.semi_axes), -1.0 / 3.0))
        case "hollow-sphere":
            return -1.0 / float(shape.radius)
    return 0.0


def stiffness(given: CompliantContact, a: Any, b: Any) -> float:
    """c [N/m^1.5] of two bodies or boundaries, after Hertz 1882: 4/3 sqrt(r) c_a c_b / (c_a + c_b).

    r is the radius of the pair, c_i = E_i / (1 - nu_i^2).
    """
    plane = [m.young_modulus / (1.0 - squared(m.poisson_ratio)) for m in (given.material[s.material] for s in (a, b))]
    return 4.0 / 3.0 * math.sqrt(contact_radius(a, b)) * plane[0] * plane[1] / (plane[0] + plane[1])


def contact_radius(a: Any, b: Any) -> float:
    """m, of a pair."""
    return 1.0 / (curvature(a) + curvature(b))


def damping(given: CompliantContact, pair: MaterialPair, approach: float) -> float:
    """d [s/m] of a contact whose two met at this speed [m/s]."""
    e = pair.restitution if approach > pair.v_small else 0.0
    return given.most_damping if e == 0.0 else min(given.most_damping, 8.0 * (1.0 - e) / (5.0 * e * approach))


def rebound_ratio(x: float) -> float:
    """Speed after over speed before of a contact that nothing else acts on; x = damping times the speed before.

    From c depth^1.5 (1 - d s') over one contact: with y = x times the ratio, y + log(1 - y) = log(1 + x) - x, so
    y = 1 + W(-(1 + x) exp(-(1 + x))), W the upper branch of Lambert's function; here by Newton's iteration.
    """
    if x < 1e-3:  # the series of both sides, to x^4; the logarithms lose their digits
        return 1.0 - 2.0 / 3.0 * x + 4.0 / 9.0 * x * x - 44.0 / 135.0 * cubed(x)
    # In z = -log(1 - y) it is z - 1 + exp(-z) = x - log(1 + x), convex and rising: Newton's steps end from above.
    wanted, z = x - elementary.log1p(x), elementary.log1p(x)
    for _ in range(60):
        step = (z + elementary.expm1(-z) - wanted) / -elementary.expm1(-z)
        z -= step
        if abs(step) <= 1e-15 * z:
            break
    return -elementary.expm1(-z) / x


def deepest(given: CompliantContact, a: Any, b: Any, energy: float) -> float:
    """m to which so much energy (J) presses two into one another: 2/5 c depth^2.5."""
    return float(power(2.5 * energy / stiffness(given, a, b), 0.4))
