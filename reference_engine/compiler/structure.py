"""Many arrays as one argument of a kernel.

numba hands a tuple of arrays to a function as all the numbers that describe them, seven for a matrix: 400 for what the
kernels of an engine share, put in place at every call and read into registers by every callee, compiled each time. A
`Structure` is handed over as the address of one table of those numbers, which a kernel reads where it needs an array.
"""

from array import array
from collections.abc import Mapping, Sequence
from ctypes import addressof, c_char
from dataclasses import dataclass, field
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

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

from reference_engine.array_types import Array, Indices

WORD = 8  # bytes of each number in a table
first_byte = c_char.from_buffer
NUMBERS = (int, float, np.integer, np.floating)
PLAIN = 0x401  # of an array's flags: contiguous, writeable


@dataclass_transform(frozen_default=True, eq_default=False)
class Structure:
    """Base of frozen dataclasses of contiguous arrays, ints, floats and other Structures; who inherits it is one.

    What compiled code sees is fixed here: the arrays' elements may change, the fields never do.
    """

    if TYPE_CHECKING:  # not fields: `__post_init__` sets them
        _numba_type: "StructureType" = field(init=False)
        _table: "array[int]" = field(init=False)
        _address: int = field(init=False)
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)

    def __post_init__(self) -> None:
        table: list[float] = []
        key: list[Any] = [type(self)]  # what decides the types of the fields
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):  # as numba lays it out: owner and parent (none), sizes, address, shape
                flags, size = value.flags.num, value.size
                address = address_of(value, flags) if size else 0
                table += (0, 0, size, value.itemsize, address, *value.shape, *value.strides)
                key += (value.dtype.num, value.ndim, flags)
            elif isinstance(value, Structure):
                table.append(value._address)
                key.append(value._numba_type)
            elif isinstance(value, NUMBERS):
                table.append(value)  # type: ignore[arg-type]  # numpy's numbers are packed as Python's
                key.append(type(value))
            else:
                raise TypeError(f"{type(self).__name__}.{name}: {value!r} is no array, int, float or Structure")
        known: Any = tuple(key)
        if known not in KNOWN:
            members = tuple((name, numba.typeof(getattr(self, name))) for name in self.__dataclass_fields__)
            words = "".join("d" if isinstance(number, float) else "q" for number in table)
            KNOWN[known] = StructureType(type(self).__name__, members), Struct("=" + words)
        kind, row = KNOWN[known]
        numbers = array("q", row.pack(*table))
        self.__dict__.update(_numba_type=kind, _table=numbers, _address=numbers.buffer_info()[0])


def of_shape(*shape: int | str) -> Any:
    """A field that is an array; letters stand for sizes."""
    return field(metadata={"shape": shape})


def zeros(kind: Any, sizes: Mapping[str, int], /, **given: Any) -> Any:
    """A Structure of this kind: its arrays zero and of these sizes, but for what is given."""
    empty = {}
    for name, field_ in kind.__dataclass_fields__.items():
        if name not in given:
            shape = [size if isinstance(size, int) else sizes[size] for size in field_.metadata["shape"]]
            empty[name] = np.zeros(shape, np.int64 if field_.type == Indices else np.float64)
    return kind(**empty, **given)


def address_of(numbers: Any, flags: int) -> int:
    """Of the first element. `ctypes.data` and `__array_interface__` take ten times as long."""
    if flags & PLAIN == PLAIN:
        return addressof(first_byte(numbers))
    return int(numbers.__array_interface__["data"][0])


def in_one_block(structure: Any) -> tuple[Any, Array]:
    """(a structure of the same sizes, zeroed, with all its arrays in one block; the block, to be zeroed at once anew).

    Of arrays of float64 and int64; numbers are taken over.
    """
    block = np.zeros(words_of(structure))
    return placed(structure, block, 0)[0], block


class PackedStruct:
    """A structure of arrays in one block, all of them written at once.

    One list of numbers for each array, in the order of the fields, row after row; as long as those that it was made
    with. Writing takes a microsecond or two, making as many arrays and a structure of them thirty.
    """

    def __init__(self, kind: Any, lists: Sequence[Sequence[float]]) -> None:
        """kind: of fields `of_shape`; all rows of a matrix have the length that stands there."""
        empty, words = {}, []
        for (name, field_), numbers in zip(kind.__dataclass_fields__.items(), lists, strict=True):
            whole = field_.type == Indices
            columns = field_.metadata["shape"][1:]
            shape = (len(numbers) // columns[0], *columns) if columns else (len(numbers),)
            empty[name] = np.zeros(shape, np.int64 if whole else np.float64)
            words.append(f"{len(numbers)}{'q' if whole else 'd'}")
        self.structure, self.block = in_one_block(kind(**empty))
        self.words = Struct("=" + "".join(words))
        self.write(lists)

    def write(self, lists: Sequence[Sequence[float]]) -> None:
        self.words.pack_into(self.block.data, 0, *chain.from_iterable(lists))


def words_of(structure: Structure) -> int:
    values = [getattr(structure, name) for name in structure.__dataclass_fields__]
    arrays = sum(value.size for value in values if isinstance(value, np.ndarray))
    return arrays + sum(words_of(value) for value in values if isinstance(value, Structure))


def placed(structure: Any, block: Array, at: int) -> tuple[Any, int]:
    """(it in the block from word `at` on, where its arrays end)."""
    fields: dict[str, Any] = {}
    for name in structure.__dataclass_fields__:
        value = fields[name] = getattr(structure, name)
        if isinstance(value, np.ndarray):
            fields[name] = block[at : at + value.size].view(value.dtype).reshape(value.shape)
            at += value.size
        elif isinstance(value, Structure):
            fields[name], at = placed(value, block, at)
    return type(structure)(**fields), at


KNOWN: dict[Any, tuple["StructureType", Struct]] = {}  # numba takes 10 us to find the type of an array


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
    address = cgutils.pointer_add(builder, value, ir.Constant(ir.IntType(64), structure.offsets[name]))
    loaded = builder.load(builder.bitcast(address, kind.as_pointer()))
    loaded.set_metadata("tbaa", constant_memory(builder.module))
    return loaded


def constant_memory(module: Any) -> Any:
    """Says that nothing writes there while a kernel runs (last entry: 1), so what is read need not be read again."""
    root = module.add_metadata(["upright"])
    table = module.add_metadata(["table of a structure", root, ir.Constant(ir.IntType(64), 0)])
    zero = ir.Constant(ir.IntType(64), 0)
    return module.add_metadata([table, table, zero, ir.Constant(ir.IntType(64), 1)])
