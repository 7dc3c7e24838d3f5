"""What is drawn for an engine: arrangements of bodies (`scenarios.strategies`) that it takes, and time steps."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from scenarios.catalogue.shared.bodies import Space
from scenarios.scene import Scene
from scenarios.strategies import forced, planar_scenes, time_steps
from scenarios.strategies.mutations import is_mutable, mutated
from scenarios.strategies.probes import allowed_by, arrangements, probes
from validation.running.options import RunError
from validation.tools.fuzzing.oracles import SAME_DEPTH, depth_at_start
from validation.tools.fuzzing.simpler import SAME_GAP, gap_at_start

BATCH = 100  # scenes between two looks at what was found
ASKED = 4  # scenes of an arrangement, the simplest and a few others: one that is taken is enough
SHARES: dict[Space, int] = {"spatial": 3, "planar": 1}
OWN_SHARE = 1  # likewise, of what is drawn for our own engines alone
FACTORS = (2.0, 0.5, 4.0, 0.25)  # of a setting's default
OPTIONS = 2  # at most, in a scene
ALIKE, PARTS = 8, 1 << 16
"""Scenes that hypothesis draws in one go, and seeds of such: it begins with the simplest and, after ten, copies parts
of what it has drawn, so that half of a hundred scenes would be nearly alike."""
Options = tuple[tuple[str, str], ...]
"""Settings of an engine that are not as the profile has them, by name, as they are typed."""
MUTATED = 4  # one scene of so many
WEIGHTS = {"heap": 4, "on a body": 5, "robots": 3, "tower": 2, "sunk": 2}
"""For one of each other arrangement: what has most contacts in any pattern, and most kinds of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Scenes of which mutations are drawn; one scene in four is one of the catalogue or of the corpus."""

    only: tuple[Scene, ...] = ()  # if there are any, nothing else is drawn
    models: bool = False  # whether a model is mutated (`models`), and no scene drawn
    catalogue: tuple[Scene, ...] = ()
    corpus: tuple[Scene, ...] = ()  # in which something was found before; they are drawn as they are, too


NONE_GIVEN = Given()


def scenes_for(
    taken_of: Callable[[Sequence[Scene]], list[bool]], given: Given = NONE_GIVEN, *, own: bool = False
) -> st.SearchStrategy[Scene]:
    """Of scenes that an engine takes: it is asked for each feature and for some scenes of each arrangement, so that
    little time is lost on what it declines.

    `taken_of`: of each scene whether the engine takes it. `own`: also of what only our own engines do exactly.
    Raises RunError where it takes none of those that were asked for alone.
    """
    if given.only:
        if not (bases := _bases(taken_of, given.only)):
            raise RunError(
                "none of the given scenes can be mutated: the engine declines them, or they have no rigid contacts"
            )
        return _mutations(bases)
    mutations = [
        _mutations(bases, least)
        for scenes, least in ((given.catalogue, 1), (given.corpus, 0))
        if (bases := _bases(taken_of, scenes))
    ]
    others = _arrangements(taken_of, own=own)
    return one_of([*((MUTATED - 1) * len(mutations) * [others]), *mutations]) if mutations else others


def _bases(taken_of: Callable[[Sequence[Scene]], list[bool]], scenes: Sequence[Scene]) -> list[Scene]:
    mutable = [scene for scene in scenes if is_mutable(scene)]
    return [scene for scene, taken in zip(mutable, taken_of(mutable)) if taken]


def _mutations(bases: Sequence[Scene], least: int = 1) -> st.SearchStrategy[Scene]:
    """In which bodies start no deeper in one another, and joints no further from being met, than in the given scene."""
    return mutated(bases, least).filter(lambda pair: _starts_as_well(*pair)).map(lambda pair: pair[1])


def _starts_as_well(base: Scene, scene: Scene) -> bool:
    deeper = depth_at_start(scene) - depth_at_start(base)
    return deeper <= SAME_DEPTH and gap_at_start(scene) <= gap_at_start(base) + SAME_GAP


def _arrangements(taken_of: Callable[[Sequence[Scene]], list[bool]], *, own: bool) -> st.SearchStrategy[Scene]:
    asked = probes()
    features = [feature for feature, taken in zip(asked, taken_of([*asked.values()])) if taken]
    found: list[st.SearchStrategy[Scene]] = []
    drawn_of = [(share, arrangements(allowed_by(features, space))) for space, share in SHARES.items()]
    for share, drawn in [*drawn_of, *([(OWN_SHARE, forced.arrangements())] if own else [])]:
        samples = {name: _first(strategy, ASKED) for name, strategy in drawn.items()}
        names = [name for name, scenes in samples.items() for _ in scenes]
        taken = taken_of([scene for scenes in samples.values() for scene in scenes])
        usable = dict.fromkeys(name for name, yes in zip(names, taken) if yes)
        weighted = [drawn[name] for name in usable for _ in range(WEIGHTS.get(name, 1))]
        if weighted:
            found += share * [one_of(weighted)]
    return one_of(found or [planar_scenes()])


def options_of(
    table: Mapping[str, Mapping[str, Any]], own: Mapping[str, Any], given: Collection[str] = ()
) -> st.SearchStrategy[Options]:
    """None in half of the scenes, else one or two settings: another choice or the other truth value, or a number within
    a factor of four of the profile's, of both as often; none that leaves what the engine's documents stand for.

    `table`: of an engine's settings, each with the fields of `Setting`; `own`: what they are otherwise; `given`: which
    are not drawn.
    """
    values = {name: found for name, row in table.items() if name not in given and (found := others_of(row, own[name]))}
    if not values:
        return st.just(())
    switches = [name for name in sorted(values) if table[name]["choices"] or isinstance(own[name], bool)]
    numbers = [name for name in sorted(values) if name not in switches]
    which = st.sampled_from([names for names in (switches, numbers) if names]).flatmap(st.sampled_from)
    one = which.flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(values[name])))
    some = st.lists(one, min_size=1, max_size=OPTIONS, unique_by=lambda option: option[0])
    limits = [(name, row["at_most"]) for name, row in table.items() if row["at_most"]]

    def is_documented(options: Options) -> bool:
        both = {**own, **dict(options)}
        return all(float(both[name]) <= float(both[most]) for name, most in limits)

    return st.just(()) | some.map(lambda found: tuple(sorted(found))).filter(is_documented)


def others_of(row: Mapping[str, Any], own: Any) -> list[str]:
    """Values of a setting other than its own; none of text, or of a number that is 0."""
    if row["fuzzed"] == "none":
        return []
    if row["choices"]:
        return [choice for choice in row["choices"] if choice != own]
    if isinstance(own, bool):
        return [str(not own).lower()]
    if isinstance(own, str) or not own:
        return []
    low, high = float(row["low"]), float(row["high"])
    low, high = {"more": (max(low, own), high), "less": (low, min(high, own))}.get(row["fuzzed"], (low, high))
    numbers = dict.fromkeys(type(row["default"])(factor * own) for factor in FACTORS)
    return [repr(number) for number in numbers if low <= number <= high and number != own]


def one_of(strategies: Sequence[st.SearchStrategy[Scene]]) -> st.SearchStrategy[Scene]:
    """Each as often as it stands there; the first is the simplest."""
    return st.sampled_from(range(len(strategies))).flatmap(lambda which: strategies[which])


def _first(strategy: st.SearchStrategy[Scene], count: int) -> list[Scene]:
    scenes: list[Scene] = []
    draw(strategy, 1, lambda scene, dt: scenes.append(scene), count)
    return scenes


def draw(scenes: Any, seed: int, visit: Callable[[Any, float], None], count: int = BATCH) -> None:
    """Call `visit` with the scenes and time steps of this seed: the same ones in every process. The first is the
    simplest."""
    for part in range(math.ceil(count / ALIKE)):
        _draw_some(scenes, seed * PARTS + part, visit, min(ALIKE, count - part * ALIKE), simplest=part == 0)


def _draw_some(scenes: Any, seed: int, visit: Callable[[Any, float], None], count: int, *, simplest: bool) -> None:
    drawn = 0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count if simplest else count + 1,
        deadline=None,
        database=None,
        print_blob=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(scene=scenes, dt=time_steps())
    def visit_each(scene: Scene, dt: float) -> None:
        nonlocal drawn
        drawn += 1
        if simplest or drawn > 1:
            visit(scene, dt)

    visit_each()
