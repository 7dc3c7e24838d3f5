"""The tables of docs that repeat what the code declares: `python -P ci/tables.py` writes them, a test compares.

Each stands between two comments, `<!-- table NAME -->` and `<!-- end -->`.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from scenarios.catalogue import FAMILIES
from scenarios.scenario import token_of
from validation.metrics import METRICS

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def scenarios() -> list[tuple[str, ...]]:
    rows = [("scenario", "what it is", "of", "parameters", "in the canonical suite")]
    for name, family in FAMILIES.items():
        given = "; ".join(f"`{p}={token_of(value)}`: {family.allowed[p]}" for p, value in family.defaults.items())
        rows.append((f"`{name}`", family.summary, family.subject, given, str(len(family.canonical) or "")))
    return rows


def metrics() -> list[tuple[str, ...]]:
    rows = [("metric", "law that it measures", "of bodies", "where it is known what the scene is of")]
    for name, metric in METRICS.items():
        sentence = metric.sentence
        rows.append((f"`{name}`", metric.law, sentence.of_bodies, sentence.of_subject))
    return rows


TABLES: dict[str, Callable[[], list[tuple[str, ...]]]] = {"scenarios": scenarios, "metrics": metrics}


def filled(page: str) -> str:
    """The page with its tables as the code has them."""
    return TABLE.sub(lambda found: f"{found[1]}\n{_markdown(TABLES[found[2]]())}\n{found[3]}", page)


def _markdown(rows: list[tuple[str, ...]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', 'or') for cell in cells)} |\n"

    return line(rows[0]) + line("---" for _ in rows[0]) + "".join(map(line, rows[1:]))


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        if (after := filled(before)) != before:
            path.write_text(after, encoding="utf-8")
            print(path)
