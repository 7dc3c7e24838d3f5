"""Results of released engines that need not be computed twice, as files in the cache folder.

A result is taken from there where all that decides it is the same: the scenario, the time step, the settings, the
engine's wheel and what was installed with it, the processor's features, and our own sources, with the packages that
they measure by. An engine whose code can change under its name, such as one that you work on, is run again, unless a
stopped comparison is resumed.
"""

import hashlib
import importlib.metadata
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from validation.engines import OURS, EngineChoice, distribution_of
from validation.judging.ensembles import Ensemble
from validation.records.case import Case, Result
from validation.records.measurement import Measurement
from validation.records.outcome import Outcome
from validation.records.trajectory import TrajectoryError, from_bytes
from validation.running.ensembles import Starts, run_ensembles
from validation.running.environments import HOME, MADE, Environment
from validation.running.kernel_cache import cache_root, temporary_folder
from validation.running.options import Progress
from validation.running.planning import Plan
from validation.running.processes.executor import Executor
from validation.running.runner import Limits, execute, name_of
from validation.running.starts import recorded_starts
from validation.store.compression import PackingError, pack, unpack

MEASURED_BY = ("numpy", "scipy", "numba")
SOURCES = (
    *(f"{folder}/**/*.py" for folder in ("reference_engine", "scenarios")),
    *(f"validation/{name}/**/*.py" for name in ("engines", "metrics", "records")),
    *(f"validation/running/{name}/**/*.py" for name in ("cluster", "processes")),
    *(f"validation/{name}.py" for name in ("judging/policy", "running/ensembles", "running/runner", "running/starts")),
)
"""What a result depends on, of ours."""
MOST = 2 * 2**30  # bytes of all files; the least recently used go first
MEASUREMENTS, OUTCOMES, ENSEMBLE = (
    TypeAdapter(tuple[Measurement, ...]),
    TypeAdapter(tuple[Outcome, ...]),
    TypeAdapter(Ensemble),
)
SCALARS = ("reason", "headline", "trajectory_hash", "wall_time", "peak_memory", "step_count", "stepping_time")


@dataclass(frozen=True, slots=True)
class Code:
    """Of an engine: what tells its code apart, and whether it is sure to do so."""

    digest: str
    released: bool


def code_of(choice: EngineChoice, environment: Environment | None) -> Code:
    """By the wheel: its environment, or the record of files of what is installed here; else by name and version."""
    if environment is not None:
        made = (environment.python.parents[1] / MADE).stat().st_mtime_ns
        return Code(f"{environment.requirement} {sorted(environment.packages.items())} {made}", True)
    name = distribution_of(choice)
    if name is None:
        return Code(choice.word, choice.kind == "registered" and choice.name in OURS)  # the sources are ours
    with suppress(importlib.metadata.PackageNotFoundError):
        found = importlib.metadata.distribution(name)
        record, origin = found.read_text("RECORD"), found.read_text("direct_url.json") or "{}"
        if "sha256=" in (record or "") and "dir_info" not in json.loads(origin):  # not of a folder that is worked on
            return Code(f"{name} {found.version} {hashlib.sha256(str(record).encode()).hexdigest()}", True)
    return Code(choice.word, False)


@cache
def our_code() -> str:
    """Digest of our sources and of what they measure by."""
    digest = hashlib.sha256(sys.version.encode())
    for name in MEASURED_BY:
        digest.update(f"{name} {importlib.metadata.version(name)}".encode())
    for file in sorted(file for source in SOURCES for file in HOME.glob(source)):
        digest.update(str(file.relative_to(HOME)).encode() + file.read_bytes())
    return digest.hexdigest()


def key_of(case: Case, code: str) -> str:
    """Digest of all that decides what a case gives, beside times; `code` is that of its engine's code."""
    what = [
        our_code(),
        code,
        case.engine_version,
        case.processor,
        case.scene_hash,
        case.identity.scenario,
        case.parameters,
        case.identity.dt,
        dict(case.settings),
    ]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


class ResultCache:
    """What was computed before. `codes` are those of the engines, by word; more may come as engines do."""

    def __init__(self, codes: Mapping[str, Code], *, resume: bool = False) -> None:
        self._codes, self._resume = codes, resume
        self._folder, self.lasting = cache_root() / "results", True
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not os.access(self._folder, os.W_OK):
                raise PermissionError(self._folder)
        except OSError:
            self._folder, self.lasting = temporary_folder(), False
        self._trim()

    def results_of(
        self,
        pool: Executor,
        plans: Sequence[Plan],
        limits: Limits,
        progress: Progress,
        title: str,
        on_result: Callable[[Result], None] = lambda result: None,
    ) -> list[Result]:
        """In the order of the plans; what is not known is run and kept. `on_result` gets each as it comes."""
        keys = dict(zip((id(plan.case) for plan in plans), self.keys_of(plans)))
        found: dict[int, Result] = {}

        def there(result: Result) -> None:
            found[id(result.case)] = replace(result, encoded=b"")
            on_result(found[id(result.case)])

        for plan in plans:
            if (known := self.result(keys[id(plan.case)], plan)) is not None:
                there(known)
        owed = [plan for plan in plans if id(plan.case) not in found]
        with progress.bar(title, len(owed)) as bar:

            def ran(result: Result) -> None:
                self.save(keys[id(result.case)], result)
                there(result)
                bar.advance(name_of(result.case))

            execute(pool, owed, limits, ran)
        return [found[id(plan.case)] for plan in plans]

    def ensembles_of(
        self,
        pool: Executor,
        plans: Sequence[Plan],
        count: int,
        limits: Limits,
        progress: Progress,
        on_ensemble: Callable[[Plan, Ensemble], None] = lambda plan, ensemble: None,
    ) -> list[Ensemble]:
        """Likewise, of so many perturbed initial states of each, or of all that are recorded."""
        counts = [recorded_starts(plan.scenario.scene) or count for plan in plans]
        keys = [f"{key}-{count}" for key, count in zip(self.keys_of(plans), counts)]
        known = [self.ensemble(key, plan) for key, plan in zip(keys, plans)]
        owed = [i for i, one in enumerate(known) if one is None]
        for plan, one in zip(plans, known):
            if one is not None:
                on_ensemble(plan, one)
        wanted = [(plans[i], Starts(count=counts[i])) for i in owed]
        for made, i in zip(run_ensembles(pool, wanted, limits, progress) if wanted else (), owed):
            known[i] = made
            self.save_ensemble(keys[i], made)
            on_ensemble(plans[i], made)
        return [one for one in known if one is not None]

    def keys_of(self, plans: Sequence[Plan]) -> list[str]:
        """One for each plan. The same case for the second time has another: it is there to be repeated."""
        seen: Counter[str] = Counter()
        keys = []
        for plan in plans:
            key = key_of(plan.case, self._codes[plan.word].digest)
            seen[key] += 1
            keys.append(f"{key}-{seen[key]}")
        return keys

    def result(self, key: str, plan: Plan) -> Result | None:
        head, body = self._read(key, plan)
        if head is None:
            return None
        with suppress(PackingError, TrajectoryError):
            encoded = unpack(body)
            return Result(
                case=plan.case,
                outcome="completed",
                measurements=MEASUREMENTS.validate_python(head["measurements"]),
                outcomes=OUTCOMES.validate_python(head["outcomes"]),
                trajectory=from_bytes(encoded),
                encoded=encoded,
                **{name: head[name] for name in SCALARS},
            )
        return None

    def save(self, key: str, result: Result) -> None:
        """One that completed and was measured; what failed is tried again."""
        if result.outcome != "completed" or not result.measurements or result.outcomes is None or not result.encoded:
            return
        head = {name: getattr(result, name) for name in SCALARS}
        head["measurements"] = [asdict(one) for one in result.measurements]
        head["outcomes"] = [asdict(one) for one in result.outcomes]
        self._write(key, head, pack(result.encoded))

    def ensemble(self, key: str, plan: Plan) -> Ensemble | None:
        head, _ = self._read(f"{key}-ensemble", plan)
        return None if head is None else ENSEMBLE.validate_python(head)

    def save_ensemble(self, key: str, ensemble: Ensemble) -> None:
        self._write(f"{key}-ensemble", asdict(ensemble), b"")

    # --- files --------------------------------------------------------------------------------------------------------

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _read(self, key: str, plan: Plan) -> tuple[dict[str, Any] | None, bytes]:
        if not (self._resume or self._codes[plan.word].released):
            return None, b""
        path = self._path(key)
        try:
            head, _, body = path.read_bytes().partition(b"\n")
            os.utime(path)  # used now
            return json.loads(head), body
        except (OSError, ValueError):  # not there, or not whole
            return None, b""

    def _write(self, key: str, head: Mapping[str, Any], body: bytes) -> None:
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(json.dumps(head).encode() + b"\n" + body)
        fresh.replace(path)  # whole or not at all

    def _trim(self) -> None:
        files = [(stat.st_mtime, stat.st_size, path) for path in self._folder.glob("*/*") for stat in [path.stat()]]
        over = sum(size for _, size, _ in files) - MOST
        for _, size, path in sorted(files):
            if over <= 0:
                break
            path.unlink(missing_ok=True)
            over -= size
