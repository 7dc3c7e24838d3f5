"""What makes two cases the same over time, and what does not: processors, parameters at their defaults."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from scenarios.scenario import Family, Scenario
from scenarios.scene import content_hash, parse_scene, same_scene
from tests.validation.metrics.motions import scenario
from tests.validation.store.made import case, info, result, scene
from validation.records.case import Identity
from validation.running.processes.processor import processor
from validation.store import Store

KNOWN: dict[str, Any] = {"engine": "pymunk", "profile": "fair", "dt": 1.0 / 240.0, "platform": "linux-x86_64"}


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (
            {"scenario": "stack", "given": "{}"},
            "2-59a276875d032ab832599b3ae1f1ff81c8c52c8d832c8a189c7369541463d71b",
        ),
        (
            {"scenario": "stack", "given": '{"n": 5}'},
            "2-7759fe826d5c9d1fa4e972559b9462cae241cdae0500dabfa783995833b8c344",
        ),
        (
            {"scenario": "pile", "given": '{"shape": "ball"}', "profile": "default", "alias": "mine"},
            "2-bba3e587638123cd6bfd74b3d4788bd00726442d4d43b9609672b0fcec583bee",
        ),
    ],
)
def test_the_keys_that_baselines_hang_on_never_change(given: dict[str, Any], key: str) -> None:
    assert Identity(**KNOWN | given).key == key


def test_a_family_that_gains_a_parameter_keeps_its_cases() -> None:
    def before(*, height: float = 1.0) -> Scenario:
        return scenario(scene())

    def after(*, height: float = 1.0, friction: float = 0.5) -> Scenario:
        return scenario(scene())

    old, new = (Family("drop", build) for build in (before, after))
    assert old.scenario().given == new.scenario().given == {}
    assert old.scenario({"height": 2.0}).given == new.scenario({"height": 2.0}).given == {"height": 2.0}
    assert new.scenario({"friction": 0.6}).given == {"friction": 0.6}


def test_scenes_are_the_same_up_to_round_off_and_the_title(store: Store) -> None:
    """The C library's sines, of which scenes are made, differ in their last digits between processors."""
    height = 2.0
    last_digit = scene(math.nextafter(height, 3.0))
    assert same_scene(scene(height), last_digit) and not same_scene(scene(height), scene(height + 1e-6))
    titled = parse_scene(scene(height).model_dump(mode="json") | {"title": "a ball"})
    assert same_scene(scene(height), titled)
    scenes = [scene(height), last_digit, scene(3.0)]
    hashes = [content_hash(one) for one in scenes]
    store.begin_run(info(), [case()], scenes)
    assert [store.scene_changed(case(scene_hash=hashes[0]), case(scene_hash=h)) for h in hashes] == [False, False, True]
    assert store.scene_changed(case(scene_hash="0"), case(scene_hash=hashes[0])), "not stored, so that nobody knows"


def test_a_result_keeps_the_processor_that_it_was_simulated_on(store: Store) -> None:
    on = replace(case(), processor="x86_64 fma libm-1")
    run = store.begin_run(info(), [on])
    store.save_results(run, [result(on)])
    assert store.results(run)[0].case.processor == "x86_64 fma libm-1"
    assert on.identity.key == case().identity.key


@pytest.mark.skipif(not processor().partition("glibc")[1], reason="a C library of another kind")
def test_what_the_c_library_is_told_not_to_use_is_noticed() -> None:
    """Though the kernel says of the processor what it said before."""
    code = "from validation.running.processes.processor import processor; print(processor())"
    here, there = (
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"GLIBC_TUNABLES": told},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for told in ("", "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F")
    )
    assert here[:-1] == there[:-1]
    assert (here[-1] != there[-1]) == ("fma" in here), "a processor without has nothing to leave out"
