"""Python functions as forces: how compiled code calls them, and what becomes of what they raise."""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from reference_engine.array_types import Array
from reference_engine.compiler.kernels import CONFIG
from reference_engine.errors import WorldError
from reference_engine.planar_model.world import World

NUMBERS = ctypes.POINTER(ctypes.c_double)
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, NUMBERS, NUMBERS)


class Functions:
    """Those among the forces of a world, as one function (time, state, rate_out) for `external.accelerate`.

    Compiled code cannot be left by an exception: what is raised makes all rates NaN, and is kept for `check`.
    """

    def __init__(self, world: World, mass: list[float]) -> None:
        """mass of the rows of the state, three numbers for each, as `external.Forces` has it."""
        self.forces = [force for force in world.forces if callable(force)]
        self.bodies, self.mass = len(world.bodies), np.array(mass if self.forces else [], np.float64).reshape(-1, 3)
        self.failure: Exception | None = None
        self.called = SIGNATURE(self.add) if self.forces else None

    @property
    def address(self) -> int:
        """0 where there are none."""
        return ctypes.cast(self.called, ctypes.c_void_p).value or 0 if self.called else 0

    def add(self, time: float, state: Any, rate_out: Any) -> None:
        rows = len(self.mass)
        y = np.ctypeslib.as_array(state, (2, rows, 3))
        rate = np.ctypeslib.as_array(rate_out, (2, rows, 3))[1]
        if self.failure is None:
            try:
                for force in self.forces:
                    given = force(time, y[0, : self.bodies].copy(), y[1, : self.bodies].copy())
                    rate[: self.bodies] += self.wrenches(force, given) / self.mass[: self.bodies]
                return
            except Exception as failure:  # goes on in `check`
                self.failure = failure
        rate[:] = np.nan

    def wrenches(self, force: Any, given: Any) -> Array:
        try:
            wrenches = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            raise WorldError(f"forces: {force!r} gave {given!r}, not numbers (B, 3) with B = {self.bodies}") from None
        if wrenches.shape != (self.bodies, 3) or not np.isfinite(wrenches).all():
            raise WorldError(f"forces: {force!r} gave {wrenches.shape}, not finite (B, 3) with B = {self.bodies}")
        return wrenches

    def check(self) -> None:
        """Raises what a function raised, WorldError where it gave no forces."""
        if self.failure is not None:
            raise self.failure


@intrinsic
def call_function(typing_context: Any, address: Any, time: Any, state: Any, rate_out: Any) -> Any:
    """In a kernel: the function of `SIGNATURE` at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, double = ir.IntType(8).as_pointer(), ir.DoubleType()
        called = ir.FunctionType(ir.VoidType(), [double, number, number]).as_pointer()
        data = [
            builder.bitcast(context.make_array(kind)(context, builder, value).data, number)
            for kind, value in zip(signature.args[2:], arguments[2:])
        ]
        builder.call(builder.inttoptr(arguments[0], called), [arguments[1], *data])
        return context.get_dummy_value()

    return types.none(types.int64, types.float64, state, rate_out), generate


def call_from_python(address: Any, time: Any, state: Any, rate_out: Any) -> None:
    SIGNATURE(int(address))(time, state.ctypes.data_as(NUMBERS), rate_out.ctypes.data_as(NUMBERS))


if CONFIG.DISABLE_JIT:  # kernels are Python functions
    call_function = call_from_python  # type: ignore[assignment]  # of a class of numba's
