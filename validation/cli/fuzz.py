"""upright fuzz, upright finds"""

from __future__ import annotations

import random
import shlex
import sys
from dataclasses import astuple
from typing import TYPE_CHECKING

import click

from validation.cli.arguments import (
    NUMBER,
    Within,
    database_arguments,
    database_option,
    engine_option,
    executor_option,
    profile_option,
    who_option,
)
from validation.cli.stopping import stopped_status
from validation.running.options import AS_IT_IS

if TYPE_CHECKING:
    from validation.report.finds import JobFinds
    from validation.running.models import GivenModel
    from validation.running.options import Options
    from validation.store import Store, StoredFind


@click.command()
@engine_option
@click.option("--minutes", type=Within(0.01, 1440), default=2.0, show_default=True, help="For each engine.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=None, help="Where to begin.  [default: random]")
@click.option(
    "--from", "words", multiple=True, metavar="SCENARIO", help="Mutate this one, of the catalogue or a file, only."
)
@click.option(
    "--model", "file", metavar="MODEL", default=None,
    help="Mutate starts, controls, loads, options and time steps of this model, only.",
)  # fmt: skip
@click.option("--catalogue/--no-catalogue", default=True, help="Mutate the scenarios of the catalogue, too.")
@click.option("--corpus/--no-corpus", default=True, help="Mutate the scenes of stored finds, of all engines, too.")
@click.option(
    "--not-in",
    "other",
    metavar="ENGINE",
    default=None,
    help="Only what this other release of the engine does not break.",
)
@profile_option
@executor_option
@database_option
def command(
    engines: tuple[str, ...],
    minutes: float,
    seed: int | None,
    words: tuple[str, ...],
    file: str | None,
    catalogue: bool,
    corpus: bool,
    other: str | None,
    profile: str | None,
    executor: str,
    database: str,
) -> None:
    """Search random scenes, in the plane and in space, for those in which an engine breaks a law, and shrink them.

    The laws need no reference: nothing goes through anything, hangs in the air, blows up or moves on where friction
    stops it; a passive scene gains no energy, an isolated one keeps its momentum, contact forces stay in the friction
    cone; a simulation neither crashes nor hangs and stays finite. Some scenes are simulated again, turned, in other
    units, run again and so on: what the engine's documents promise of that is a law, too. What is found is stored with
    its seed and scene, one of each cause. Exit status 1 if something was found.

    \b
    upright fuzz --engine pymunk --minutes 2
    upright fuzz --engine my_package.MyEngine --seed 7
    upright fuzz --engine mujoco --from my_scene.json --from stack:n=5
    upright fuzz --engine mujoco --not-in mujoco==3.17.0
    upright fuzz --engine mujoco --model robot.xml
    """
    from scenarios.catalogue import canonical_suite, scenario_of
    from validation.cli.progress import Shown
    from validation.engines import default_engines, engine_of
    from validation.report.finds import also_line, find_line, grouped, render_relations, search_line
    from validation.running.models import engines_for
    from validation.running.options import LOCAL
    from validation.running.session import warm_kernels
    from validation.store import open_store
    from validation.tools.fuzzing.drawing import Given
    from validation.tools.fuzzing.finds import corpus_of, fuzz_engine, release_beside

    first = random.randrange(2**31) if seed is None else seed
    only = tuple(scenario_of(word).scene for word in words)
    suite = tuple(scenario.scene for scenario in canonical_suite()) if catalogue and not only else ()
    model = _model_of(file, words)
    choices = [engine_of(word) for word in engines] or (engines_for([model]) if model else [])
    choices = choices or [engine_of(word) for word in default_engines()]
    without = release_beside(choices, other)
    db_option, found = database_arguments(database), 0
    if executor == LOCAL:
        warm_kernels(Shown())
    with open_store(database) as store:
        store.must_be_writable()
        _warn_of_damaged(store)
        for number, choice in enumerate(choices):
            with Shown().activity(f"fuzzing {choice.label}") as notify:
                limit = 60.0 * minutes
                asked = choice.profile or profile
                given = Given(only=only, catalogue=suite, corpus=corpus_of(store, choice) if corpus else ())
                given = Given(models=True) if model else given
                search, used, finds = fuzz_engine(
                    store, choice, asked, limit, first, notify, executor, given, without, model
                )
            for find, others in grouped(finds):
                click.echo(f"{find_line(find)}.   Again: upright finds {find.number} --replay{db_option}")
                if others:
                    click.echo(f"  {also_line(others)}")
            spent = (search.tried, search.declined, search.wall, search.given_up)
            click.echo(search_line(f"{choice.label}@{used}", first, len(finds), *spent))
            if search.related:
                click.echo(render_relations({about: astuple(counts) for about, counts in search.related.items()}))
            found += len(finds)
            if search.stopped:
                rest = [word for left in choices[number:] for word in ("--engine", left.label)]
                rest += ["--minutes", f"{minutes:g}", "--seed", str(search.next_seed)]
                rest += [word for scene in words for word in ("--from", scene)]
                rest += ["--model", file] if file else []
                rest += [] if catalogue else ["--no-catalogue"]
                rest += [] if corpus else ["--no-corpus"]
                rest += ["--not-in", other] if other else []
                rest += ["--profile", profile] if profile else []
                rest += ["--executor", executor] if executor != LOCAL else []
                again = f"upright fuzz {shlex.join(rest)}{db_option}"
                click.echo(f"stopped: {found} found so far, and stored.   Go on: {again}", err=True)
                sys.exit(stopped_status())
    if found:
        click.echo(f"{found} found.   Next: upright finds{db_option}")
    sys.exit(1 if found else 0)


def _model_of(file: str | None, words: tuple[str, ...]) -> GivenModel | None:
    """Raises UsageError, SceneError, RunError."""
    from validation.running.function_files import is_function
    from validation.running.model_files import is_model
    from validation.running.models import models_of

    if file is None:
        return None
    if words:
        raise click.UsageError("--model and --from: give one; a model is mutated alone")
    if not (is_model(file) or is_function(file)):
        raise click.BadParameter(f"--model {file!r}: give the path of a .xml or .urdf file, or module:function")
    return models_of(file, AS_IT_IS)[0]


@click.command()
@click.argument("number", type=NUMBER, required=False)
@click.option("--replay", "form", flag_value="replay", help="Simulate it again, or all: is the law still broken?")
@click.option("--scene", "form", flag_value="scene", help="Print its scene as JSON.")
@click.option("--script", "form", flag_value="script", help="Print it as a Python script in the engine's own API.")
@click.option("--issue", "form", flag_value="issue", help="Print it as the text of an issue, with that script.")
@click.option(
    "--since",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[VERSION]",
    help="Which release of its engine is the first to break the law? VERSION: the oldest that is tried.",
)
@click.option("--known", default=None, metavar="REASON", help="Mark it as known: it fails no check any more.")
@click.option("--link", default="", help="With --known: address or number of the issue.")
@click.option("--not-known", is_flag=True, help="Take that back.")
@who_option
@executor_option
@database_option
def finds(
    number: int | None,
    form: str | None,
    since: str | None,
    known: str | None,
    link: str,
    not_known: bool,
    who: str,
    executor: str,
    database: str,
) -> None:
    """List what fuzzing found; of one, replay it, print its scene, hand it over, find out since when, or mark it as
    known.

    \b
    upright finds
    upright finds --replay            all of them: which are fixed?
    upright finds 3 --replay          exit status 1 if the law is still broken
    upright finds 3 --scene > find3.json  &&  upright run find3.json
    upright finds 3 --script > find3.py  &&  python find3.py    needs nothing of Upright
    upright finds 3 --issue > find3.md
    upright finds 3 --since           tries other releases, each in an environment of its own
    upright finds 3 --known "Bullet's contact margin" --link "#31"
    """
    from validation.report.finds import find_line, render_finds, replay_line
    from validation.store import open_store

    if sum((form is not None, since is not None, known is not None, not_known)) > 1:
        raise click.UsageError("--replay, --since, --known, --not-known and what prints it are asked for one at a time")
    of_one = form not in (None, "replay") or since is not None or known is not None or not_known
    if number is None and of_one:
        raise click.UsageError("of which find? Give its NUMBER, which upright finds lists")
    if known is not None and not known.strip():
        raise click.UsageError("--known: the reason is empty; say why, for whoever asks later")
    db_option = database_arguments(database)
    with open_store(database) as store:
        if known is not None or not_known:
            assert number is not None
            store.must_be_writable()
            store.mark_find(number, known=known or "", known_by=who if known else "", link=link if known else "")
            click.echo(find_line(store.find(number)))
            return
        if since is not None:
            assert number is not None
            store.must_be_writable()
            _ask_since(store, store.find(number), since, executor)
            return
        found = store.finds() if number is None else [store.find(number)]
        if number is None:
            _warn_of_damaged(store)
    if not found:
        click.echo(f"nothing found yet; search with: upright fuzz{db_option}")
    elif form is not None and form != "replay":
        _print_as(store, found[0], form, executor)
    elif form is not None:
        from validation.cli.progress import Shown
        from validation.tools.fuzzing.finds import replay_finds, store_motions

        with Shown().activity("replaying") as notify:
            replayed = replay_finds(found, executor, notify)
        if is_writable(store):
            store_motions(store, replayed)
        for one in replayed:
            click.echo(replay_line(one.find, one.simulation, one.messages))
        sys.exit(1 if any(one.violation for one in replayed) else 0)
    else:
        click.echo(render_finds(found))
        click.echo(f"Again: upright finds {found[-1].number} --replay{db_option}")


def finds_of_job(store: Store, options: Options, minutes: float) -> JobFinds:
    """Of the engines of a job: their finds simulated again, and what a search of so many minutes for each finds. The
    store knows from then on which are fixed."""
    from validation.cli.progress import Shown
    from validation.engines import default_engines, engine_of
    from validation.report.finds import JobFind, JobFinds, find_line, replay_line
    from validation.tools.fuzzing.finds import fuzz_engine, is_found_by, replay_finds, settle

    choices = [engine_of(word) for word in options.engines or default_engines()]
    _warn_of_damaged(store)
    stored = [find for find in store.finds() if any(is_found_by(find, choice) for choice in choices)]
    found: list[JobFind] = []
    if stored:
        with Shown().activity("replaying finds") as notify:
            replayed = replay_finds(stored, options.executor, notify)
        settle(store, replayed)
        for one in replayed:
            line = replay_line(one.find, one.simulation, one.messages)
            wall = one.simulation.wall_time if one.simulation else 0.0
            other = "" if one.find.oracle in one.broken else next(iter(one.broken), "")
            found.append(JobFind(find=one.find, state=one.state, line=line, oracle=other, wall_time=wall))
    stopped = False
    for choice in choices if minutes else ():
        with Shown().activity(f"fuzzing {choice.label}") as notify:
            seed = random.randrange(2**31)
            asked = choice.profile or options.profile
            search, _, new = fuzz_engine(store, choice, asked, 60.0 * minutes, seed, notify, options.executor)
        found += [JobFind(find=find, state="fails", line=find_line(find)) for find in new]
        if stopped := search.stopped:
            break
    return JobFinds(finds=tuple(found), new=len(found) - len(stored), searched=minutes > 0.0, stopped=stopped)


def _warn_of_damaged(store: Store) -> None:
    for line in store.damaged_finds():
        click.echo(line, err=True)


def _print_as(store: Store, find: StoredFind, form: str, executor: str) -> None:
    """As its scene, with the command that runs it on standard error; as a script or as an issue, which is stored, too,
    where the database can be written to."""
    if form == "scene":
        from scenarios.scene import write_scene
        from validation.report.finds import run_command

        click.echo(write_scene(find.scene))
        click.echo(f"Saved as find{find.number}.json it runs by: {run_command(find)}", err=True)
        return
    from validation.tools.fuzzing.scripts.export import export_find
    from validation.tools.fuzzing.scripts.issue import issue_of

    exported = export_find(find, executor)
    made = {"script": exported.script}
    if form == "issue":
        made |= {"issue": issue_of(exported), "lacks": ""}
    if is_writable(store):
        store.hand_over(find.number, made)
    click.echo(made[form].rstrip("\n"))


def is_writable(store: Store) -> bool:
    """One that is only read is read all the same."""
    from validation.store.errors import StoreError

    try:
        store.must_be_writable()
    except StoreError:
        return False
    return True


def _ask_since(store: Store, find: StoredFind, first: str, executor: str) -> None:
    from validation.cli.progress import Shown
    from validation.records.text import one_line
    from validation.report.finds import since_line
    from validation.tools.fuzzing.since import since_of

    found = since_of(find, first, Shown(), lambda text: click.echo(one_line(text), err=True), executor)
    store.mark_since(find.number, found.version, found.not_in)
    click.echo(since_line(store.find(find.number), found.left_out))
