"""Hostile and malformed inputs of every command: is each a clear error, and the store as it was?

    python -P ci/benchmarks/hostile_inputs.py [--count N] [--seed N] [--kind NAME ...]

Printed is a line a kind: how many inputs, how many with a clear error (exit 2 and a line that can be printed), how many
that were taken, and what is wrong: a traceback or an internal error, no end within LIMIT, another exit status than is
documented, a message that cannot be printed or has no end, a store that is changed by a command that failed or that
reads. Ends with 1 where anything is wrong. Commands run in a child of this process, which is killed where it hangs.
"""

import copy
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options

LIMIT = 60.0  # s for one input: machines are busy
LONGEST = 6000  # characters of a message
MOST_SHOWN = 40  # faults
Prepare = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Input:
    kind: str
    title: str
    words: list[str] = field(default_factory=list)
    prepare: Prepare = lambda folder: None
    call: Callable[[Path], None] | None = None  # in place of a command; raises what it may
    environment: dict[str, str] = field(default_factory=dict)


# --- values ----------------------------------------------------------------------------------------------------------

TEXTS = [
    "", " ", "-1", "0", "1", "1e400", "nan", "-inf", "9" * 30, "1_0", "0x10", "1/0", "\x1b[2J\x1b]0;t\x07", "x" * 5000,
    "a\nb", "\udc80", "\u202eabc", "☃", ".", "..", "/", "/dev/full", "/dev/null", "/dev/zero", "/no/such/x", "--", "-",
    "%s{0}{x!r}", "'; DROP TABLE runs; --", "a,b", "a:b=c", ":", "=", "@", "==", "pymunk@", "sqlite:///x/y/z.db", "~x",
    "postgresql://u:pw@localhost:1/x", "stack:n=1e9", "stack:n=nan", "stack:n=3,n=4", "stack:nn=3", "2026-13-40",
    "0001-01-01", "9999-12-31", "folder", "data.json", "\x00", "*", "[", "{}", "true", "null",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1e308, -1e308, 5e-324, -0.0, 10**30, 10**400, "", "1.0", "x" * 10**5, "\x1b[2J", "\u0000",
    "\ud800", "\u202e", [], {}, [[]], [None], {"kind": "disc"}, [1, 2, 3, 4, 5], ["a"] * 3, float("nan"),
    float("inf"), "body", 3, 2.5,
]  # fmt: skip
VALID = {
    "scenarios": "bouncing-ball",
    "engines": "pymunk",
    "reason": "why",
    "mark": "known",
    "group": "abc",
    "entry": "1",
    "scenario": "bouncing-ball",
    "old": "pymunk:iterations=2",
    "new": "pymunk",
    "good": "HEAD~1",
    "bad": "HEAD",
    "engine": "pymunk",
    "path": "out.csv",
    "shell": "bash",
    "case": "bouncing-ball",
    "run_command": "true",
}
LONG = {"minutes": ["--minutes", "0.01"], "no_browser": ["--no-browser"], "no_open": ["--no-open"]}
SERVES = ("dashboard", "play")  # a value that it takes would start a server: only what cannot be one is tried
READS = [
    ["regressions"],
    ["regressions", "--all", "--json"],
    ["ledger"],
    ["history", "bouncing-ball", "-e", "pymunk"],
    ["show", "bouncing-ball", "-e", "pymunk", "--run", "1", "--no-open", "--html", "page.html"],
    ["results", "export", "out.csv"],
    ["results", "comparisons"],
    ["results", "comparisons", "1"],
    ["finds"],
    ["finds", "1", "--scene"],
]


# --- commands and their arguments ------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[list[str], Any]]:
    """Words and click's command, of each."""
    import click

    from validation.cli import cli

    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (([name, part], command.get_command(context, part)) for part in command.list_commands(context))
        else:
            yield [name], command


def arguments(chance: random.Random) -> Iterator[Input]:
    """Every option and argument of every command with odd values, the others as they should be."""
    import click

    for words, command in commands():
        for parameter in command.params:
            tried = ["1"] if getattr(parameter, "is_flag", False) else chance.sample(TEXTS, 6)
            for value in tried:
                if words[0] in SERVES and not (parameter.name == "port" and value in ("", "-1", "nan", "9" * 30)):
                    continue
                given = [*words]
                for other in command.params:
                    odd = other is parameter
                    text = value if odd else VALID.get(other.name, "")
                    if odd and getattr(other, "is_flag", False):
                        given += [other.opts[0]]
                    elif isinstance(other, click.Argument):
                        given += [text] if odd or other.required else []
                    elif odd or other.required or other.name in ("engines", "minutes"):
                        given += LONG.get(other.name, [other.opts[0], text]) if not odd else [other.opts[0], text]
                if words[0] in ("run", "check", "ci") and parameter.name != "scenarios":
                    given.append("bouncing-ball")
                if words[0] == "compare" and parameter.name not in ("scenarios", "scene"):
                    given.append("bouncing-ball")
                if words[0] == "versions":  # none, so that nothing is installed
                    given += ["--to", "0"] if parameter.name == "first" else ["--from", "999"]
                title = f"{' '.join(words)} {parameter.opts[0] if parameter.opts else parameter.name}"
                yield Input("arguments", title, given)
    for where in (
        "postgresql://u:secret@localhost:1/x",
        "postgresql://localhost:1/x?password=secret",
        "mysql://u:secret@h/x",
    ):
        yield Input("arguments", "--db with a password", ["regressions", "--db", where])
    for words in (
        ["nonsense"],
        [""],
        ["run", "--no-such"],
        ["run", "--db"],
        ["\x1b[2J"],
        ["x" * 5000],
        ["scenarios", "--js"],
    ):
        yield Input("arguments", "of no command", words)


def named(chance: random.Random) -> Iterator[Input]:
    """Words for scenarios and engines."""
    scenarios = ["stack", "stack:n=3", "bouncing-ball:height=1", "free-tumble:space=planar"]
    engines = ["pymunk", "pymunk:iterations=5", "pymunk@fair", "box2d:velocity_iterations=5", "honest.py", "./engine"]
    for base in (*scenarios, *engines):
        for _ in range(12):
            word, at = base, chance.randrange(len(base) + 1)
            match chance.randrange(4):
                case 0:
                    word = base[:at] + chance.choice(TEXTS) + base[at:]
                case 1:
                    word = base[:at] + chance.choice(":=@,.-\\\"'\x00\x1b☃") + base[at + 1 :]
                case 2:
                    word = base + chance.choice(
                        [":", "=", "@", "==", ",", ":a=", ":a=b=c", "==1e9", "@@", ":n=" + "9" * 400]
                    )
                case 3:
                    word = base[:at] * 3
            given = [word, "-e", "pymunk"] if base in scenarios else ["bouncing-ball", "-e", word]
            yield Input("names", "of a scenario" if base in scenarios else "of an engine", ["run", *given])


def surroundings(chance: random.Random) -> Iterator[Input]:
    for name in ("UPRIGHT_DB", "UPRIGHT_USER", "UPRIGHT_DEFAULT_BRANCH", "UPRIGHT_ENGINE_PATH", "COLUMNS", "TZ"):
        for value in chance.sample([text for text in TEXTS if "\x00" not in text], 5):
            words = ["regressions"] if name != "UPRIGHT_USER" else ["accept", "--reason", "why", "bouncing-ball"]
            yield Input("environment", name, words, environment={name: value})


# --- scenes ----------------------------------------------------------------------------------------------------------


def scenes() -> list[dict[str, Any]]:
    from scenarios.catalogue import canonical_suite

    found = [json.loads(json.dumps(one.scene.model_dump(mode="json"))) for one in canonical_suite()]
    return [scene for scene in found if len(json.dumps(scene)) < 20_000]


def paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield (*path, key)
        yield from paths(value, (*path, key))


def mutated(scene: Any, chance: random.Random) -> tuple[str, Any]:
    scene = copy.deepcopy(scene)
    path = chance.choice(list(paths(scene)))
    node = scene
    for key in path[:-1]:
        node = node[key]
    last = path[-1]
    name = ".".join(map(str, path))
    match chance.randrange(5):
        case 0:
            del node[last]
            return f"{name} missing", scene
        case 1 if isinstance(node, dict):
            node[str(last) + chance.choice(["x", "\u200b", " ", "\x1b"])] = node[last]
            return f"{name} twice by another name", scene
        case 2 if isinstance(node[last], list) and node[last]:
            node[last] = node[last] * chance.choice([2, 100, 30_000])
            return f"{name} many times", scene
        case 3 if isinstance(node[last], (int, float)) and not isinstance(node[last], bool):
            node[last] *= chance.choice([-1, 1e3, 1e12, 1e300, 1e-300, 0.0])
            return f"{name} of another size", scene
    value = chance.choice(VALUES)
    node[last] = value
    return f"{name} = {value!r:.30}", scene


def scene_files(chance: random.Random) -> Iterator[Input]:
    for scene in chance.choices(scenes(), k=120):
        title, changed = mutated(scene, chance)
        yield of_file("scenes", title, json.dumps(changed).encode())
    whole = json.dumps(scenes()[0])
    wide = ", ".join(f'"k{i}": {i}' for i in range(100_000))
    files = {
        "empty": b"",
        "white space": b" \n" * 1000,
        "byte-order mark": b"\xef\xbb\xbf" + whole.encode(),
        "UTF-16": whole.encode("utf-16"),
        "binary": bytes(range(256)) * 100,
        "half": whole[: len(whole) // 2].encode(),
        "twice": (whole * 2).encode(),
        "a field twice": ('{"format": 1, ' + whole[1:]).encode(),
        "nested arrays": b"[" * 200_000,
        "nested objects": b'{"a":' * 200_000,
        "nested in a field": ('{"bodies": ' + "[" * 20_000 + "]" * 20_000 + "}").encode(),
        "100,000 fields": ("{" + wide + "}").encode(),
        "a number of 100,000 digits": b'{"format": ' + b"9" * 100_000 + b"}",
        "a text without end": b'{"title": "' + b"x" * 10**6,
        "a list": b"[1, 2]",
        "a number": b"5",
        "NaN": b"NaN",
        "a comment": b"// a scene\n" + whole.encode(),
        "not UTF-8": whole.encode()[:-1] + b'\xff"}',
        "NUL": b"\0" * 5000,
        "1,000,000 bodies": ('{"dimension": 2, "duration": 1, "bodies": [' + "{}," * 999_999 + "{}]}").encode(),
    }
    for title, data in files.items():
        yield of_file("scenes", title, data)

    def sparse(folder: Path) -> None:
        with (folder / "scene.json").open("wb") as file:
            file.truncate(100 * 2**20)

    def looped(folder: Path) -> None:
        (folder / "scene.json").symlink_to(folder / "other.json")
        (folder / "other.json").symlink_to(folder / "scene.json")

    special: dict[str, Prepare] = {
        "100 MB": sparse,
        "a pipe": lambda folder: os.mkfifo(folder / "scene.json"),
        "a folder": lambda folder: (folder / "scene.json").mkdir(),
        "links in a circle": looped,
        "a link to nothing": lambda folder: (folder / "scene.json").symlink_to("/no/such/file"),
        "a link to /dev/zero": lambda folder: (folder / "scene.json").symlink_to("/dev/zero"),
        "a link to itself as a folder": lambda folder: (folder / "scene.json").symlink_to(folder),
    }
    for title, prepare in special.items():
        for words in (["run", "scene.json", "-e", "pymunk"], ["scenarios", "scene.json"]):
            yield Input("scenes", title, words, prepare)
    for path in (
        "/dev/zero",
        "/dev/full",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/mem",
        "/",
        "scene.json/x",
        "x" * 300 + ".json",
    ):
        yield Input("scenes", path, ["run", path if path.endswith("json") else path + "/../x.json", "-e", "pymunk"])
        yield Input("scenes", path, ["run", path, "-e", "pymunk"])


def of_file(kind: str, title: str, data: bytes) -> Input:
    words = ["run", "scene.json", "-e", "pymunk", "--time-limit", "5"]
    return Input(kind, title, words, lambda folder: _ignored((folder / "scene.json").write_bytes(data)))


def _ignored(_: object) -> None:
    pass


# --- databases -------------------------------------------------------------------------------------------------------


def columns_of(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [(table, row[1], row[2]) for table in tables for row in connection.execute(f'PRAGMA table_info("{table}")')]


def truncated(chance: random.Random) -> Prepare:
    part = chance.random()

    def prepare(folder: Path) -> None:
        file = folder / "upright.db"
        os.truncate(file, int(part * file.stat().st_size))

    return prepare


def flipped(chance: random.Random) -> Prepare:
    seed, count = chance.random(), chance.choice([1, 10, 100, 2000])

    def prepare(folder: Path) -> None:
        file, own = folder / "upright.db", random.Random(seed)
        data = bytearray(file.read_bytes())
        for _ in range(count):
            data[own.randrange(len(data))] ^= 1 << own.randrange(8)
        file.write_bytes(data)

    return prepare


ODD: list[Any] = [
    "text", "", "\x1b[2J\x1b]0;t\x07", "[1", "{", "null", "[]", "5", '{"a": [' + "[" * 5000, 2**63 - 1, -(2**63), 1e308,
    float("inf"), -1, 0, b"\x00\xff\xfe", b"", "9999-99-99", "2026-01-01 00:00:00", "x" * 10**6, "\ud7ff\u202e", "nan",
]  # fmt: skip


def overwritten(chance: random.Random) -> Prepare:
    """One or a few columns with something else, in one row or in all."""
    seed = chance.random()

    def prepare(folder: Path) -> None:
        own = random.Random(seed)
        with closing(sqlite3.connect(folder / "upright.db")) as connection, connection:
            for _ in range(own.choice([1, 1, 3])):
                table, column, _type = own.choice(columns_of(connection))
                rows = "" if own.random() < 0.5 else f' WHERE rowid = (SELECT max(rowid) FROM "{table}")'
                with suppress(sqlite3.Error):
                    connection.execute(f'UPDATE "{table}" SET "{column}" = ?{rows}', [own.choice(ODD)])

    return prepare


def sql(*statements: str) -> Prepare:
    def prepare(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "upright.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return prepare


def replaced(data: bytes) -> Prepare:
    return lambda folder: _ignored((folder / "upright.db").write_bytes(data))


def foreign(folder: Path) -> None:
    (folder / "upright.db").unlink()
    sql("CREATE TABLE people (id INTEGER, name TEXT)", "INSERT INTO people VALUES (1, 'Ada')")(folder)


def linked(target: str) -> Prepare:
    def prepare(folder: Path) -> None:
        (folder / "upright.db").unlink()
        (folder / "upright.db").symlink_to(target)

    return prepare


def piped(folder: Path) -> None:
    (folder / "upright.db").unlink()
    os.mkfifo(folder / "upright.db")


TABLES = ("runs", "cases", "measurements", "trajectories", "scenes", "verdicts", "baselines", "ledger", "groups")


def databases(chance: random.Random) -> Iterator[Input]:
    made: list[tuple[str, Prepare]] = [(f"truncated {i}", truncated(chance)) for i in range(8)]
    made += [(f"bytes flipped {i}", flipped(chance)) for i in range(16)]
    made += [(f"columns overwritten {i}", overwritten(chance)) for i in range(60)]
    made += [(f"without rows of {t}", only_if(t, f'DELETE FROM "{t}"')) for t in TABLES]
    made += [(f"without the table {t}", only_if(t, f'DROP TABLE "{t}"')) for t in TABLES]
    made += [
        ("blobs cut short", sql("UPDATE trajectories SET data = substr(data, 1, length(data) / 2)")),
        ("blobs of nothing", sql("UPDATE trajectories SET data = x''")),
        ("motions of other cases", sql("UPDATE cases SET trajectory_key = 'none'")),
        ("cases of no run", sql("UPDATE cases SET run_id = 999999 WHERE run_id = 1")),
        ("runs of the future", sql("UPDATE runs SET started = '9999-12-31 23:59:59'")),
        ("a foreign database", foreign),
        ("an empty file", replaced(b"")),
        ("noise", replaced(random.Random(1).randbytes(100_000))),
        ("text", replaced(b"hello\n" * 1000)),
        ("the head of a database and noise", replaced(b"SQLite format 3\0" + random.Random(2).randbytes(8176))),
        ("/dev/null", linked("/dev/null")),
        ("/dev/zero", linked("/dev/zero")),
        ("/dev/full", linked("/dev/full")),
        ("links in a circle", linked("upright.db")),
        ("a folder", linked(".")),
        ("a pipe", piped),
    ]
    for title, prepare in made:
        for words in chance.sample(READS, 3):
            yield Input("databases", title, words, prepare)
        yield Input("dashboard's reading", title, prepare=prepare, call=read_as_dashboard)


def only_if(table: str, statement: str) -> Prepare:
    def prepare(folder: Path) -> None:
        with suppress(sqlite3.OperationalError):
            sql(statement)(folder)

    return prepare


def read_as_dashboard(folder: Path) -> None:
    """What its pages ask for, in one go. May raise StoreError."""
    from validation.store import open_store
    from validation.store.errors import StoreError

    try:
        with open_store("upright.db") as store:
            for run in store.runs():
                results = store.results(run.number)
                store.verdicts(run.number)
                store.groups(run.number)
                for result in results:
                    store.trajectory(result.trajectory_key)
    except StoreError as error:
        raise Clear(str(error)) from None


# --- links of the playground ------------------------------------------------------------------------------------------


def links(chance: random.Random) -> Iterator[Input]:
    import base64
    import zlib

    from validation.tools.playground.setup import packed, setup_of

    whole = packed(setup_of("stack:n=3", ["pymunk"], None))

    def of(data: bytes) -> str:
        return base64.urlsafe_b64encode(zlib.compress(data)).decode()

    plain = zlib.decompress(base64.urlsafe_b64decode(whole + "=" * (-len(whole) % 4)))
    texts = [
        *TEXTS,
        whole[: len(whole) // 2],
        whole * 2,
        of(b"[" * 10**6),
        of(b"[" * 10**5 + b"]" * 10**5),
        of(b"5"),
        of(b"NaN"),
    ]
    texts += [of(b" " * 2**28), of(b'{"scenario": ' + b"9" * 10**5 + b"}"), of(b"\xff"), of(plain[:-1]), of(b"")]
    for _ in range(40):
        at = chance.randrange(len(whole))
        texts.append(whole[:at] + chance.choice("AZaz09-_=+/\x00☃") + whole[at + 1 :])
        title_data = mutated(json.loads(plain), chance)[1]
        texts.append(of(json.dumps(title_data).encode()))
    for text in texts:
        yield Input("links of the playground", f"{text!r:.30}", call=lambda folder, text=text: follow(text))


def follow(text: str) -> None:
    """May raise what says what is wrong."""
    from scenarios.scenario import ParameterError
    from scenarios.scene_error import SceneError
    from validation.tools.playground.setup import SetupError, scenario_in, unpacked

    try:
        scenario_in(unpacked(text), lambda *_: None)
    except (SetupError, SceneError, ParameterError) as error:
        raise Clear(str(error)) from None


class Clear(Exception):  # noqa: N818
    """What was asked for cannot be had, in words."""


# --- one input --------------------------------------------------------------------------------------------------------


def made_store(folder: Path) -> None:
    """Runs, an acceptance, regressions, a comparison."""
    from tests.validation.command import upright

    cases = ["bouncing-ball", "stack:n=2"]
    for words in (
        ["run", *cases, "-e", "pymunk", "-e", "box2d"],
        ["accept", "--reason", "first"],
        ["check", *cases, "-e", "pymunk:iterations=1", "-e", "box2d"],
        ["check", "stack:n=2", "-e", "pymunk", "--dt", "1/60"],
        ["compare", "pymunk:iterations=1", "pymunk", "stack:n=2"],
    ):
        done = upright(*words, folder=folder)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{words}: {done.stderr}")


def contents(folder: Path) -> str:
    """A digest of the database: of its file, or of what kind of file it is. "" of an empty one, in which whoever comes
    first makes a new database."""
    file = folder / "upright.db"
    if file.is_file() and not file.stat().st_size:
        return ""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else str(file.is_symlink())


def faults(one: Input, base: Path) -> tuple[str, list[str]]:
    """Whether it was refused or taken, and what is wrong."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "folder").mkdir()
        (folder / "data.json").write_text("{}")
        shutil.copy(base / "upright.db", folder / "upright.db")
        one.prepare(folder)
        before = contents(folder)
        if one.call is not None:
            return called(one, folder)
        from tests.validation.command import upright

        try:
            done = upright(*one.words, folder=folder, **one.environment)
        except BaseException as error:
            return "taken", [f"{type(error).__name__} escapes: {traceback.format_exc()[-600:]}"]
        found = described(done.returncode, done.stdout, done.stderr)
        reading = one.words in READS or one.words[0] in ("regressions", "ledger", "history", "results", "engines")
        refused = done.returncode == 2 and not any(word in done.stderr for word in ("stored", "declined"))
        if before and contents(folder) != before and (reading or refused):
            found.append(f"the store is changed: {done.stderr.strip()[-200:]!r}")
        return "refused" if done.returncode == 2 else "taken", found


def called(one: Input, folder: Path) -> tuple[str, list[str]]:
    assert one.call is not None
    os.chdir(folder)
    before = contents(folder)
    try:
        one.call(folder)
    except Clear as error:
        changed = before and contents(folder) != before
        return "refused", described(2, "", str(error)) + (["the store is changed"] if changed else [])
    except BaseException as error:
        return "taken", [f"{type(error).__name__}: {traceback.format_exc()[-600:]}"]
    finally:
        os.chdir("/")
    return "taken", ["the store is changed"] if before and contents(folder) != before else []


def described(status: int, out: str, err: str) -> list[str]:
    """What is wrong with how a command ends."""
    found = [] if status in (0, 1, 2) else [f"exit {status}"]
    found += ["a traceback"] if "Traceback" in err or "Traceback" in out else []
    found += ["an internal error"] if "internal error" in err else []
    unprintable = {c for c in err + out if not c.isprintable() and c not in "\n\t\xa0\u2007\u202f"}
    lines = [line for line in (err + out).splitlines() if set(line) & unprintable]
    found += [f"cannot be printed: {sorted(unprintable)!r:.60} in {lines!r:.300}"] if unprintable else []
    if status == 2:
        found += [] if err.strip() else ["no word of what is wrong"]
        found += [f"{len(err)} characters of an error"] if len(err) > LONGEST else []
    found += ["a password"] if "secret" in err + out else []
    return [f"{one}: {err.strip()[-300:]!r}" for one in found]


def answering(inputs: list[Input], base: Path, pipe: Any) -> None:
    os.setpgid(0, 0)
    for index in iter(pipe.recv, None):
        pipe.send(faults(inputs[index], base))


def judged(inputs: list[Input], base: Path) -> Iterator[tuple[Input, str, list[str]]]:
    """Each in a child, which is killed where it does not answer."""
    context = multiprocessing.get_context("fork")
    process, ours = None, None
    try:
        for index, one in enumerate(inputs):
            if process is None or ours is None:
                ours, theirs = context.Pipe()
                process = context.Process(target=answering, args=(inputs, base, theirs), daemon=True)
                process.start()
                theirs.close()
            ours.send(index)
            try:
                answer = ours.recv() if ours.poll(LIMIT) else ("hangs", [f"no end within {LIMIT:g} s"])
            except EOFError:
                answer = ("dies", [f"the process ended, exit {process.exitcode}"])
            if answer[0] in ("hangs", "dies"):
                process.kill()
                process.join()
                process = None
            yield one, *answer
    finally:  # also of one that goes on where it is asked to end
        if process is not None:
            process.kill()
            process.join()


KINDS = (arguments, named, surroundings, scene_files, databases, links)


def inputs_of(seed: int, kinds: list[str], count: int) -> list[Input]:
    """Of these kinds, or of all; at most so many of each, chosen by the seed."""
    found = []
    for make in KINDS:
        chance = random.Random(f"{seed} {make.__name__}")
        some = list(make(chance))
        found += chance.sample(some, min(count, len(some)))
    return [one for one in found if not kinds or one.kind in kinds]


def main() -> None:
    asked = options(count=10_000, seed=1, kind=[""])
    inputs = inputs_of(asked.seed, [kind for kind in asked.kind if kind], asked.count)
    table = Table("kind:<24s", "inputs:>7d", "refused:>8d", "taken:>6d", "hang:>5d", "wrong:>6d")
    with tempfile.TemporaryDirectory() as made:
        made_store(Path(made))
        counts: dict[str, Counter[str]] = {one.kind: Counter() for one in inputs}
        wrong: list[str] = []
        for one, what, found in judged(inputs, Path(made)):
            counts[one.kind].update([what, "inputs", *(["wrong"] if found else [])])
            wrong += [f"{one.kind}: {one.title}: {' '.join(one.words)!r:.200}: {fault}" for fault in found]
    for kind, counted in counts.items():
        table.row(
            kind,
            counted["inputs"],
            counted["refused"],
            counted["taken"],
            counted["hangs"] + counted["dies"],
            counted["wrong"],
        )
    print(f"{len(inputs)} inputs, {len(wrong)} wrong")
    for line in wrong[:MOST_SHOWN]:
        print("  ", line)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
