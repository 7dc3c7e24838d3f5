"""Since which release of its engine a find's law is broken: the releases up to the one that is here are halved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from validation.engines import EngineChoice, engine_of, installed_version
from validation.engines.engine import SettingError
from validation.running import kernel_cache
from validation.running.environments import command_of, environment_of, is_here
from validation.running.executors import executor_at
from validation.running.options import LOCAL, Progress, RunError
from validation.running.package_index import BuildError
from validation.running.processes.executor import Executor
from validation.running.versions import LackingError, releases_of, version_of
from validation.store import StoredFind
from validation.tools.fuzzing.comparing import Tried, broken_by
from validation.tools.fuzzing.scripts.export import shown_by
from validation.tools.fuzzing.scripts.parts import ScriptError

IsBroken = Callable[[EngineChoice], bool]
"""Whether a release breaks the law of the find. Raises LackingError where it cannot be run."""
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """Where a fault began."""

    version: str  # the oldest release that breaks the law, as do all that were tried after it
    not_in: str  # the newest before it that does not; "": every release that could be run does
    left_out: tuple[str, ...] = ()  # releases between the two, or before the former, that could not be run


def since_of(find: StoredFind, first: str, progress: Progress, notify: Notify, executor: str = LOCAL) -> Since:
    """`first`: the oldest release that is tried, "" for the oldest with a wheel for this Python.

    Raises RunError where there is one release only, or the one that is here does not break the law.
    """
    asked = engine_of(find.engine)
    choice = replace(asked, version=None)
    here = asked.version or installed_version(choice)
    if here is None:
        raise RunError(f"find {find.number}: {choice.name} comes with no distribution, so there are no releases of it")
    oldest = version_of(first) if first else None
    choices = releases_of(choice, oldest, version_of(here))
    if len(choices) < 2:
        raise RunError(f"find {find.number}: there is no other release of {choice.name} up to {here}")
    kernel_cache.use_kernel_cache()
    commands = {one.word: command_of(one) for one in choices if not is_here(one)}
    with executor_at(executor, commands) as pool:

        def is_broken(release: EngineChoice) -> bool:
            with progress.activity(f"find {find.number} on {release.label}") as doing:
                return is_broken_on(pool, find, release, doing)

        return first_broken(choices, is_broken, notify)


def is_broken_on(pool: Executor, find: StoredFind, release: EngineChoice, notify: Notify) -> bool:
    """Raises LackingError."""
    try:
        if not is_here(release):
            environment_of(release, notify)
        there = replace(find, engine=release.label)
        shown = shown_by(pool, there)
        broken = broken_by(pool, Tried.of(there), shown.simulation)
    except (BuildError, RunError, ScriptError, SettingError) as error:  # an old release may lack a setting
        raise LackingError(str(error)) from None
    finally:
        pool.stop(*(remote for remote in pool.remotes if remote.what == release.word))
    if shown.simulation.outcome == "declined":
        raise LackingError(shown.simulation.reason)
    return find.oracle in broken


def first_broken(choices: Sequence[EngineChoice], is_broken: IsBroken, notify: Notify) -> Since:
    """Of releases, the oldest first. Raises RunError where the newest does not break the law."""
    lacks: dict[int, str] = {}

    def asked(i: int) -> bool | None:
        version = choices[i].version
        try:
            found = is_broken(choices[i])
        except LackingError as error:
            lacks[i] = str(error)
            notify(f"{version}: left out, {error}")
            return None
        notify(f"{version}: {'breaks the law' if found else 'does not break the law'}")
        return found

    bad = len(choices) - 1
    if not asked(bad):
        why = lacks.get(bad, "it does not break the law any more")
        raise RunError(f"{choices[bad].label}: {why}; nothing is searched for")
    good = -1
    for i in range(bad):  # the oldest that can be run
        if (found := asked(i)) is not None:
            good, bad = (i, bad) if not found else (-1, i)
            break
    while untried := [i for i in range(good + 1, bad) if i not in lacks] if good >= 0 else []:
        middle = untried[(len(untried) - 1) // 2]
        if (found := asked(middle)) is not None:
            good, bad = (good, middle) if found else (middle, bad)
    left_out = tuple(choices[i].version or "" for i in sorted(lacks) if good < i < bad)
    return Since(
        version=choices[bad].version or "", not_in=choices[good].version or "" if good >= 0 else "", left_out=left_out
    )
