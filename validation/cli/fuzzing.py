"""The work of `upright fuzz` on one engine, with what it says on the way."""

from __future__ import annotations

import click

from scenarios.scene import PlanarScene
from validation.cli.session import warm_kernels
from validation.engines import EngineChoice, engine_of
from validation.running import kernel_cache
from validation.running.processes.pool import Pool
from validation.running.runner import engine_remotes
from validation.store import Store, StoredFind
from validation.tools.fuzz import Fault, Fuzzer, Search, simulate_again
from validation.tools.oracles import judge_scene


def fuzz_engine(
    store: Store, choice: EngineChoice, profile: str | None, seconds: float, seed: int, options: str
) -> int:
    """Search, store what was found, say what was done; how many faults there were.

    `options` follow the commands that are proposed: ` --db results.db`.
    """
    warm_kernels()
    with Pool() as pool:
        hello = engine_remotes(pool, {choice.word})[choice.word].hello or {}
        if "error" in hello:
            raise click.ClickException(f"{choice.label}: {hello['error']}")
        fuzzer = Fuzzer(pool, choice, profile, seconds)
        told = 0.0

        def tell(search: Search) -> None:
            nonlocal told
            if search.tried - told >= 1000:
                told = search.tried
                click.echo(f"  {choice.label}: {search.tried} scenes, {len(search.faults)} found", err=True)

        search = fuzzer.run(seed, tell)
    for fault in search.faults:
        number = store.add_find(
            engine=choice.label,
            engine_version=hello.get("version", "unknown"),
            profile=fuzzer.profile or "",
            seed=fault.seed,
            dt=fault.dt,
            oracle=fault.oracle,
            message=fault.message,
            scene=fault.scene,
        )
        click.echo(f"{find_line(number, choice, fault)}.   Again: upright finds {number} --replay{options}")
    rate = search.tried / search.wall if search.wall else 0.0
    click.echo(
        f"{choice.label}@{fuzzer.profile}: {search.tried} scenes in {search.wall:.0f} s ({rate:.0f} a second) "
        f"from seed {seed}, {search.declined} declined, {len(search.faults) or 'nothing'} found"
    )
    return len(search.faults)


def find_line(number: int, choice: EngineChoice, fault: Fault) -> str:
    bodies = len(fault.scene.bodies)
    return (
        f"find {number}: {choice.label}: {fault.oracle} with {bodies} {'body' if bodies == 1 else 'bodies'} at "
        f"dt = {fault.dt:.6g} s: {fault.message}"
    )


def replay_find(find: StoredFind) -> tuple[bool, str]:
    """Whether the law is still broken, and in which words."""
    assert isinstance(find.scene, PlanarScene)
    choice = engine_of(find.engine)
    kernel_cache.use_kernel_cache()
    with Pool() as pool:
        hello = engine_remotes(pool, {choice.word})[choice.word].hello or {}
        if "error" in hello:
            raise click.ClickException(f"{choice.label}: {hello['error']}")
        simulation = simulate_again(pool, choice, find.profile, find.scene, find.dt)
    if simulation.outcome == "declined":
        return False, f"find {find.number}: {choice.label} does not run it any more: {simulation.reason}"
    broken = judge_scene(find.scene, simulation)
    if not broken:
        return False, f"find {find.number}: {choice.label} breaks no law here any more (it did: {find.message})"
    oracle = find.oracle if find.oracle in broken else next(iter(broken))
    return True, f"find {find.number}: {choice.label}: {oracle}: {broken[oracle]}"
