"""Hostile and malformed inputs: arguments and environment of every command, scene files, links of the playground."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Prepare = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Input:
    kind: str
    title: str
    words: list[str] = field(default_factory=list)
    prepare: Prepare = lambda folder: None
    call: Callable[[Path], None] | None = None  # in place of a command; raises what it may
    environment: dict[str, str] = field(default_factory=dict)


class Clear(Exception):  # noqa: N818
    """What was asked for cannot be had, in words."""


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
    return Input(kind, title, words, lambda folder: ignored((folder / "scene.json").write_bytes(data)))


def ignored(_: object) -> None:
    pass


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
