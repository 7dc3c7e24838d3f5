"""The catalogue: canonical scenes, each with its truth, found by name.

    FAMILIES["stack"].scenario({"n": 5})    scenario_of("stack:n=5")    scenario_of("my_scene.json")

A family is a function from parameters to a scenario, its name, what it is of, and the parameters of it that the
canonical suite runs: none of those in compliant contact, whose kernels take 9 s to
compile at first use, nor of `incline-throw`, nor of `walkers`, on which the reference engine takes minutes, nor of
`roller-coaster`, which `contactsim` alone takes. The order of the table is that of the report.
"""

import difflib
from importlib import import_module
from pathlib import Path

from scenarios.catalogue import pair_at_rest
from scenarios.catalogue.shared.scene_file import scenario_from_file
from scenarios.native import ENDINGS
from scenarios.scenario import Family, ParameterError, Scenario, Value, token_of

__all__ = ["FAMILIES", "canonical_suite", "cite", "comparison_suite", "scenario_of"]

ORDER = """
    upright_block blocks stack bouncing.BALL ball_with_drag towed_body bouncing.BLOCK tumbling_block free_tumble
    incline_slide incline_throw thrown_box slide_to_roll sliding_ladder newtons_cradle.APART
    newtons_cradle.IN_CONTACT single_impact rocking_block overlapped_start pair_at_rest block_against_wall pendulum
    double_pendulum chain do_nothing four_bar slider_crank andrews walkers roller_coaster heavy_top sphere_in_sphere
    break_rack dominoes pile thrown_sphere ellipsoid_drop rocking_ellipsoid rising_egg ellipsoid_heaps.THREE
    ellipsoid_heaps.IN_SPHERE ellipsoid_heaps.LATTICE compliant.BOUNCE compliant.REST compliant.CRADLE
    compliant.ROLLING compounds.SWING compounds.THROWN compounds.OVERHANG joint_drives.DRIVEN joint_drives.STOPPED
    joint_drives.BRAKED ties_in_space.CONE ties_in_space.WELDED moving_plate turning_plate stand_off
"""


def _family(entry: str) -> Family:
    """FAMILY of a module of this folder, or what the word after its name is."""
    module, _, name = entry.partition(".")
    family = getattr(import_module(f"scenarios.catalogue.{module}"), name or "FAMILY")
    assert isinstance(family, Family)
    return family


FAMILIES = {family.name: family for family in map(_family, ORDER.split())}

FORMS = "NAME, NAME:k=v,k=v or a scene file, for instance upright-block, stack:n=5,mass_ratio=100, my_scene.json"


def canonical_suite() -> list[Scenario]:
    """Every family at each of its canonical parameters, in the order of the report."""
    return [family.scenario(given) for family in FAMILIES.values() for given in family.canonical]


def suite_size() -> int:
    """How many they are; to build them takes a second."""
    return sum(len(family.canonical) for family in FAMILIES.values())


def comparison_suite() -> list[Scenario]:
    """What versions of an engine are compared by: the canonical suite, every pair of shapes in space, and walkers."""
    pairs = [FAMILIES["pair-at-rest"].scenario(given) for given in pair_at_rest.EVERY_PAIR]
    suite = canonical_suite()
    known = {scenario.label for scenario in suite}
    more = [*pairs, FAMILIES["walkers"].scenario()]
    return suite + [scenario for scenario in more if scenario.label not in known]


def scenario_of(word: str) -> Scenario:
    """The scenario that a word names: `NAME`, `NAME:k=v,k=v`, or the path of a scene file.

    A word with a path separator in it or `.json` at its end is a file. Raises ParameterError (unknown name or
    parameter, value that is not allowed) or SceneError (what is wrong with the file), each one line.
    """
    name, colon, rest = word.partition(":")
    if word.endswith(".json") or ("/" in name and not word.casefold().endswith(ENDINGS)) or "\\" in name:
        return scenario_from_file(Path(word))
    if word.casefold().endswith(ENDINGS):
        raise ParameterError(
            f"{word!r} is a model in an engine's language; run, check, compare and versions take models"
        )
    if name not in FAMILIES:
        near = difflib.get_close_matches(name.lower().replace("_", "-"), FAMILIES, n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(FAMILIES)}."
        raise ParameterError(f"unknown scenario {name!r}; {hint} Give {FORMS}")
    return FAMILIES[name].scenario(_parameters(name, rest) if colon else {})


def cite(scenario: Scenario) -> str:
    """What the scenario's truth says, over which time, how exactly, and where it comes from; for people."""
    truth = scenario.truth
    says = [
        "poses" if truth.pose else "",
        f"{len(truth.events)} {'time' if len(truth.events) == 1 else 'times'} of impact" if truth.events else "",
        f"{truth.goal.name} = {truth.goal.value:.12g} {truth.goal.unit}" if truth.goal else "",
        *sorted(truth.invariants),
    ]
    error = f"to {truth.error:.0e}" if truth.error else "to round-off"
    return "\n".join(
        (
            f"{scenario.label}: {scenario.title}",
            f"  truth   {truth.kind}, {truth.span[0]:g} to {truth.span[1]:g} s, {error}",
            f"  says    {'; '.join(filter(None, says))}",
            f"  source  {truth.source}",
        )
    )


def _parameters(name: str, text: str) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ParameterError(f"{name}: {part!r} is no parameter; write k=v, for instance {_example(name)}")
        if key in given:
            raise ParameterError(f"{name}: parameter {key!r} is given twice, {given[key]} and {value}; give it once")
        given[key] = value
    return given


def _example(name: str) -> str:
    shown = next((dict(given) for given in FAMILIES[name].canonical if given), FAMILIES[name].defaults)
    return name + ":" + ",".join(f"{k}={token_of(v)}" for k, v in shown.items())
