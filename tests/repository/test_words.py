"""Identifiers use the field's words (docs/glossary.md): private ones stay away, and ordinary meanings are listed."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WORDS = """
place touch touching touched hold holds holding held part solid clock room sheet kept keep task reach listed listing
hull look looked looking instant tally hollow grip gripping gripped blow push pushing pushed strike striking struck
lively dulled light stiffness cover figure seam witness front portal round_off
told tell telling say said saying sighting law word life stranger standpoint late lapsed excuse no_fault as_ever
meaningless perturbed
"""
"""Private words, which have a term of the field: in mechanics and numerics, and in judging."""
PACKAGES = ("reference_engine", "scenarios", "validation", "dashboard", "upright", "ci")
TERM = re.compile(r"(impact|contact|pair|flight)_?laws?", re.IGNORECASE)
"""A law that is named is a term: what is private is a law of nobody knows what."""

# What stays, by package: the identifier and what it means, which is what the word means to everybody.
LAWS = {
    "law": "of impact or contact; the law or invariant that a metric measures: a field of JSON",
    "laws": "of impact or contact; limits of a scenario: a field of Scenario, which others' scenarios set",
}
PARTS = {"part": "one piece of data of several; no piece of a body", "parts": "pieces of data; no pieces of a body"}
SOLID = {"solid": "a body's or a boundary's geometry, as `scenarios.geometry` makes it"}
SPRINGS = {
    "STIFFNESS": "of a spring or an elastic contact",
    "stiffness": "of a spring or an elastic contact: a field of scenes",
}
TYPED = {"word": "what is typed, or of a sentence", "words": "what is typed, or a sentence"}
HOLLOW = {"HollowSphere": "a boundary of scenes, whose JSON has the name"}
STAYS: dict[str, dict[str, str]] = {
    "reference_engine": LAWS
    | SPRINGS
    | {
        "ConvexHull": "a convex hull",
        "hull": "a convex hull",
        "hulls": "convex hulls",
        "ENERGY_ROUND_OFF": "says of what the round-off is",
        "GAP_ROUND_OFF": "says of what the round-off is",
        "RATE_ROUND_OFF": "says of what the round-off is",
        "round_off": "the error of floating-point arithmetic",
        "HOLDS": "the values of the argument hold of simulate_mechanism",
        "Hold": "the type of the argument hold of simulate_mechanism",
        "hold": "argument of simulate_mechanism: how joints are held",
        "LAWS": "impact laws",
        "cone_law": "Coulomb's law of the friction cone",
        "law_of": "contact law of a pair",
        "off_law": "how far from Coulomb's law",
        "first_portal": "the portal of Minkowski portal refinement",
        "portal": "the portal of Minkowski portal refinement",
        "part": "what a sum is divided into",
        "keep": "which rows a filter keeps",
        "keep_best": "which rows a filter keeps",
        "keep_contacts": "which rows a filter keeps",
        "kept": "how many rows a filter has kept",
        "PARTS": "parts that a table divides its range into",
        "PARTS_PER_UNIT": "parts that a table divides its range into",
        "PART_1": "parts that a table divides its range into",
        "PART_2": "parts that a table divides its range into",
        "solid_on_left": "on which side of an edge the material is",
        "struck": "hit",
        "WORD": "eight bytes of memory",
        "words": "eight bytes of memory each, or a sentence",
        "words_of": "of memory",
    },
    "scenarios": LAWS
    | PARTS
    | SOLID
    | SPRINGS
    | HOLLOW
    | {
        "_law": "of a pair's contact",
        "_materials_meet_by_a_law": "of contact",
        "gain_law": "the limit of the energy gained",
        "hollow": "a thin shell, not a full body: a parameter of the scenario slide-to-roll",
        "meaningless": "a field of Scenario, which others' scenarios set",
        "says": "of a sentence",
        "word": "a word of a sentence, or what is typed on the command line",
    },
    "validation": LAWS
    | PARTS
    | SOLID
    | {"stiffness": SPRINGS["stiffness"]}
    | HOLLOW
    | {
        "ConvexHull": "scipy's name",
        "convex_hull": "Rapier's name",
        "contactStiffness": "pybullet's name",
        "setSpringStiffness": "DART's name",
        "jnt_stiffness": "MuJoCo's name",
        "tendon_stiffness": "MuJoCo's name",
        "add_task": "rich's name",
        "task": "rich's and the kernel's name",
        "touch": "of pathlib: to make an empty file",
        "Light": "of a traffic light",
        "light": "of a traffic light: a field of JSON",
        "lights": "of a traffic light",
        "clock": "what gives the time",
        "held": "elastic energy that contacts store",
        "listed": "shown in a table",
        "listing": "the list that a command prints",
        "push": "a thruster's force",
        "pushed": "moved by a thruster",
        "GAP_ROUND_OFF": "says of what the round-off is",
        "round_off": "the error of floating-point arithmetic: a noise class",
        "ROUND_OFF": "the error of floating-point arithmetic",
        "PARTS": "equal parts of a time step",
        "solid_of": "a body's or a boundary's geometry, as the reference engine takes it",
        "Instant": "a column type: a time in UTC",
        "LAST_WORDS": "the end of what a process wrote before it died",
        "last_words": "the end of what a process wrote before it died",
        "LAWS": "impact laws",
        "OWN_LAW": "an engine's own law of contact",
        "_laws": "limits of a scenario",
        "_of_law": "of a limit that is broken",
        "_set_law": "of contact",
        "_set_laws": "of contact",
        "_with_laws": "of contact",
        "law_of": "the law or invariant that a metric measures",
        "set_laws": "of contact",
        "perturbed": "states moved by a known amount, as everywhere in mechanics",
        "_WORD": "the pattern of an engine on the command line",
        "Word": "the kinds of a verdict; a column of the database and a field of JSON",
        "word": "the kind of a verdict; a column of the database and a field of JSON",
        "Words": "the type of a column of the database",
        "words": "what is typed on the command line",
        "told": "a field of JSON lines, which others read",
        "late": "after the time",
        "meaningless": "a field of Scenario, which others' scenarios set",
    },
    "dashboard": LAWS
    | {
        "say": "what a decision says",
        "word": "the kind of a verdict; a column of the database and a field of JSON",
        "words": "what is typed on the command line",
    },
    "upright": TYPED
    | {
        "told": "a documented field of `upright.Case`, and of the JSON that it is read from",
        "Words": "the type of what is typed: a string or a path",
    },
    "ci": LAWS
    | PARTS
    | TYPED
    | {
        "Figure": "a row of the recorded table of peers, whose file has the name",
        "figure": "a value of a recorded case; matplotlib's own name of a picture",
        "figures": "values of a recorded case; a field of a file",
        "LAWS": "impact laws",
        "law_of": "of impact",
        "late": "after the time",
        "perturbed": "states moved by a known amount, as everywhere in mechanics",
        "clock": "what gives the time",
        "hold": "argument of simulate_mechanism: how joints are held",
        "keep": "an option of a benchmark",
        "pushed": "by a force",
        "Touch": "what a planted change affects, and from when",
        "touches": "what a planted change affects, and from when",
        "touching": "what a planted change affects, and from when",
    },
}


def parts_of(name: str) -> set[str]:
    """Of snake_case and CamelCase, in the singular too."""
    parts = [p.lower() for snake in name.split("_") for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", snake)]
    found = set(parts) | {f"{a}_{b}" for a, b in pairwise(parts)}
    return found | {p[: -len(end)] for p in parts for end in ("s", "es") if p.endswith(end) and len(p) > len(end) + 2}


def identifiers(package: str) -> set[str]:
    names = {path.stem for path in (ROOT / package).rglob("*.py")}
    for path in (ROOT / package).rglob("*.py"):
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        names |= {t.string for t in tokens if t.type == tokenize.NAME and not keyword.iskeyword(t.string)}
    return names


def test_no_identifier_has_a_private_word_but_those_that_mean_what_everybody_means() -> None:
    """And what is listed is still there."""
    private = set(WORDS.split())
    for package in PACKAGES:
        found = identifiers(package)
        with_private_word = {name for name in found if parts_of(TERM.sub("", name)) & private}
        assert sorted(with_private_word - STAYS[package].keys()) == [], package
        assert sorted(STAYS[package].keys() - found) == [], package
