"""The tables of docs that repeat what the code declares: `python -P ci/tables.py` writes them, a test compares.

Each stands between two comments, `<!-- table NAME -->` and `<!-- end -->`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ci.benchmarks.format_features import FEATURES, PLANAR
from scenarios.catalogue import FAMILIES
from scenarios.scenario import token_of
from validation.metrics import METRICS
from validation.records.quantities import quantity

DOCS = Path(__file__).parents[1] / "docs"
DATA = Path(__file__).parent / "benchmarks/data"
RELEASED = json.loads((DATA / "released_changes.json").read_text(encoding="utf-8"))
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


def released() -> list[tuple[str, ...]]:
    rows = [("", "engine", "scene", "sign", "what happens", "what the maintainers say")]
    for given in RELEASED["entries"]:
        engine = " ".join((f"{given['engine']} {given['old']} → {given['new']}", given["options"])).strip()
        scene = f"`{given['scene'].removesuffix('.json')}`" + (" @fair" if given["profile"] == "fair" else "")
        links = [f"[{i}]({url})" for i, url in enumerate(given["sources"], 1)]
        where = ", ".join(filter(None, [given.get("section", ""), *links]))
        sign = f"**{given['sign']}**" + (" (measured)" if given["by"] == "measurement" else "")
        note = f". ({given['note']})" if "note" in given else ""
        statement = given["maintainers"] + (f" ({where})" if where else "")
        rows.append((given["id"], engine, scene, sign, given["because"] + note, statement))
    return rows


def not_reproduced() -> list[tuple[str, ...]]:
    return [("change", "why"), *((given["what"], given["why"]) for given in RELEASED["not_reproduced"])]


def changed_by() -> list[tuple[str, ...]]:
    rows = [("scene", "changes with")]
    for given in RELEASED["changes"]:
        scene = " ".join((f"`{given['scene'].removesuffix('.json')}`", given["engine"], given.get("options", "")))
        releases = [f"{version} ({what})" if what else version for version, what in given["releases"].items()]
        tried = f" of {' to '.join(given['tried'])}" if "tried" in given else ""
        rows.append((scene.strip(), (", ".join(releases) or "none") + tried))
    return rows


def pymunk_versions() -> list[tuple[str, ...]]:
    """Releases that could not be run, and those with a change or other bits; what lies between is as before."""
    rows = [("release", "against", "same", "with the same bits", "what changed")]
    for line in (DATA / "pymunk_versions.jsonl").read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        cases, changed = found["cases"], found["changed"]
        compared = sum(cases.values()) - cases.get("declined", 0)
        if found["lacks"]:
            rows.append((found["release"], "", "", "", f"could not be run: {found['lacks']}"))
        elif not found["before"]:
            rows.append((found["release"], "the first", "", "", ""))
        elif changed or found["identical"] < compared:
            what = "; ".join(f"*{one['sign']}* `{one['label']}`: {_what(one)}" for one in changed)
            counts = (f"{cases.get('same', 0)} of {compared}", str(found["identical"]))
            rows.append((found["release"], found["before"], *counts, what or "nothing beyond round-off"))
    return rows


def format_features(features: Mapping[str, str] = FEATURES) -> list[tuple[str, ...]]:
    """What scenes of format 2 have, on every engine, as `ci/benchmarks/format_features.py` has measured it."""
    found = json.loads((DATA / "format_features.json").read_text(encoding="utf-8"))
    engines = list(found[next(iter(features.values()))])
    rows = [("", "scene", *engines)]
    for what, scene in features.items():
        cells = (found[scene][engine] for engine in engines)
        shown = ("declined" if isinstance(cell, str) else ", ".join(f"{error:.1e}" for error in cell) for cell in cells)
        rows.append((what, f"`{scene}`", *shown))
    return rows


def _what(changed: dict[str, Any]) -> str:
    """What happened, else the gravest metrics with the values before and now."""
    if changed["told"]:
        return str(changed["told"])
    moved = [(one["metric"].replace("_", " "), one["unit"], one["a"], one["b"]) for one in changed["changes"][:2]]
    return ", ".join(f"{name} {_value(a, unit)} to {_value(b, unit)}" for name, unit, a, b in moved)


def _value(value: float | None, unit: str) -> str:
    return "nothing" if value is None else quantity(float(value), unit)


TABLES: dict[str, Callable[[], list[tuple[str, ...]]]] = {
    "scenarios": scenarios,
    "metrics": metrics,
    "released": released,
    "not_reproduced": not_reproduced,
    "changed_by": changed_by,
    "pymunk_versions": pymunk_versions,
    "format_features": format_features,
    "planar_features": partial(format_features, PLANAR),
}


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
