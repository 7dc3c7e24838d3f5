"""From typed code to LLVM's: what kernels are mostly made of, in few instructions.

numba's own way is general: to read an element it puts the array's seven numbers on the stack and takes two of them off
again, 30 instructions for `x[i]` and 50 for `x[i, j]`; a loop over a range is 50, a call 40. LLVM clears nearly all of
that away, but first it is made, printed, read and optimised, which was half of the time of a compilation. Here numbers,
elements of contiguous arrays, ranges by one and calls of kernels are written as they end up; all else is left to numba.
What is computed is the same, to the last bit.
"""

import operator
from functools import reduce
from typing import Any

import numpy as np
from llvmlite.ir import Constant, FunctionType, IRBuilder
from llvmlite.ir.instructions import InsertValue
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.np.arrayobj import load_item, store_item

DATA, SHAPE = 4, 5  # of an array, as numba lays it out
ARITHMETIC = {
    operator.add: ("fadd", "add"), operator.sub: ("fsub", "sub"), operator.mul: ("fmul", "mul"),
    operator.truediv: ("fdiv", ""), operator.iadd: ("fadd", "add"), operator.isub: ("fsub", "sub"),
    operator.imul: ("fmul", "mul"), operator.itruediv: ("fdiv", ""),
}  # fmt: skip
COMPARISONS = {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
NUMBERS = (types.int64, types.float64)


class Builder(IRBuilder):
    """Takes out of an aggregate what was put in, without an instruction."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        wanted = list(idx) if isinstance(idx, tuple | list) else [idx]
        made = agg
        while isinstance(made, InsertValue):
            if list(made.indices) == wanted:
                return made.value
            if made.indices[0] == wanted[0]:
                break
            made = made.aggregate
        return super().extract_value(agg, idx, name)


class KernelLower(Lower):
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.builder = Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        ends = (block.terminator for block in self.function.blocks)
        self.library.fails = any(
            end.opname == "ret" and not (isinstance(end.operands[0], Constant) and end.operands[0].constant == 0)
            for end in ends
        )

    # --- variables; no array is counted, so nothing ends where a variable does ---

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def delvar(self, name: str) -> None:
        pass

    # --- instructions ---

    def lower_inst(self, inst: Any) -> Any:
        if isinstance(inst, ir.Assign):
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
            return None
        if isinstance(inst, ir.Del):
            return None
        if isinstance(inst, ir.SetItem | ir.StaticSetItem):
            pointer = self.element(inst.target, inst.index)
            if pointer is not None:
                array = self.typeof(inst.target.name)
                value = self._cast_var(inst.value, array.dtype)
                return store_item(self.context, self.builder, array, value, pointer)
        return super().lower_inst(inst)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if isinstance(inst.value, ir.Global | ir.FreeVar) and isinstance(ty, types.Dispatcher):
            return self.context.get_constant_null(ty)  # what is called is known by its type
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        write = getattr(self, "write_" + expr.op, None)
        made = None if write is None else write(resty, expr)
        return super().lower_expr(resty, expr) if made is None else made

    def write_getitem(self, resty: Any, expr: Any) -> Any:
        pointer = self.element(expr.value, expr.index)
        return None if pointer is None else load_item(self.context, self.builder, self.typeof(expr.value.name), pointer)

    write_static_getitem = write_getitem

    def element(self, array: Any, index: Any) -> Any:
        """Its address, or None: only of contiguous arrays, by one signed number for each dimension."""
        kind = self.typeof(array.name)
        if not (isinstance(kind, types.Array) and kind.layout == "C"):
            return None
        indices = self.indices(index)
        if indices is None or len(indices) != kind.ndim:
            return None
        builder, made, checked = self.builder, self.loadvar(array.name), self.context.enable_boundscheck
        shape = builder.extract_value(made, SHAPE)
        offset = None
        for axis, number in enumerate(indices):
            size = builder.extract_value(shape, axis) if axis or checked or not is_at_least_0(number) else None
            if not is_at_least_0(number):  # from the end
                below = builder.icmp_signed("<", number, number.type(0))
                number = builder.select(below, builder.add(number, size), number)
            if checked:  # NUMBA_BOUNDSCHECK
                cgutils.do_boundscheck(self.context, builder, number, size, axis)
            offset = number if offset is None else builder.add(builder.mul(offset, size), number)
        return builder.gep(builder.extract_value(made, DATA), [offset])

    def indices(self, index: Any) -> list[Any] | None:
        if isinstance(index, ir.Var):
            kind, value = self.typeof(index.name), self.loadvar(index.name)
            if isinstance(kind, types.UniTuple | types.Tuple):
                kinds, values = kind.types, [self.builder.extract_value(value, k) for k in range(len(kind.types))]
            else:
                kinds, values = [kind], [value]
            whole = all(types.unliteral(each) == types.int64 for each in kinds)
        else:
            numbers = list(index) if isinstance(index, tuple) else [index]
            whole = all(type(number) is int for number in numbers)
            values = [Constant(cgutils.intp_t, number) for number in numbers] if whole else []
        return values if whole else None

    def write_binop(self, resty: Any, expr: Any) -> Any:
        signature, builder = self.fndesc.calltypes[expr], self.builder
        kind, power = signature.args[0], self.typeof(expr.rhs.name)
        if expr.fn is operator.pow and kind == types.float64 and isinstance(power, types.IntegerLiteral):
            return self.to_the_power(self._cast_var(expr.lhs, types.float64), power.literal_value)
        if expr.fn is operator.contains and isinstance(kind, types.UniTuple) and kind.dtype == signature.args[1]:
            return self.is_one_of(expr.lhs, self.loadvar(expr.rhs.name), kind)
        if kind not in NUMBERS or signature.args[1] != kind:
            return None
        is_float = kind == types.float64
        if expr.fn in COMPARISONS:
            a, b = (self._cast_var(each, kind) for each in (expr.lhs, expr.rhs))
            if not is_float:
                made = builder.icmp_signed(COMPARISONS[expr.fn], a, b)
            elif expr.fn is operator.ne:
                made = builder.fcmp_unordered("!=", a, b)
            else:
                made = builder.fcmp_ordered(COMPARISONS[expr.fn], a, b)
        elif expr.fn in ARITHMETIC and signature.return_type == kind:
            how = ARITHMETIC[expr.fn][0 if is_float else 1]
            a, b = (self._cast_var(each, kind) for each in (expr.lhs, expr.rhs))
            made = getattr(builder, how)(a, b, flags=() if is_float else ["nsw"])
        else:
            return None
        return self.context.cast(builder, made, signature.return_type, resty)

    write_inplace_binop = write_binop

    def to_the_power(self, base: Any, power: int) -> Any:
        """By squaring, as numba does."""
        made = None
        while power > 0:
            if power & 1:
                made = base if made is None else self.builder.fmul(made, base)
            power >>= 1
            if power:
                base = self.builder.fmul(base, base)
        return made

    def is_one_of(self, numbers: Any, number: Any, kind: Any) -> Any:
        builder, made = self.builder, self.loadvar(numbers.name)
        if kind.dtype != types.int64:
            return None
        found = [builder.icmp_signed("==", builder.extract_value(made, k), number) for k in range(len(kind))]
        return reduce(builder.or_, found)

    def write_getattr(self, resty: Any, expr: Any) -> Any:
        if expr.attr == "shape" and isinstance(self.typeof(expr.value.name), types.Array):
            return self.builder.extract_value(self.loadvar(expr.value.name), SHAPE)
        return None

    # --- ranges ---

    def write_getiter(self, resty: Any, expr: Any) -> Any:
        if resty != types.range_iter64_type:
            return None
        builder, state = self.builder, self.loadvar(expr.value.name)
        start, stop, step = (builder.extract_value(state, k) for k in range(3))
        if not (isinstance(step, Constant) and step.constant in (1, -1)):
            return None
        left = builder.sub(stop, start) if step.constant == 1 else builder.sub(start, stop)
        here, count = (cgutils.alloca_once_value(builder, value) for value in (start, left))
        return cgutils.pack_struct(builder, [here, stop, step, count])

    def write_iternext(self, resty: Any, expr: Any) -> Any:
        if self.typeof(expr.value.name) != types.range_iter64_type:
            return None
        builder, state = self.builder, self.loadvar(expr.value.name)
        here, step, count = (builder.extract_value(state, k) for k in (0, 2, 3))
        value, left = builder.load(here), builder.load(count)
        more = builder.icmp_signed(">", left, left.type(0))
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), count)  # after the last nobody asks again
        builder.store(builder.add(value, step), here)
        return cgutils.pack_struct(builder, [value, more])

    def write_pair_first(self, resty: Any, expr: Any) -> Any:
        return self.builder.extract_value(self.loadvar(expr.value.name), 0)

    def write_pair_second(self, resty: Any, expr: Any) -> Any:
        return self.builder.extract_value(self.loadvar(expr.value.name), 1)

    # --- calls ---

    def lower_call(self, resty: Any, expr: Any) -> Any:
        function, signature = self.typeof(expr.func.name), self.fndesc.calltypes[expr]
        made = None
        if isinstance(function, types.Dispatcher):
            made = self.call_kernel(function, expr, signature)
        elif isinstance(function, types.Function) and not expr.vararg and not expr.kws:
            made = self.call_known(function.typing_key, expr.args, signature.return_type)
        if made is None:
            return super().lower_call(resty, expr)
        return self.context.cast(self.builder, made, signature.return_type, resty)

    def call_known(self, function: Any, arguments: list[Any], kind: Any) -> Any:
        builder = self.builder
        if kind == types.range_state64_type:
            one, zero = (Constant(cgutils.intp_t, number) for number in (1, 0))
            given = [self._cast_var(each, types.int64) for each in arguments]
            start, stop, step = ([zero] * (len(given) == 1) + given + [one])[:3]
            return cgutils.pack_struct(builder, [start, stop, step])
        if kind not in NUMBERS or any(types.unliteral(self.typeof(each.name)) not in NUMBERS for each in arguments):
            return None
        if function in (min, max) and len(arguments) > 1:
            sign = ">" if function is max else "<"
            compare = builder.fcmp_ordered if kind == types.float64 else builder.icmp_signed
            made, *others = (self._cast_var(each, kind) for each in arguments)
            for other in others:  # as Python does, NaN or not
                made = builder.select(compare(sign, other, made), other, made)
            return made
        if function is np.sqrt and kind == types.float64:
            real = self.context.get_value_type(kind)
            symbol = cgutils.get_or_insert_function(builder.module, FunctionType(real, [real]), "llvm.sqrt.f64")
            return builder.call(symbol, [self._cast_var(each, kind) for each in arguments])
        return None

    def call_kernel(self, function: Any, expr: Any, signature: Any) -> Any:
        """What it returns; None of what is not ours. How a call ended is looked at only where it can fail."""
        dispatcher = getattr(function.dispatcher, "as_kernel", function.dispatcher)
        compiled = dispatcher.overloads.get(signature.args)
        if compiled is None or not hasattr(compiled.library, "needed"):
            return None
        context, builder, kind = self.context, self.builder, signature.return_type
        arguments = self.fold_call_args(function, signature, expr.args, expr.vararg, expr.kws)
        context.add_linking_libs(compiled.library.needed())
        if compiled.library.fails:
            made = context.call_internal(builder, compiled.fndesc, signature, arguments)
            return context.get_dummy_value() if made is None else made
        callee = context.declare_function(builder.module, compiled.fndesc)
        with builder.goto_entry_block():
            results = [builder.alloca(pointer.type.pointee) for pointer in callee.args[:2]]
        packed = self.call_conv._get_arg_packer(signature.args).as_arguments(builder, arguments)
        builder.call(callee, [*results, *packed])
        made = builder.load(results[0])
        if kind == types.boolean:
            return builder.icmp_unsigned("!=", made, made.type(0))
        return context.get_returned_value(builder, kind, made)


def is_at_least_0(number: Any) -> bool:
    return isinstance(number, Constant) and isinstance(number.constant, int) and number.constant >= 0


@register_pass(mutates_CFG=False, analysis_only=False)
class LeanLowering(BaseNativeLowering):
    _name = "lean_lowering"  # type: ignore[assignment]  # numba's own passes say so too

    @property
    def lowering_class(self) -> Any:
        return KernelLower
