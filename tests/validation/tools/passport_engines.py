"""Engines of a user whose bits depend on what they should not: each moves its scene by a millionth then."""

from __future__ import annotations

import os
from typing import Any

from validation.engines.pymunk.adapter import Pymunk

built = 0


class Engine(Pymunk):
    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        x, y = scene.gravity
        return super().build(scene.model_copy(update={"gravity": (x, y + 1e-6 * self.is_off())}), dt, settings)

    def is_off(self) -> bool:
        return False


class Remembers(Engine):
    name = "remembers"

    def is_off(self) -> bool:
        global built
        built += 1
        return built > 1


class Threaded(Engine):
    name = "threaded"

    def is_off(self) -> bool:
        return os.environ["OMP_NUM_THREADS"] == "4"


class Hashed(Engine):
    name = "hashed"

    def is_off(self) -> bool:
        return os.environ.get("PYTHONHASHSEED") == "7"


class Random(Engine):
    name = "random"

    def is_off(self) -> bool:
        return bool(os.urandom(8)[0] % 2)
