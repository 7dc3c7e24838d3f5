"""Records what a version of Upright computes, and compares a later one with it.

    python -P ci/record.py perturb DB FOLDER                               the scenes in DB, a little changed
    python -P ci/record.py make DB OUT [--seeded JSON] [--perturbed DB...]
    python -P ci/record.py compare [DB] [RECORD] [--seeded JSON] [--contactsim] [--reasons FILE]

DB is a database of `upright run --time-limit 600`, the canonical suite, its latest run; JSON is written by `python -P
ci/benchmarks/seeded_regressions.py --json JSON`. `make` repeats the recorded ContactSim runs, `compare` only where
asked. All else is read from the tables (`stored_run.py`): `contactsim` alone needs our modules, so that they may move.
`compare` exits 1 on a miss:

- Every case is there, of the same identity, with the same settings, outcome and verdict.
- Its scene, motion and metrics have the same bits. Where they have not, a line of `recorded/moved.json` says why
  (engine, case, reason; `*` for any), and the limits below hold. A peer of another wheel version, or any engine on
  another processor, C library or numpy, needs no reason, only the limits. Lines that no case needs are listed.
- Poses of the engine `reference` at half the horizon: within 1e-12 of the scene's scale; a radian counts as a move at
  the distance of that scale. **Scale**: the diagonal of the box that holds all centres of mass during the motion, and
  the diameter of the largest free body about its centre, together. The pose is that of the sample nearest to half the
  duration which is a whole number of steps from the start and stands once.
- Impacts of `reference`: as many of each pair, each within 1e-11 s.
- Errors of `reference` against truth: at most twice, or below 1e-12 of the scale (m), of 1 (rad and other units), of
  the duration (s). The median of those that moved, each divided by that and at least 1: no larger, to a thousandth.
- Other metrics: within what their noise class allows (docs/noise.md); those of `reference`, and any of a motion with
  the same bits, with 1e-6 of their resolution (or 1e-9) in place of it. Chaotic ones of peers are not limited.
- **Chaotic motions** of `reference` are found by experiment (`perturb`): each scene is run four times more, with
  gravity and the starting velocities changed in their last bits, by 2^-51, -2^-51, 2^-49 and 2^-47 of themselves. The
  limit of a pose is ten times the most that this moves it, where that is more than 1e-12; impacts are compared up to
  the first one that it shifts by more than 1e-12 s or that not all have; in cases with either, chaotic metrics are not
  limited.
"""

import argparse
import fnmatch
import gzip
import hashlib
import json
import math
import platform
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from stored_run import Json, Motion, apart, cases_of, events_of, half_of, scale_of, shifts

HERE = Path(__file__).resolve().parent
RECORD = HERE / "recorded" / "8df027a.json.gz"
REASONS = HERE / "recorded" / "moved.json"
CONTACTSIM_RUNS = HERE.parent / "tests" / "reference_engine" / "contactsim" / "data" / "contactsim_runs"

POSE, EVENT, TRUTH = 1e-12, 1e-11, 2.0  # of the scale; s; times
CHANGES, TIMES = (2.0**-51, -(2.0**-51), 2.0**-49, 2.0**-47), 10.0
EVENTS_STORED = 2500  # of a case, the first ones
FACTOR = {"exact": 1.0 + 1e-9, "tolerance": 1.1, "step": 2.0, "round-off": 10.0, "chaotic": 10.0}
FLOOR = 1e-9
MARGIN = 1e-9  # s: an impact that is compared may come as near to one that is not
SAME = ("equal", "no motion")
FLAGS = ("avx", "avx2", "avx512f", "fma")
LATER = {("islands", True)}
"""Settings that adapters list since, at the value that the engine had anyway."""
STATE = {"time", "pose", "twist", "position", "orientation", "velocity", "spin"}


# --- making -------------------------------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def without_later(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if (name, value) not in LATER}


def recorded(row: Json, scene: Json, motion: Motion | None) -> Json:
    """What is kept of a case."""
    found: Json = {
        "case": row["label"],
        "engine": row["engine_label"],
        "profile": row["profile"],
        "version": row["engine_version"],
        "identity": row["identity_key"][:16],
        "scene": row["scene_hash"][:16],
        "settings": digest(json.dumps(without_later(json.loads(row["settings"])), sort_keys=True).encode()),
        "outcome": row["outcome"],
        "reason": row["reason"],
        "hash": row["trajectory_hash"],
        "verdict": row["word"],
        "defects": sorted(d["metric"] for d in json.loads(row["defects"] or "[]")),
        "metrics": {
            m["metric"]: [math.nan if m["value"] is None else m["value"], m["unit"], m["noise"], m["resolution"]]
            for m in row["metrics"]
            if m["noise"] != "timing"
        },
    }
    if motion is None:
        return found
    found["parts"] = {name: digest(array.tobytes()) for name, array in motion.items()}
    found |= {"duration": scene["duration"], "scale": scale_of(scene, motion)}
    if row["engine"] == "reference":
        time, pose = half_of(motion, scene["duration"] / 2.0, row["dt"])
        found |= {"half": [time, pose.tolist()], "events": events_of(motion), "until": None, "perturbed": 0.0}
    return found


def perturb(database: Path, folder: Path) -> None:
    """Writes the scenes that `reference` completed: upright run FOLDER/*.json --engine reference --db PERTURBED."""
    for row, scene, _ in cases_of(database):
        if row["engine"] == "reference" and row["outcome"] == "completed":
            for i, change in enumerate(CHANGES):
                changed = scene | {"gravity": times(scene["gravity"], 1.0 + change)}
                changed["bodies"] = [
                    body | {name: times(body[name], 1.0 + change) for name in ("velocity", "spin")}
                    for body in scene["bodies"]
                ]
                (folder / f"{row['scene_hash'][:16]}-{i}.json").write_text(json.dumps(changed))


def times(value: Any, factor: float) -> Any:
    return [times(v, factor) for v in value] if isinstance(value, list) else value * factor


def sensitivity(cases: list[Json], databases: list[Path]) -> None:
    """Into the cases: what the change of last bits does to each."""
    ours = {case["scene"]: case for case in cases if "half" in case}
    every = {scene: case["events"] for scene, case in ours.items()}
    done: set[str] = set()
    for row, _, motion in (each for database in databases for each in cases_of(database)):
        scene = row["scenario"].split("-")[0]
        if motion is None:
            continue
        case = ours[scene]
        done.add(row["scenario"].split(".")[0])
        time, pose = half_of(motion, case["half"][0], row["dt"])
        moved = (
            apart(np.array(case["half"][1]), pose, case["scale"]) if abs(time - case["half"][0]) < FLOOR else math.inf
        )
        case["perturbed"] = max(case["perturbed"], moved)
        wild = [time for time, by in shifts(every[scene], events_of(motion), math.inf, 0.0) if TIMES * by > EVENT]
        case["until"] = min([*wild, *filter(None, [case["until"]])], default=None)
    if lacking := [f"{scene}-{i}" for scene in ours for i in range(len(CHANGES)) if f"{scene}-{i}" not in done]:
        raise SystemExit(f"no motion of {', '.join(lacking[:8])}; {len(lacking)} perturbed scenes are not completed")
    for case in ours.values():
        case["events"] = [e for e in case["events"] if case["until"] is None or e[0] < case["until"]]
        if len(case["events"]) > EVENTS_STORED:
            case["until"], case["events"] = case["events"][EVENTS_STORED][0], case["events"][:EVENTS_STORED]


def contactsim() -> dict[str, str]:
    """Recorded run -> digest of our states after every step and of the counts; it alone needs the engine's modules."""
    from reference_engine.contactsim.engine import ContactSim
    from reference_engine.errors import ContactForceError, UnresolvedContact
    from tests.reference_engine.contactsim.recorded import settings_of, world_of
    from validation.running.kernel_cache import use_kernel_cache

    use_kernel_cache()
    found = {}
    for path in sorted(CONTACTSIM_RUNS.glob("*.json")):
        run = json.loads(path.read_text())
        setup, meta = run["setup"], run.get("meta") or {}
        sim = ContactSim(world_of(setup, meta.get("engine_test", "")), settings_of(setup), start=setup["start_time"])
        end = (run.get("final") or {}).get("t", (meta.get("engine_expected") or {}).get("run_until"))
        states = hashlib.sha256()
        try:
            while sim.time < end - setup["time_step"] / 2.0:
                sim.advance(setup["time_step"])
                states.update(np.ascontiguousarray([sim.pose, sim.twist], "<f8").tobytes())
        except (ContactForceError, UnresolvedContact) as reason:
            states.update(type(reason).__name__.encode())
        counts = " ".join(f"{name} {getattr(sim.totals, name)}" for name in sorted(run.get("totals") or {}))
        found[path.stem] = f"{states.hexdigest()[:32]} {counts}"
        print(f"  {path.stem:64}{found[path.stem]}", flush=True)
    return found


def machine() -> Json:
    """What the bits may depend on."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    model = re.search(r"^model name\s*:(.*)$", text, re.MULTILINE)
    return {
        "processor": model[1].strip() if model else platform.processor(),
        "flags": [flag for flag in FLAGS if flags and flag in flags[1].split()],
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{sys.platform}-{platform.machine()}",
    }


def make(database: Path, out: Path, near: list[Path], seeded: Path | None) -> None:
    """Writes the recording; the machine is taken to be the one that made the database."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        columns = 'id, "commit", dirty, python, packages'
        _, commit, dirty, python, packages = connection.execute(
            f"select {columns} from runs order by id desc limit 1"
        ).fetchone()
    if dirty or python != platform.python_version():
        raise SystemExit(f"{database}: made from changed files, or by another Python ({python}); nothing was written")
    cases = [recorded(*each) for each in cases_of(database)]
    if near:
        sensitivity(cases, near)
    data = {"format": 1, "commit": commit, "machine": machine(), "packages": json.loads(packages), "cases": cases}
    data |= {"contactsim": contactsim(), "seeded": json.loads(seeded.read_text()) if seeded else None}
    out.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0))
    print(f"{len(cases)} cases, {len(data['contactsim'])} ContactSim runs in {out}, {out.stat().st_size} bytes")


def read(path: Path) -> Json:
    data: Json = json.loads(gzip.decompress(path.read_bytes()))
    if data["format"] != 1:
        raise SystemExit(f"{path}: format {data['format']}; this reads 1")
    return data


# --- comparing ----------------------------------------------------------------------------------------------------


def compare(record: Json, database: Path, reasons: list[Json]) -> int:
    """Prints what differs and returns the number of misses."""
    here, there = machine(), record["machine"]
    print(f"recorded of {record['commit'][:7]} on {described(there)}\ncompared on {described(here)}")
    elsewhere = "another processor or library" if here != there else ""
    waiting = {(case["engine"], case["case"], case["profile"]): case for case in record["cases"]}
    counts, causes = Counter[str](), Counter[str]()
    errors: list[list[float]] = []
    used: set[int] = set()
    missed = 0
    for row, scene, motion in cases_of(database):
        now = recorded(row, scene, motion)
        was = waiting.pop((now["engine"], now["case"], now["profile"]), None)
        if was is None:
            counts["not recorded"] += 1
            continue
        kind = kind_of(was, now)
        counts[kind] += 1
        names = ["outcome", "verdict", "defects", "settings"]
        alike = here["platform"] == there["platform"] and ("-" in now["identity"]) == ("-" in was["identity"])
        names += ["identity"] if alike else []  # "2-...": the second way of making one (records/case.py)
        misses = [f"{name} {now[name]}, was {was[name]}" for name in names if now[name] != was[name]]
        words = [f"reason {now['reason']!r}, was {was['reason']!r}"] if now["reason"] != was["reason"] else []
        why = elsewhere
        if kind not in SAME:
            if now["version"] != was["version"] and now["engine"] != "reference":
                why = f"version {now['version']}, was {was['version']}"
            for i, given in enumerate(reasons):
                of = {"engine": now["engine"], "case": now["case"], "kind": kind}
                if all(fnmatch.fnmatchcase(of[name], given.get(name, "*")) for name in of):
                    why = given["reason"]
                    used.add(i)
            misses += [] if why else ["no reason in recorded/moved.json"]
            words += figures(was, now, motion, row["dt"], kind, misses, errors)
            causes[why] += 1
        missed += bool(misses)
        if words or misses:
            mark, because = "MISS" if misses else "", f" ({why})" if why else ""
            print(f"{mark:5}{now['engine']:10}{now['case']:44} {kind}: {', '.join(words)}{because}")
            print("".join(f"       - {miss}\n" for miss in misses), end="")
    for engine, case, _ in waiting:
        print(f"MISS {engine:10}{case:44}not in the database")
    missed += len(waiting)
    for i, given in enumerate(reasons):
        if i not in used:
            print(f"no case needs this any more: {given['engine']} {given['case']}, {given['reason']}")
    for why, count in causes.most_common():
        print(f"{count} cases have other bits: {why or 'no reason given'}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + f"; {missed} miss")
    if errors:
        before, after = (float(np.median(side)) for side in zip(*errors))
        larger = after > 1.001 * before
        missed += larger
        print(f"{'MISS' if larger else ''!s:5}median error against truth of those: {after:.4g}, was {before:.4g}")
    return missed


def described(one: Json) -> str:
    return f"{one['processor']} ({' '.join(one['flags'])}), {one['libc']}, Python {one['python']}, numpy {one['numpy']}"


def kind_of(was: Json, now: Json) -> str:
    a, b = was.get("parts"), now.get("parts")
    if a is None or b is None:
        return SAME[1] if a == b and was["scene"] == now["scene"] else "other scene" if a == b else "a motion or none"
    names = {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)}
    if names & STATE:
        return "moved"
    if was["hash"] != now["hash"]:
        return "other hash"
    if names:
        return "other contacts"
    same = repr(was["metrics"]) == repr(now["metrics"]) and was["scene"] == now["scene"]
    return SAME[0] if same else "measured"


def figures(
    was: Json, now: Json, motion: Motion | None, dt: float, kind: str, misses: list[str], errors: list[list[float]]
) -> list[str]:
    """How far a case moved, in words; what is beyond its limit goes to the misses, errors against truth to theirs."""
    if motion is None or "parts" not in was:
        return []
    words = []
    wild = False
    if "half" in was:
        wild = was["until"] is not None or TIMES * was["perturbed"] > POSE
        until = math.inf if was["until"] is None else was["until"]
        time, pose = half_of(motion, was["half"][0], dt)
        by = apart(np.array(was["half"][1]), pose, was["scale"]) if abs(time - was["half"][0]) < FLOOR else math.inf
        late = max((shift for _, shift in shifts(was["events"], now["events"], until, MARGIN)), default=0.0)
        words += [f"pose {by:.1e}", f"impacts {late:.1e} s"] if kind == "moved" else []
        for what, value, limit in (("pose", by, max(POSE, TIMES * was["perturbed"])), ("impacts", late, EVENT)):
            misses += [] if value <= limit else [f"{what}: {value:.2g}, allowed {limit:.2g}"]
    worst, changed = 0.0, 0
    for name in was["metrics"].keys() | now["metrics"].keys():
        if name not in was["metrics"] or name not in now["metrics"]:
            (misses if name in was["metrics"] else words).append(
                f"{name}: only {'then' if name in was['metrics'] else 'now'}"
            )
            continue
        old, unit, noise, resolution = was["metrics"][name]
        new = now["metrics"][name][0]
        changed += repr(old) != repr(new)
        if repr(old) == repr(new) or (noise == "chaotic" and kind == "moved" and (wild or "half" not in was)):
            continue
        floor = resolution or FLOOR
        if "half" in was or kind != "moved":
            floor = max(1e-6 * floor, FLOOR if kind == "moved" else 0.0)
        allowed = within(FACTOR[noise] if kind == "moved" else 1.0 + 1e-9, floor, old, new)
        if "half" in was and name.startswith("truth_error"):
            least = POSE * {"m": was["scale"], "s": was["duration"]}.get(unit, 1.0)
            before, after = (math.inf if math.isnan(error) else max(1.0, abs(error) / least) for error in (old, new))
            errors.append([before, after])
            allowed = after <= TRUTH * before
            worst = max(worst, after / before)
        misses += [] if allowed else [f"{name}: {new:.6g}, was {old:.6g} {unit} ({noise})"]
    words += [f"errors times {worst:.3g}"] if worst else []
    return [*words, f"{changed} of {len(was['metrics'])} metrics differ"] if kind == "moved" else []


def within(factor: float, floor: float, old: float, new: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    return abs(new - old) <= floor or (old * new >= 0.0 and abs(new) <= factor * abs(old) <= factor**2 * abs(new))


def compare_rows(what: str, was: Json, now: Json) -> int:
    """Prints the rows that differ and returns their number."""
    differ = [name for name in [*was, *(name for name in now if name not in was)] if was.get(name) != now.get(name)]
    for name in differ:
        print(f"MISS {what} {name}: {now.get(name, 'is not there')}, was {was.get(name, 'not there')}")
    print(f"{what}: {len(was) - len(set(differ) & set(was))} of {len(was)} as recorded")
    return len(differ)


def seeded_rows(data: Json) -> Json:
    """Row -> what has to be the same: first divergence by sample and body, verdict, metrics; and the pairs."""
    rows = {}
    for row in data["rows"]:
        first = row["first"] or {}
        rows[f"{row['engine']}, {row['case']}, {row['planted']}"] = {
            "sample": first.get("sample"), "body": first.get("body"), "wrong": row["wrong"],
            "verdict": row["verdict"], "metrics": row["metrics"],
        }  # fmt: skip
    return rows | {"pairs": {"pairs": data["pairs"], "flags": data["flags"]}}


def main(arguments: list[str]) -> int:
    words = argparse.ArgumentParser()
    commands = words.add_subparsers(dest="command", required=True)
    for name, *paths in (("perturb", "db", "folder"), ("make", "db", "out"), ("compare", "db", "record")):
        command = commands.add_parser(name)
        for path in paths:
            command.add_argument(path, type=Path, nargs="?" if name == "compare" else None)
    commands.choices["make"].add_argument("--perturbed", type=Path, nargs="+", default=[])
    for name in ("make", "compare"):
        commands.choices[name].add_argument("--seeded", type=Path)
    commands.choices["compare"].add_argument("--contactsim", action="store_true")
    commands.choices["compare"].add_argument("--reasons", type=Path, default=REASONS)
    given = words.parse_args(arguments)
    if given.command == "perturb":
        perturb(given.db, given.folder)
    elif given.command == "make":
        make(given.db, given.out, given.perturbed, given.seeded)
    else:
        record = read(given.record or RECORD)
        missed = compare(record, given.db, json.loads(given.reasons.read_text())) if given.db else 0
        if given.contactsim:
            missed += compare_rows("ContactSim", record["contactsim"], contactsim())
        if given.seeded:
            missed += compare_rows(
                "seeded", seeded_rows(record["seeded"]), seeded_rows(json.loads(given.seeded.read_text()))
            )
        return int(missed > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
