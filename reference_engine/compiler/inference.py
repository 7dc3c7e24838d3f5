"""Types of what kernels are made of, found once.

numba asks each of the twenty ways that it knows to add two things, for every sum in every kernel, and again whenever a
type near it becomes known: a quarter of the time of a compilation. What numbers, arrays and tuples of those make of an
operator or a function does not change, and is kept here.
"""

import operator
from typing import Any

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference

from reference_engine.compiler.lowering import ARITHMETIC, COMPARISONS

PLAIN = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.NoneType)
OPERATORS = {*ARITHMETIC, *COMPARISONS, operator.getitem}
KNOWN: dict[Any, Any] = {}


class RememberedCalls:
    """numba's typing context, except that a signature once found is not looked for again."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, named: Any) -> Any:
        operation = getattr(function, "typing_key", function)  # numba hands on `getitem` as it is, and the others typed
        known = isinstance(function, types.Function) or function is operator.getitem
        if named or not known or not all(map(is_plain, arguments)):
            return self._context.resolve_function_type(function, arguments, named)
        if operation in OPERATORS and isinstance(arguments[0], types.Number | types.Array):
            arguments = map(types.unliteral, arguments)  # which of these knows no literal
        key = function, tuple(arguments)
        if key not in KNOWN:
            KNOWN[key] = self._context.resolve_function_type(*key, named)
        return KNOWN[key]

    def resolve_setitem(self, *given: Any) -> Any:
        arguments = tuple(map(types.unliteral, given))
        key = "set", arguments
        if key not in KNOWN:
            KNOWN[key] = self._context.resolve_setitem(*arguments)
        return KNOWN[key]


def is_plain(kind: Any) -> bool:
    return isinstance(kind, PLAIN) and kind.is_precise()


@register_pass(mutates_CFG=False, analysis_only=False)
class TypesRemembered(NopythonTypeInference):
    _name = "types_remembered"

    def run_pass(self, state: Any) -> bool:
        context = state.typingctx
        state.typingctx = RememberedCalls(context)
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = context
