"""Many arrays as one argument of a kernel.

numba hands a tuple of arrays to a function as all the numbers that describe them, seven for a matrix: 400 for what the
kernels of an engine share, put in place at every call and read into registers by every callee, compiled each time. A
`Structure` is handed over as the address of one table of those numbers, which a kernel reads where it needs an array.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numpy.typing import NDArray

WORD = 8  # bytes of each number in a table


@dataclass(frozen=True, eq=False)
class Structure:
    """Base of frozen dataclasses of contiguous arrays, ints, floats and other Structures.

    What compiled code sees is fixed with the first call: the arrays' elements may change, the fields never do.
    """

    @cached_property
    def _numba_type(self) -> "StructureType":
        names = [field.name for field in fields(self)]
        key = (type(self), *(outline(getattr(self, name)) for name in names))
        if key not in KNOWN:
            members = tuple((name, numba.typeof(getattr(self, name))) for name in names)
            KNOWN[key] = StructureType(type(self).__name__, members)
        return KNOWN[key]

    @cached_property
    def _table(self) -> NDArray[np.int64]:
        table: list[int] = []
        for field in fields(self):
            table += numbers(getattr(self, field.name))
        return np.array(table, np.int64)

    @cached_property
    def _address(self) -> int:
        return int(self._table.ctypes.data)


KNOWN: dict[tuple[Any, ...], "StructureType"] = {}  # numba takes 10 us to find the type of an array


def outline(value: Any) -> Any:
    """What decides the type of a field."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.c_contiguous, value.flags.writeable
    return value._numba_type if isinstance(value, Structure) else type(value)


def numbers(value: Any) -> tuple[int, ...]:
    """A field as the table has it; an array as numba lays it out: owner and parent (none), sizes, address, shape."""
    if isinstance(value, np.ndarray):
        place = value.__array_interface__["data"][0]  # a fifth of the time of `value.ctypes.data`
        return (0, 0, value.size, value.itemsize, place, *value.shape, *value.strides)
    if isinstance(value, Structure):
        return (value._address,)
    return (int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value),)


class StructureType(types.Type):
    """Of a class of Structures whose fields have these types."""

    def __init__(self, name: str, members: tuple[tuple[str, Any], ...]) -> None:
        self.members, self.offsets, offset = dict(members), {}, 0
        for member, kind in members:
            self.offsets[member] = offset
            if isinstance(kind, types.Array):
                if kind.layout != "C":
                    raise TypeError(f"{name}.{member}: the array is not contiguous")
                offset += WORD * (5 + 2 * kind.ndim)
            elif isinstance(kind, StructureType | types.Integer | types.Float) and getattr(kind, "bitwidth", 64) == 64:
                offset += WORD
            else:
                raise TypeError(f"{name}.{member}: {kind} is no array, int, float or Structure")
        super().__init__(name=f"{name}({', '.join(str(kind) for _, kind in members)})")


register_model(StructureType)(models.OpaqueModel)


@typeof_impl.register(Structure)
def type_of_structure(value: Structure, _: Any) -> StructureType:
    return value._numba_type


@unbox(StructureType)
def address_of_structure(_: StructureType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "_address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address, is_error=c.pyapi.c_api_error())


@infer_getattr
class Members(AttributeTemplate):
    key = StructureType

    def generic_resolve(self, structure: StructureType, name: str) -> Any:  # type: ignore[override]  # numba names it `typ`
        return structure.members.get(name)


@lower_getattr_generic(StructureType)
def read_member(context: Any, builder: Any, structure: StructureType, value: Any, name: str) -> Any:
    kind = context.get_value_type(structure.members[name])
    place = cgutils.pointer_add(builder, value, ir.Constant(ir.IntType(64), structure.offsets[name]))
    loaded = builder.load(builder.bitcast(place, kind.as_pointer()))
    loaded.set_metadata("tbaa", constant_memory(builder.module))
    return loaded


def constant_memory(module: Any) -> Any:
    """Says that nothing writes there while a kernel runs (last entry: 1), so what is read need not be read again."""
    root = module.add_metadata(["upright"])
    table = module.add_metadata(["table of a structure", root, ir.Constant(ir.IntType(64), 0)])
    zero = ir.Constant(ir.IntType(64), 0)
    return module.add_metadata([table, table, zero, ir.Constant(ir.IntType(64), 1)])
