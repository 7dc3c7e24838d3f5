"""A database whose texts come from an attacker: written straight into the tables, past all that checks them."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.scene import content_hash
from tests.validation.store.made import case, falling, info, judged, measurement, result, scene
from validation.store import open_store

ELSEWHERE = "https://elsewhere.example"
STRINGS = (
    # HTML
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    f"<img src={ELSEWHERE}/a.png>",
    "<svg onload=alert(1)>",
    "</bdi></td></tr></table><h1>broken out</h1>",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    f"<iframe src={ELSEWHERE}></iframe>",
    "<style>body{display:none}</style>",
    "<a href='javascript:alert(1)'>a</a>",
    "<!-- <b>comment</b> -->",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#60;b&#62;",
    "</script><script>alert(1)</script>",
    f"<link rel=stylesheet href={ELSEWHERE}/a.css>",
    f"<base href={ELSEWHERE}/><meta http-equiv=refresh content=0;url={ELSEWHERE}>",
    f"<form action={ELSEWHERE}><button>send</button></form>",
    f"<math><mi xlink:href={ELSEWHERE}>x</mi></math>",
    "<![CDATA[ <b>x</b> ]]>",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)} #{alert(1)} <%= 1 %>",
    # Markdown of Streamlit
    f"[a link]({ELSEWHERE})",
    f"![a picture]({ELSEWHERE}/b.png)",
    f"<{ELSEWHERE}/auto>",
    f"{ELSEWHERE}/plain www.elsewhere.example somebody@elsewhere.example",
    "**bold** *it* ~~out~~ `code` # head",
    "# head\n\n- a\n- b\n\n1. c",
    "```\nfence\n```",
    "a | b\n--|--\n1 | 2",
    ":material/delete: :streamlit: :smile: :tada:",
    ":red[red] :blue-background[blue] :rainbow[all]",
    "$x^2$ and $$\\frac{1}{2}$$ and \\(y\\)",
    "$\\href{javascript:alert(1)}{x}$ \\unicode{x41}",
    "[^1]: note\n\n[ref]: javascript:alert(1)",
    "\\*not bold\\* \\<b\\>",
    # characters
    "\u202eturned round\u202c \u2066isolate \u200fmark",
    "כדור ו-كومة",
    "a\x00b NUL",
    "a\x1b[31mred\x1b[0m \x07\x08 \x85\x9b31m",
    "line\u2028and\u2029paragraph\r\nend\ttab",
    "\ufeff\u200b\u200d zero width \U000e0041",
    "e" + "\u0301" * 200 + " Zalgo",
    "\U0001f9f1" * 60,
    "w" * 100_000,
    "<b>" * 20_000,
    "' OR 1=1; DROP TABLE runs; --",
    "../../../etc/passwd %2e%2e%2f %00 ?a=b&c=d#e",
    "=HYPERLINK('https://elsewhere.example')",
    "constructor __proto__ toString null undefined NaN",
    "%s %n {0} {x!r} %(a)s",
)
UNSEEN = re.compile("[^\x20-\uffff]|[\x7f-\x9f\ufffd\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
COLUMNS = {
    "cases": "scenario engine profile alias label engine_label engine_version reason headline trace processor",
    "runs": "commit branch machine platform python command base merge_base default_branch message author remote",
    "measurements": "metric unit",
    "ledger": "who reason scope branch owner link",
    "verdict_groups": "engine_label",
    "comparisons": "command machine old new",
    "passports": "command machine engine engine_version profile platform processor",
    "finds": "engine engine_version profile oracle message known known_by link fixed_in script issue lacks since "
    "not_in",
}
"""Of texts. Those that are JSON have the strings inside."""


def marked(i: int) -> str:
    return f"h{i}h {STRINGS[i]}"


def literal(i: int, most: int = 60) -> str:
    """What a reader sees of it: spaces as one, what cannot be seen left out."""
    return normal(marked(i)[:20_000])[:most].strip()


def normal(shown: str) -> str:
    """Without what cannot be seen, spaces as one."""
    return " ".join(UNSEEN.sub(" ", shown.replace("\N{WORD JOINER}", "")).split())


def made(folder: Path) -> dict[str, list[int]]:
    """Numbers of the runs, of the cases of the last one, and of its groups' keys: a string a case, in all its texts."""
    path = folder / "upright.db"
    numbers: dict[str, list[Any]] = {"runs": [], "cases": [], "groups": [], "finds": []}
    cases = [
        case(f"s{i}", f"e{i}", parameters={}, scene_hash=content_hash(scene(2.0 + i))) for i in range(len(STRINGS))
    ]
    scenes = [scene(2.0 + i) for i in range(len(STRINGS))]
    with open_store(path) as store:
        for value, samples in ((4e-4, 30), (3e-3, 40)):
            run = store.begin_run(info("main"), cases, scenes)
            moved = [
                result(one, measurement(value=value, noise="tolerance"), trajectory=falling(bodies=1, samples=samples))
                for one in cases
            ]
            store.save_results(run, moved)
            baselines = store.baselines("main")
            store.save_verdicts(
                run,
                [judged(baselines.get(one.case.identity.key), one, {"penetration_mean": 1e-4}) for one in moved],
            )
            store.finish_run(run)
            if not baselines:
                store.accept(run, who="R.", reason="r")
            numbers["runs"].append(run)
        found = store.results(numbers["runs"][1])
        numbers["cases"] = [one.number for one in sorted(found, key=lambda one: int(one.case.identity.scenario[1:]))]
        for number in numbers["cases"]:
            store.mark("known", [number], who="R.", reason="r", scope="s", link="l")
        for i in range(len(STRINGS)):
            about: dict[str, Any] = {"engine_version": "1", "profile": "fair", "seed": 1, "dt": 0.01, "message": "m"}
            numbers["finds"].append(store.add_find(engine=f"e{i}", oracle="left", scene=scene(500.0 + i), **about))
            extra = case(f"x{i}", "e", parameters={}, scene_hash=content_hash(scene()))
            numbers["runs"].append(store.begin_run(info(f"b{i}"), [extra], [scene()]))
            broken = result(extra, outcome="crashed", reason="r", trajectory=None, step_times=np.zeros(0))
            store.save_results(numbers["runs"][-1], [broken])
            store.finish_run(numbers["runs"][-1])
    spoil(path, numbers)
    with open_store(path) as store:
        keys = {m.number: group.key for group in store.groups(numbers["runs"][1], closed=True) for m in group.members}
        numbers["groups"] = [keys[number] for number in numbers["cases"]]
    return numbers


def spoil(path: Path, numbers: dict[str, list[int]]) -> None:
    """Each string into all texts of its case, its entry of the ledger, a run of its own and a comparison."""
    database = sqlite3.connect(path)
    accepted, last = numbers["runs"][:2]

    def fill(table: str, where: str, i: int, value: int) -> None:
        columns = COLUMNS[table].split()
        names = ", ".join(f'"{name}" = ?' for name in columns)
        database.execute(f"UPDATE {table} SET {names} WHERE {where}", (*[marked(i)] * len(columns), value))

    for i, number in enumerate(numbers["cases"]):
        text, data = marked(i), json.dumps({marked(i): marked(i)})
        query = "SELECT id FROM cases WHERE run_id = ? AND scenario = ?"
        ((before,),) = database.execute(query, (accepted, f"s{i}")).fetchall()
        ((changes, defects),) = database.execute("SELECT changes, defects FROM verdicts WHERE case_id = ?", (number,))
        spoiled = [
            old.replace('"penetration_mean"', json.dumps(text)).replace('"m"', json.dumps(text))
            for old in (changes, defects)
        ]
        database.execute(
            "UPDATE verdicts SET reason = ?, changes = ?, defects = ? WHERE case_id = ?", (text, *spoiled, number)
        )
        for one in (before, number):
            fill("measurements", "case_id = ?", i, one)
            fill("cases", "id = ?", i, one)
            database.execute("UPDATE cases SET settings = ?, parameters = ? WHERE id = ?", (data, data, one))
        fill("finds", "id = ?", i, numbers["finds"][i])
        entry = "id IN (SELECT entry_id FROM ledger_cases WHERE case_id = ? AND entry_id > 1)"
        fill("ledger", entry, i, number)
        fill("verdict_groups", "id = (SELECT group_id FROM group_members WHERE case_id = ?)", i, number)
        query = "SELECT hash, json FROM scenes JOIN cases ON scene_hash = hash WHERE cases.id = ?"
        ((scene_hash, described),) = database.execute(query, (number,)).fetchall()
        described = json.dumps(json.loads(described) | {"title": text})
        database.execute("UPDATE scenes SET json = ? WHERE hash = ?", (described, scene_hash))
        run = numbers["runs"][2 + i]
        fill("runs", "id = ?", i, run)
        fill("cases", "run_id = ?", i, run)
        database.execute("UPDATE runs SET packages = ?, labels = ? WHERE id = ?", (data, data, run))
        change = {"metric": text, "a": 1.0, "b": 2.0, "unit": text, "law": text}
        line = {"sign": "worse", "scenario": text, "parameters": {text: text}, "told": text, "variant": text}
        line |= {"b": {"profile": text}, "changes": [change]}
        values = ("2026-11-03 12:00:00", *[text] * 4, "{}", json.dumps({text: 1}), json.dumps(line))
        columns = 'made, command, machine, "old", "new", packages, counts, "lines"'
        database.execute(f"INSERT INTO comparisons ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        bits = {"scene": text, "same": False, "why": text, "first": 0.0, "apart": None}
        ways = json.dumps([{"way": text, "found": [bits]}])
        values = ("2026-11-03 12:00:00", *[text] * 7, ways, data)
        columns = f"made, {', '.join(COLUMNS['passports'].split())}, ways, declined"
        database.execute(f"INSERT INTO passports ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    for run in (accepted, last):
        names = "message = ?, author = ?, machine = ?, command = ?"
        database.execute(f"UPDATE runs SET {names} WHERE id = ?", (*[marked(0)] * 4, run))
    database.commit()
    database.close()
