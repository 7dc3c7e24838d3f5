"""Hostile and malformed inputs of every command: is each a clear error, and the store as it was?

    python -P ci/benchmarks/hostile_inputs.py [--count N] [--seed N] [--kind NAME ...]

Printed is a line a kind: how many inputs, how many with a clear error (exit 2 and a line that can be printed), how many
that were taken, and what is wrong: a traceback or an internal error, no end within LIMIT, another exit status than is
documented, a message that cannot be printed or has no end, a store that is changed by a command that failed or that
reads. Ends with 1 where anything is wrong. Commands run in a child of this process, which is killed where it hangs.
"""

import hashlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "data")]
from databases_to_try import databases
from inputs_to_try import READS, Clear, Input, arguments, links, named, scene_files, surroundings
from measuring import Table, options

LIMIT = 60.0  # s for one input: machines are busy
LONGEST = 6000  # characters of a message
MOST_SHOWN = 40  # faults


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
