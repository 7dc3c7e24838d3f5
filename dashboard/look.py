"""How the pages look: a verdict's word stands out where it asks for a look, and is grey where it does not."""

from __future__ import annotations

from html import escape

from validation.verdict import MEANING

NOT_DONE = "not done"
MEANING_HERE = dict[str, str](MEANING.items()) | {
    NOT_DONE: "planned, and without a result: the run goes on, or was stopped"
}
"""The judge's words, the gravest first, and what a run can be on a page before it is judged."""

AMBER = ("#ffbf00", "#222222")
COLOURS: dict[str, tuple[str, str]] = {
    "broken": ("#8e1b1b", "#ffffff"),
    "defect": ("#b5482a", "#ffffff"),
    "regressed": ("#c62828", "#ffffff"),
    "missing": AMBER,
    NOT_DONE: AMBER,
    "different": ("#6a5acd", "#ffffff"),
    "improved": ("#2e7d32", "#ffffff"),
}
"""Word -> background and text, legible on a light page and on a dark one."""

STYLE = """
<style>
.matrix { overflow-x: auto; }
.matrix table { border-collapse: collapse; font-size: 0.86rem; }
.matrix th, .matrix td { text-align: left; vertical-align: top; border-bottom: 1px solid rgba(128, 128, 128, 0.3); }
.matrix th { padding: 4px 10px; vertical-align: bottom; border-bottom-width: 2px; }
.matrix th small { display: block; font-weight: 400; opacity: 0.7; }
.matrix td { padding: 4px 10px; font-variant-numeric: tabular-nums; }
.matrix td.scenario { min-width: 14em; overflow-wrap: anywhere; }
.matrix td.figure { min-width: 9em; opacity: 0.8; }
.matrix td a { color: inherit; text-decoration: none; white-space: nowrap; }
.matrix td a:hover { text-decoration: underline; }
.word { font-size: 0.75rem; font-weight: 600; padding: 1px 6px; border-radius: 8px; white-space: nowrap; }
.word.quiet { padding: 0; font-weight: 400; opacity: 0.6; }
.word.law { border: 1px solid #b5482a; font-weight: 400; }
.matrix td .word.quiet { margin-left: 2px; }
.matrix td .word:not(.quiet) { display: block; width: fit-content; margin: 1px 0; }
p.verdict { margin: 0; }
p.verdict .word.quiet { font-size: inherit; font-weight: 600; opacity: 1; }
[data-testid="stTable"] td { white-space: nowrap; }
[data-testid="stMultiSelect"] [data-tag] { background-color: #2f6f9f; }
</style>
"""


def law_html(metric: str) -> str:
    """Of a law that is broken and fails nothing: it was so when accepted, or nothing is accepted yet."""
    return f"<span class='word law'>breaks a law: {escape(metric)}</span>"


def word_html(word: str, more: str = "") -> str:
    """The word of a verdict, and what is behind it, as it stands in a cell or a line."""
    text = escape(f"{word}: {more}" if more else word)
    if word not in COLOURS:
        return f"<span class='word quiet'>{text}</span>"
    background, colour = COLOURS[word]
    return f"<span class='word' style='background:{background};color:{colour}'>{text}</span>"
