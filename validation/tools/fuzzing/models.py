"""A model of a user's own from other starts, under other controls and loads, with other options and time steps.

What the model means is never changed: its files are as they are. Starts are its own with each coordinate moved a
little, and other rates; controls are within their ranges; loads are the probes of `upright probe`; options are those
that an engine lets be set of a model, on the side that its documents stand for; time steps are the model's or finer.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from scenarios.native import Controls, Native, Perturbation, Probe, ProbeKind
from scenarios.scene import Scene
from validation.engines import EngineChoice
from validation.running.models import GivenModel, Loading
from validation.running.options import RunError
from validation.running.planning import hello_of
from validation.running.probes import probes_of
from validation.tools.fuzzing.drawing import FACTORS, Options, others_of
from validation.tools.fuzzing.fault import Fault, Trial, fault_in
from validation.tools.fuzzing.oracles import FINER, Violation, is_of_the_step
from validation.tools.fuzzing.search import Fuzzer, Search, is_broken

BATCH = 8  # models between two looks at the clock
SIZES = (1e-6, 1e-3, 0.03)  # rad or m, by which coordinates start elsewhere
RATES = (0.1, 1.0)  # rad/s or m/s
ROWS = 4  # of controls, at most
SHARES = (1.0, 1.0, 0.5, 0.25)  # of the model's time step
LOADS: tuple[ProbeKind, ...] = ("push", "drop", "tip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """What is not as the model has it; a field at its default is."""

    perturbation: Perturbation | None = None
    rates: tuple[float, ...] = ()  # rad/s and m/s, of all degrees of freedom
    controls: Controls | None = None
    load: Probe | None = None
    share: float = 1.0  # of the time step
    options: Options = ()

    def applied(self, given: GivenModel) -> GivenModel:
        start = given.model.start
        if self.rates:
            start = start.model_copy(update={"values": {**start.values, "qvel": self.rates}})
        if self.controls is not None:
            start = start.model_copy(update={"controls": self.controls})
        changed = {"start": start, "perturbation": self.perturbation, "probe": self.load}
        name = f"{given.name}+{hashlib.sha256(repr(self).encode()).hexdigest()[:12]}"  # what is asked is known by it
        return replace(given, name=name, model=given.model.model_copy(update=changed))

    def simpler(self) -> Iterator[Mutation]:
        """With one thing less."""
        plain = Mutation()
        for one in fields(self):
            if getattr(self, one.name) != getattr(plain, one.name):
                yield replace(self, **{one.name: getattr(plain, one.name)})
        if len(self.options) > 1:
            yield from (replace(self, options=(option,)) for option in self.options)


def drawn(
    chance: random.Random, native: Native, duration: float, loads: Sequence[Probe], options: Mapping[str, Sequence[str]]
) -> Mutation:
    """Of a model that is described so; `options`: other values of each."""
    found: dict[str, Any] = {"share": chance.choice(SHARES)}
    if chance.random() < 0.7:
        found["perturbation"] = Perturbation(seed=chance.randrange(2**31), number=0, size=chance.choice(SIZES))
    if native.rates and chance.random() < 0.5:
        size = chance.choice(RATES)
        found["rates"] = tuple(size * chance.gauss(0.0, 1.0) for _ in range(native.rates))
    if native.controls and chance.random() < 0.6:
        times = sorted(round(chance.uniform(0.0, duration), 3) for _ in range(chance.randrange(1, ROWS)))
        rows = tuple(tuple(chance.uniform(*span) for span in native.controls) for _ in times)
        found["controls"] = Controls(times=tuple(times), rows=rows)
    if loads and chance.random() < 0.3:
        load = chance.choice(loads)
        found["load"] = load.model_copy(update={"size": load.size * chance.choice((1.0, *FACTORS))})
    if options and chance.random() < 0.5:
        names = chance.sample(sorted(options), k=min(len(options), chance.randrange(1, 3)))
        found["options"] = tuple(sorted((name, chance.choice(options[name])) for name in names))
    return Mutation(**found)


@dataclass(slots=True)
class ModelSearch:
    """Mutates one model, on one engine. Raises RunError where the engine does not load it."""

    fuzzer: Fuzzer
    loading: Loading
    choice: EngineChoice
    given: GivenModel

    def __post_init__(self) -> None:
        self.loading.load([self.given], [self.choice])
        scenario, why = self.loading.on(self.given, self.choice)
        if why:
            raise RunError(f"{self.given.name}: {why}")
        self._scene, native = scenario.scene, getattr(scenario.scene, "native", None)
        assert isinstance(native, Native)
        self._native = native
        hello = hello_of(self.fuzzer.pool, self.choice)
        allowed = {name: row for name, row in hello.get("table", {}).items() if name in hello.get("of_models", ())}
        free = {name: row for name, row in allowed.items() if name not in self.choice.overrides}
        self._options = {name: values for name, row in free.items() if (values := others_of(row, row["default"]))}
        self._loads = self._possible_loads()

    _scene: Scene = None  # type: ignore[assignment]
    _native: Native = None  # type: ignore[assignment]
    _options: dict[str, list[str]] = None  # type: ignore[assignment]
    _loads: tuple[Probe, ...] = ()

    def run(self, seed: int, progress: Callable[[Search], None]) -> Search:
        """Batches of mutations from consecutive seeds, one fault of each cause, until the fuzzer's time is over."""
        search = self.fuzzer.search
        with self.fuzzer.timed(seed):
            while not self.fuzzer.is_over:
                some = [self._drawn(f"{seed}/{k}") for k in range(BATCH)]
                for mutation, fault in self._faults(some, seed):
                    if self.fuzzer.is_new(fault) and self._counts(mutation, fault):
                        with self.fuzzer.shrinking(fault):
                            shrunk = self._shrunk(mutation, fault)
                        if self.fuzzer.is_new(shrunk):
                            search.faults.append(shrunk)
                seed += 1
                search.next_seed = seed
                progress(search)
        return search

    def _drawn(self, number: str) -> Mutation:
        return drawn(random.Random(number), self._native, self.given.duration, self._loads, self._options)

    def _possible_loads(self) -> tuple[Probe, ...]:
        """Those that the engine can do to it."""
        probes = probes_of(self._scene, LOADS)
        made = [Mutation(load=probe).applied(self.given) for probe in probes]
        self.loading.ask(made, self.choice)
        return tuple(probe for probe, one in zip(probes, made) if not self.loading.on_or_why(one, self.choice)[1])

    # --- judging -------------------------------------------------------------------------------------------

    def _trials(self, mutations: Sequence[Mutation], finer: int = 1) -> list[Trial | None]:
        """None of what the engine does not load so."""
        made = [mutation.applied(self.given) for mutation in mutations]
        self.loading.ask(made, self.choice)
        found: list[Trial | None] = []
        for mutation, one in zip(mutations, made):
            scenario, why = self.loading.on_or_why(one, self.choice)
            step = self._native.step * mutation.share / finer
            found.append(None if why or scenario is None else (scenario.scene, step, mutation.options))
        return found

    def _faults(self, mutations: Sequence[Mutation], seed: int, finer: int = 1) -> list[tuple[Mutation, Fault]]:
        trials = self._trials(mutations, finer)
        known = [(mutation, trial) for mutation, trial in zip(mutations, trials) if trial is not None]
        broken = self.fuzzer.judge([trial for _, trial in known])
        return [
            (mutation, fault_in(violation, trial, seed))
            for (mutation, trial), found in zip(known, broken)
            for violation in list(found.values())[:1]
        ]

    def _counts(self, mutation: Mutation, fault: Fault) -> bool:
        return self._stays(mutation, fault) and self.fuzzer.is_of_release(fault)

    def _stays(self, mutation: Mutation, fault: Fault) -> bool:
        """Whether a finer step breaks the law, too, by half as much at least."""
        if not is_of_the_step(Violation(oracle=fault.oracle, message=fault.message)):
            return True
        (trial,) = self._trials([mutation], FINER)
        return trial is not None and is_broken(fault, self.fuzzer.judge([trial])[0])

    def _shrunk(self, mutation: Mutation, fault: Fault) -> Fault:
        """With as little mutated as breaks the same law."""
        for simpler in mutation.simpler():
            for _, found in self._faults([simpler], fault.seed):
                if found.oracle == fault.oracle and self._counts(simpler, found):
                    return self._shrunk(simpler, found)
        return fault
