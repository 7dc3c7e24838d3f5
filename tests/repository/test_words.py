"""Identifiers use the field's words (docs/glossary.md): private ones stay away, and ordinary meanings are listed."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MECHANICS = """
place touch touching hold holds holding held part solid clock room sheet kept keep task reach listed listing hull look
looked looking instant tally hollow grip gripping gripped blow push pushing strike striking struck lively dulled light
stiffness cover figure seam witness front portal round_off
"""
"""Private words of mechanics and numerics, which have a term of the field."""
COINED = """
figure seam witness grip gripping gripped blow lively dulled tally instant room sheet sighting stranger standpoint
lapsed excuse
"""
"""Of these, those that mean nothing to a reader outside mechanics either; and coinages of judging."""
JUDGING = f"{COINED} told tell telling say said saying law word life late meaningless perturbed"
PACKAGES = {"reference_engine": MECHANICS} | dict.fromkeys(
    ("scenarios", "validation", "dashboard", "upright", "ci"), JUDGING
)
TERM = re.compile(r"(impact|contact|pair|flight)_?laws?", re.IGNORECASE)
"""A law that is named is a term: what is private is a law of nobody knows what."""

# What stays, by package: the identifier and what it means, which is what the word means to everybody.
STAYS: dict[str, dict[str, str]] = {
    "reference_engine": {
        "ConvexHull": "a convex hull",
        "hull": "a convex hull",
        "hulls": "convex hulls",
        "ENERGY_ROUND_OFF": "says of what the round-off is",
        "GAP_ROUND_OFF": "says of what the round-off is",
        "RATE_ROUND_OFF": "says of what the round-off is",
        "ROUND_OFF": "what Lemke's method takes for round-off: its table and its bilateral rows",
        "round_off": "the error of floating-point arithmetic",
        "HOLDS": "the values of the argument hold of simulate_mechanism",
        "Hold": "the type of the argument hold of simulate_mechanism",
        "hold": "argument of simulate_mechanism: how joints are held",
        "STIFFNESS": "of a spring or an elastic contact",
        "stiffness": "of a spring or an elastic contact",
        "first_portal": "the portal of Minkowski portal refinement",
        "portal": "the portal of Minkowski portal refinement",
        "keep": "which rows a filter keeps",
        "keep_best": "which rows a filter keeps",
        "keep_contacts": "which rows a filter keeps",
        "kept": "how many rows a filter has kept",
        "PARTS": "parts that a table divides its range into",
        "PARTS_PER_UNIT": "parts that a table divides its range into",
        "PART_1": "parts that a table divides its range into",
        "PART_2": "parts that a table divides its range into",
        "part": "what a sum is divided into",
        "solid_on_left": "on which side of an edge the material is",
        "struck": "hit",
    },
    "scenarios": {
        "_law": "of a pair's contact",
        "_materials_meet_by_a_law": "of contact",
        "gain_law": "the limit of the energy gained",
        "law": "of impact: a parameter of scenarios",
        "laws": "limits of a scenario: a field of Scenario, which others' scenarios set",
        "meaningless": "a field of Scenario, which others' scenarios set",
        "says": "of a sentence",
        "word": "a word of a sentence, or what is typed on the command line",
    },
    "validation": {
        "Instant": "a column type: a time in UTC",
        "LAST_WORDS": "the end of what a process wrote before it died",
        "last_words": "the end of what a process wrote before it died",
        "LAWS": "impact laws",
        "OWN_LAW": "an engine's own law of contact",
        "_catalogue_laws": "limits of a scenario of the catalogue",
        "_laws": "limits of a scenario",
        "_laws_of": "laws of contact of an engine's shapes",
        "_of_law": "of a limit that is broken",
        "_set_law": "of contact",
        "_set_laws": "of contact",
        "_with_laws": "of contact",
        "law": "the law or invariant that a metric measures; a field of JSON",
        "law_of": "the law or invariant that a metric measures",
        "laws": "limits of a scenario: a field of Scenario, which others' scenarios set",
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
    "dashboard": {
        "law": "the law or invariant that a metric measures; a field of JSON",
        "laws": "limits of a scenario",
        "say": "what a decision says",
        "word": "the kind of a verdict; a column of the database and a field of JSON",
        "words": "what is typed on the command line",
    },
    "upright": {
        "told": "a documented field of `upright.Case`, and of the JSON that it is read from",
        "Words": "the type of what is typed: a string or a path",
        "word": "what is typed",
        "words": "what is typed",
    },
    "ci": {
        "Figure": "a row of the recorded table of peers, whose file has the name",
        "figure": "a value of a recorded case; matplotlib's own name of a picture",
        "figures": "values of a recorded case; a field of a file",
        "LAWS": "impact laws",
        "law": "of impact",
        "law_of": "of impact",
        "laws": "of impact",
        "late": "after the time",
        "perturbed": "states moved by a known amount, as everywhere in mechanics",
        "word": "what is typed on the command line",
        "words": "what is typed on the command line",
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


@pytest.mark.parametrize("package", PACKAGES)
def test_no_identifier_has_a_private_word_but_those_that_mean_what_everybody_means(package: str) -> None:
    private = set(PACKAGES[package].split())
    with_private_word = {name for name in identifiers(package) if parts_of(TERM.sub("", name)) & private}
    assert sorted(with_private_word - STAYS[package].keys()) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_listed_is_still_there(package: str) -> None:
    assert sorted(STAYS[package].keys() - identifiers(package)) == []
