"""Results that are not computed twice: of a released engine, by all that decides them, in the cache folder.

The key is the scene, the wheel's version and the packages beside it, the settings, the processor and a digest of our
own sources that build, record and measure. A user's engine that is installed here may change without a new version, so
of these only those in environments are kept. What a time or memory limit ended is run again: another day it may not be.
"""

import hashlib
import importlib.metadata
import json
import os
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from validation.engines import OURS
from validation.judging.ensembles import Ensemble
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.outcome import outcome_of
from validation.records.trajectory import from_bytes, to_bytes
from validation.running.ensembles import Starts, run_ensembles
from validation.running.environments import HOME, Environment
from validation.running.kernel_cache import UNUSED_AFTER, cache_root
from validation.running.options import Progress
from validation.running.processes.frames import Reader, pack
from validation.running.processes.pool import Pool
from validation.running.runner import Limits, Plan, execute, name_of

SOURCES = ("reference_engine", "scenarios", "validation/engines", "validation/metrics", "validation/records")
ENSEMBLE = TypeAdapter(Ensemble)
STORED = ("completed", "not_finite", "crashed", "adapter_failed")


class KnownResults:
    """Those of these environments, by the word of their engine."""

    def __init__(self, environments: Mapping[str, Environment]) -> None:
        self.environments = environments
        self._own = uuid4().hex
        self.folder = cache_root() / "results"
        self.folder.mkdir(parents=True, exist_ok=True)
        _forget_unused(self.folder)

    def results_of(
        self, pool: Pool, plans: Sequence[Plan], limits: Limits, progress: Progress, title: str
    ) -> list[Result]:
        """As `runner.results_of`; each is kept as soon as it is there."""
        found: dict[str, Result] = {}
        owed: dict[str, Plan] = {}
        for plan in plans:
            key = self._key(plan)
            if key not in owed and (known := self._read(key, plan)) is not None:
                found[key] = known
            elif key not in found:
                owed.setdefault(key, plan)
        keys = {id(plan.case): key for key, plan in owed.items()}
        with progress.bar(title, len(owed)) as bar:

            def on_result(result: Result) -> None:
                found[keys[id(result.case)]] = result
                self._save(keys[id(result.case)], result)
                bar.advance(name_of(result.case))

            execute(pool, list(owed.values()), limits, on_result)
        return [found[self._key(plan)] for plan in plans]

    def ensembles_of(
        self, pool: Pool, plans: Sequence[Plan], starts: Starts, limits: Limits, progress: Progress
    ) -> list[Ensemble]:
        keys = [f"{self._key(plan)}-{starts.count}-{starts.seed}" for plan in plans]
        found = {key: ensemble for key in keys if (ensemble := self._read_ensemble(key)) is not None}
        owed = {key: plan for key, plan in zip(keys, plans) if key not in found}
        made = run_ensembles(pool, [(plan, starts) for plan in owed.values()], limits, progress) if owed else ()
        for key, ensemble in zip(owed, made):
            found[key] = ensemble
            self._write(key, pack(asdict(ensemble)))
        return [found[key] for key in keys]

    # --- keys and files ---

    def _is_stored(self, plan: Plan) -> bool:
        return plan.word in self.environments or plan.case.identity.engine in OURS

    def _key(self, plan: Plan) -> str:
        case, environment = plan.case, self.environments.get(plan.word)
        decides = {
            "scenario": [case.identity.scenario, case.parameters, case.scene_hash, case.identity.dt],
            "engine": [case.identity.engine, case.engine_version, sorted(case.settings.items())],
            "packages": sorted(environment.packages.items()) if environment else [],
            "here": [case.processor, sys.version, importlib.metadata.version("numpy"), sources_digest()],
            "refused": [plan.declined, plan.unavailable],
            "of": "" if self._is_stored(plan) else self._own,  # not to be found again by another command
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _write(self, key: str, data: bytes) -> None:
        """Whole or not at all; a cache that cannot be written costs time only."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            half = path.with_name(f"{path.name}.{os.getpid()}")
            half.write_bytes(zlib.compress(data, 1))
            half.replace(path)

    def _message(self, key: str) -> tuple[dict[str, Any], bytes] | None:
        path = self._path(key)
        try:
            [message] = Reader().feed(zlib.decompress(path.read_bytes()))
            path.touch()
        except (OSError, zlib.error, ValueError):  # not there, or half of it
            return None
        return message

    def _save(self, key: str, result: Result) -> None:
        if result.outcome not in STORED:
            return
        names = ("outcome", "reason", "trajectory_hash", "wall_time", "peak_memory", "step_count", "stepping_time")
        header = {name: getattr(result, name) for name in names}
        header["measurements"] = [asdict(m) for m in result.measurements]
        header["outcomes"] = None if result.outcomes is None else [asdict(one) for one in result.outcomes]
        motion = b"" if result.trajectory is None else result.encoded or to_bytes(result.trajectory)
        self._write(key, pack(header, motion))

    def _read(self, key: str, plan: Plan) -> Result | None:
        if (message := self._message(key)) is None:
            return None
        header, motion = message
        happened = header.pop("outcomes")
        return Result(
            case=plan.case,
            headline=plan.scenario.headline,
            measurements=tuple(Measurement(**row) for row in header.pop("measurements")),
            outcomes=None if happened is None else tuple(map(outcome_of, happened)),
            trajectory=from_bytes(motion) if motion else None,
            encoded=motion,
            **header,
        )

    def _read_ensemble(self, key: str) -> Ensemble | None:
        message = self._message(key)
        return ENSEMBLE.validate_python(message[0]) if message else None


@cache
def sources_digest() -> str:
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in sorted((HOME / source).rglob("*.py")):
            digest.update(f"{file.relative_to(HOME)}".encode() + file.read_bytes())
    return digest.hexdigest()


def _forget_unused(folder: Path) -> None:
    for file in folder.glob("*/*"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > UNUSED_AFTER:
                file.unlink()
