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
place touch touching listed listing hull look looked looking instant tally hollow grip gripping gripped blow push
pushing strike striking struck lively dulled light cover figure seam witness front portal clock room sheet kept
keep task reach solid part held hold holding stiffness round_off
"""
JUDGING = """
told tell telling say said saying word life stranger standpoint late lapsed excuse sighting meaningless figure seam
witness
"""
PACKAGES = {"reference_engine": MECHANICS, "scenarios": JUDGING, "validation": JUDGING, "dashboard": JUDGING}

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
        "steps_kept": "how many steps of an elimination stay as they are",
        "PARTS": "parts that a table divides its range into",
        "PARTS_PER_UNIT": "parts that a table divides its range into",
        "PART_1": "parts that a table divides its range into",
        "PART_2": "parts that a table divides its range into",
        "part": "what a sum is divided into",
        "solid_on_left": "on which side of an edge the material is",
        "struck": "hit",
    },
    "scenarios": {
        "meaningless": "a field of Scenario, which others' scenarios set",
        "says": "of a sentence",
        "word": "a word of a sentence, or what is typed on the command line",
    },
    "validation": {
        "LAST_WORDS": "the end of what a process wrote before it died",
        "last_words": "the end of what a process wrote before it died",
        "TELLING": "kinds of verdict that need somebody's attention",
        "telling": "verdicts that need somebody's attention",
        "_figure": "a number with few digits",
        "_word": "MuJoCo's own name of an enumeration's member",
        "_WORD": "the pattern of an engine on the command line",
        "Word": "the kinds of a verdict; a column of the database and a field of JSON",
        "word": "the kind of a verdict; a column of the database and a field of JSON",
        "Words": "the type of a column of the database",
        "words": "what is typed on the command line",
        "late": "after the time",
        "meaningless": "a field of Scenario, which others' scenarios set",
    },
    "dashboard": {
        "TELLING": "kinds of verdict that need somebody's attention",
        "TOLD": "kinds of verdict that the page of runs counts by name",
        "say": "what a decision says",
        "word": "the kind of a verdict; a column of the database and a field of JSON",
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
    with_private_word = {name for name in identifiers(package) if parts_of(name) & set(PACKAGES[package].split())}
    assert sorted(with_private_word - STAYS[package].keys()) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_listed_is_still_there(package: str) -> None:
    assert sorted(STAYS[package].keys() - identifiers(package)) == []
