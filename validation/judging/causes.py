"""What a comparison of many scenarios comes down to: rows that say the same are one cause, what they share. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scenarios.scenario import Scenario
from validation.judging.comparison import Comparison, Sign, law_of
from validation.judging.outcomes import Contrasted
from validation.judging.policy import SHARED
from validation.judging.relations import Related
from validation.judging.verdict import Change, Defect
from validation.records.outcome import Outcome

Kind = Literal["ended", "happened", "promise", "law broken", "moved"]
"""By what a scenario is as it is: how its run ended, what happened in it, a promise of the engine's documents or a law
that one side breaks, a metric."""
KINDS: tuple[Kind, ...] = ("ended", "happened", "promise", "law broken", "moved")
SIGNS: tuple[Sign, ...] = ("not compared", "worse", "mixed", "better", "different")
MOST = 2  # things that changed scenarios are said to share
LEAST = 3  # scenarios, for anything to be shared by them


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why a comparison has its sign, or one half of a mixed one."""

    comparison: Comparison
    sign: Sign
    kind: Kind
    what: str  # the outcome, the law, or where there is none the metric
    among: str  # the shapes in contact where the motions part, a box and a plane; else the family of scenarios
    gravity: float = 0.0  # of findings of one kind
    outcome: Outcome | None = None
    change: Change | None = None
    defect: Defect | None = None
    starts: Contrasted | None = None
    related: Related | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    findings: tuple[Finding, ...]  # the gravest first

    @property
    def worst(self) -> Finding:
        return self.findings[0]

    @property
    def scenarios(self) -> list[str]:
        return labels(finding.comparison for finding in self.findings)

    @property
    def profiles(self) -> list[str]:
        return list(dict.fromkeys(f.comparison.new.case.identity.profile for f in self.findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What scenarios that move otherwise have in common, and the others have not."""

    what: str  # contact of a box and a plane; joints; free motion
    moved: int  # scenarios that have it and move otherwise
    having: int  # that have it
    moved_beside: int  # that move otherwise without it
    beside: int  # that have it not


def labels(comparisons: Iterable[Comparison]) -> list[str]:
    """Of scenarios, each once: it may have run in several profiles."""
    return list(dict.fromkeys(one.scenario.label for one in comparisons))


def causes_of(comparisons: Iterable[Comparison]) -> list[Cause]:
    """Worse before better before different, and of these what happened before laws broken before numbers."""
    folded: dict[tuple[str, ...], list[Finding]] = {}
    for comparison in comparisons:
        for finding in findings_of(comparison):
            key = (finding.sign, finding.kind, finding.what, finding.among, comparison.variant)
            folded.setdefault(key, []).append(finding)
    causes = [Cause(findings=tuple(sorted(found, key=lambda finding: -finding.gravity))) for found in folded.values()]
    return sorted(causes, key=_rank)


def _rank(cause: Cause) -> tuple[float, ...]:
    worst = cause.worst
    return SIGNS.index(worst.sign), KINDS.index(worst.kind), -worst.gravity, -len(cause.findings)


def findings_of(comparison: Comparison) -> list[Finding]:
    """What decided its sign; both halves of a mixed one. Empty where nothing is to be said."""
    sign = comparison.sign
    if sign not in SIGNS:
        return []
    if not comparison.measured:
        what = f"{comparison.old.outcome} {comparison.new.outcome}"
        return [Finding(comparison=comparison, sign=sign, kind="ended", what=what, among=comparison.scenario.name)]
    wanted: tuple[Sign, ...] = ("worse", "better") if sign == "mixed" else (sign,)
    promised = [finding for finding in _promises(comparison) if finding.sign in wanted]
    for found in (_happened(comparison), _invariants(comparison), _moved(comparison)):
        decisive = [finding for finding in found if finding.sign in wanted]
        if decisive:
            return [*promised, *decisive]
    elsewhere = Finding(comparison=comparison, sign=sign, kind="moved", what="motion", among=_among(comparison))
    return promised or [elsewhere]


def _promises(comparison: Comparison) -> list[Finding]:
    return [
        Finding(
            comparison=comparison,
            sign=one.sign,
            kind="promise",
            what=one.relation.name,
            among="",
            gravity=max(side.size for side in one.sides),
            related=one,
        )
        for one in comparison.related
        if one.sign != "same"
    ]


def _happened(comparison: Comparison) -> list[Finding]:
    found = [
        Finding(
            comparison=comparison,
            sign="different" if not one.what.wrong else "worse" if one.more else "better",
            kind="happened",
            what=one.what.kind,
            among=comparison.scenario.name,
            starts=one,
        )
        for one in comparison.happened
        if one.certain
    ]
    by_starts = {(one.what.kind, one.what.wrong) for one in comparison.happened}
    sides: tuple[tuple[Sign, Sequence[Outcome]], ...] = (("worse", comparison.now), ("better", comparison.before))
    for sign, outcomes in sides:
        for one in outcomes:
            turned = one.right is not False
            if (one.kind, not turned) in by_starts or (turned and sign == "better"):  # one run decides nothing
                continue
            found.append(
                Finding(
                    comparison=comparison,
                    sign="different" if turned else sign,
                    kind="happened",
                    what=one.kind,
                    among=pair_of(comparison.scenario, one.bodies) or comparison.scenario.name,
                    gravity=abs(one.value or 0.0),
                    outcome=one,
                )
            )
    return _one_of_each(found)


def _one_of_each(found: Sequence[Finding]) -> list[Finding]:
    """Of a pile of which ten bodies fell through the ground the one that fell furthest."""
    worst: dict[tuple[str, str, str], Finding] = {}
    for finding in sorted(found, key=lambda finding: -finding.gravity):
        worst.setdefault((finding.sign, finding.what, finding.among), finding)
    return list(worst.values())


def _invariants(comparison: Comparison) -> list[Finding]:
    sides: tuple[tuple[Sign, Sequence[Defect]], ...] = (("worse", comparison.broken), ("better", comparison.mended))
    return [
        Finding(
            comparison=comparison,
            sign=sign,
            kind="law broken",
            what=law_of(defect.metric) or defect.metric,
            among=_among(comparison),
            gravity=abs(defect.value / defect.limit) if defect.limit else abs(defect.value),
            defect=defect,
        )
        for sign, defects in sides
        for defect in defects[:1]
    ]


def _moved(comparison: Comparison) -> list[Finding]:
    """The gravest change of each sign; they are sorted."""
    found: dict[Sign, Finding] = {}
    for signed in comparison.changes:
        if signed.change.weight is not None and signed.sign not in found:
            found[signed.sign] = Finding(
                comparison=comparison,
                sign=signed.sign,
                kind="moved",
                what=signed.law or signed.change.metric,
                among=_among(comparison),
                gravity=float(signed.change.weight),
                change=signed.change,
            )
    return list(found.values())


# --- where ----------------------------------------------------------------------------------------------------------


def _among(comparison: Comparison) -> str:
    """The shapes whose contact is the first to differ, else the family."""
    parted = comparison.divergence
    pair = pair_of(comparison.scenario, (parted.contact.a, parted.contact.b)) if parted and parted.contact else ""
    return pair or comparison.scenario.name


def pair_of(scenario: Scenario, names: Sequence[str]) -> str:
    """two boxes, a box and a plane; "" where these are not two members of the scene."""
    shapes = shapes_of(scenario)
    found = sorted(shapes[name] for name in names if name in shapes)
    if len(found) != 2:
        return ""
    first, second = found
    plural = f"{first}{'es' if first.endswith('x') else 's'}"
    return f"two {plural}" if first == second else f"{_article(first)} and {_article(second)}"


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def shapes_of(scenario: Scenario) -> dict[str, str]:
    """Member of the scene -> what its shape is called."""
    scene = scenario.scene
    shapes = {body.name: _shape(body.shape) for body in scene.bodies}
    planes = ("half-plane", "half-space")
    return shapes | {b.name: "plane" if b.kind in planes else b.kind.replace("-", " ") for b in scene.boundaries}


def _shape(shape: object) -> str:
    """A polygon with four right angles is a box: engines take it for one."""
    kind: str = getattr(shape, "kind", "")
    if kind == "polygon":
        corners = np.array(getattr(shape, "vertices", ()), dtype=np.float64)
        if len(corners) == 4:
            edges = np.roll(corners, -1, axis=0) - corners
            turns = (edges * np.roll(edges, -1, axis=0)).sum(axis=1)
            if np.abs(turns).max() <= 1e-12 * (edges * edges).sum(axis=1).max():
                return "box"
    return "mesh" if kind == "convex-mesh" else kind.replace("-", " ")


def shared_by(comparisons: Iterable[Comparison]) -> list[Shared]:
    """What most of the scenarios that move otherwise have and most of the others have not: first by their bits, and
    where these differ throughout by what can be seen. Empty where nothing tells them apart."""
    known = [(one, features_of(one)) for one in comparisons if one.measured and not one.variant]
    known = [(one, features) for one, features in known if features]
    by_bits = _separating([(one.scenario.label, features, not one.identical) for one, features in known])
    return by_bits or _separating([(one.scenario.label, features, one.sign != "same") for one, features in known])


def features_of(comparison: Comparison) -> frozenset[str]:
    """The pairs of shapes in contact on either side, as the engine reports contacts; joints; free motion where there is
    neither. Empty where it reports none and bodies could touch."""
    scene = comparison.scenario.scene
    names = [member.name for member in (*scene.bodies, *scene.boundaries)]
    motions = [side.trajectory for side in (comparison.old, comparison.new)]
    found = {"joints"} if scene.joints else set()
    for motion in motions:
        if motion is None or motion.contacts is None:
            return frozenset(found)
        pairs = np.unique(np.stack([motion.contacts.a, motion.contacts.b], axis=1), axis=0)
        for a, b in pairs.tolist():
            if pair := pair_of(comparison.scenario, (names[a], names[b])):
                found.add(f"contact of {pair}")
    return frozenset(found or {"free motion"})


def _separating(rows: Sequence[tuple[str, frozenset[str], bool]]) -> list[Shared]:
    """Rows: scenario, what it has, whether it moves otherwise. The most telling first; each of those that the ones
    before leave."""
    found: list[Shared] = []
    by_scenario: dict[str, tuple[frozenset[str], bool]] = {}
    for label, features, moved in rows:
        before = by_scenario.get(label, (frozenset[str](), False))
        by_scenario[label] = before[0] | features, before[1] or moved
    left = list(by_scenario.values())
    while len(found) < MOST:
        moving = [features for features, moves in left if moves]
        if len(moving) < LEAST:
            break
        candidates = [_counted(feature, left) for feature in sorted(frozenset().union(*moving))]
        best = max(candidates, key=lambda one: _share(one.moved, one.having) - _share(one.moved_beside, one.beside))
        if best.moved < LEAST or best.moved < SHARED * best.having or not best.beside:
            break
        found.append(best)
        left = [(features, moves) for features, moves in left if best.what not in features]
    explained = bool(found) and found[-1].moved_beside <= (1.0 - SHARED) * found[-1].beside
    return found if explained else []


def _counted(feature: str, rows: Sequence[tuple[frozenset[str], bool]]) -> Shared:
    inside = [moves for features, moves in rows if feature in features]
    outside = [moves for features, moves in rows if feature not in features]
    return Shared(what=feature, moved=sum(inside), having=len(inside), moved_beside=sum(outside), beside=len(outside))


def _share(count: int, whole: int) -> float:
    return count / whole if whole else 0.0
