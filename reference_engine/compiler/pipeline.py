"""How a kernel that only kernels call is compiled: to LLVM's intermediate code, and no further.

numba makes machine code of every function that it compiles, and optimises each together with all that it calls: a
kernel eight calls deep is optimised eight times over and then thrown away, because what runs is the copy in its
caller. Here a kernel stays intermediate code; the entry that calls it links each kernel in once, and the whole is
optimised and made machine code once. Compiling takes half the time; what comes out is the same.

numba's pipeline is meant to be exchanged (`pipeline_class`, numba manual, "Customizing the Compiler"); its code library
is not: `reference_engine/compiler/__init__.py` lists the releases of numba on which this was tested, and with others
numba's own pipeline is used.
"""

import operator
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]  # compiled, and not in its stubs
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import (
    AnnotateTypes,
    NoPythonBackend,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

from reference_engine.compiler.lowering import ARITHMETIC, COMPARISONS, LeanLowering

PLAIN = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.NoneType)
OPERATORS = {*ARITHMETIC, *COMPARISONS, operator.getitem}
KNOWN: dict[Any, Any] = {}


class RememberedCalls:
    """numba's typing context, except that a signature once found is not looked for again.

    numba asks each of the twenty ways that it knows to add two things, for every sum in every kernel, and again
    whenever a type near it becomes known: a quarter of the time of a compilation. What numbers, arrays and tuples of
    those make of an operator or a function does not change.
    """

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


def without_literals(made: Any) -> Any:
    """A kernel that is compiled once for all numbers; numba compiles one more for each literal in a call."""
    found = made.get_call_template

    def of_plain_types(args: Any, kws: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in dict(kws).items()}
        return found(tuple(types.unliteral(kind) for kind in args), named)

    made.get_call_template = of_plain_types  # the hook that numba has
    return made


def callable_as(kernel: Any, entry: Any) -> Any:
    """The entry, of which kernels that call it see the kernel: no machine code is made for them."""
    entry.get_call_template = kernel.get_call_template  # the hook that numba has
    entry.as_kernel = kernel  # where `lowering` looks for it
    return entry


class Unprepared(JITCodeLibrary):
    """numba has each function optimised by itself before all are optimised together, which does that too."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class IntermediateCode(Unprepared):
    """A code library that is linked into others, and never made machine code."""

    def finalize(self) -> None:
        self._finalized = True

    def needed(self) -> list[Any]:
        """Itself and all that it calls, each once: what a caller links in."""
        return [self, *dict.fromkeys(self._linking_libraries)]


class OptimisedOnce(Unprepared):
    """Of an entry. numba optimises a first time so that its counts of references meet; we count none (`_nrt`)."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class Lowering(LoweringPass):
    def __init__(self) -> None:  # which numba's own leaves abstract
        LoweringPass.__init__(self)


@register_pass(mutates_CFG=False, analysis_only=False)
class ToOptimisedCode(Lowering):
    _name = "to_optimised_code"

    def run_pass(self, state: Any) -> bool:
        state.library = OptimisedOnce(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class ToIntermediateCode(Lowering):
    _name = "to_intermediate_code"

    def run_pass(self, state: Any) -> bool:
        state.library = IntermediateCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class MakeKnownToCallers(Lowering):
    _name = "make_known_to_callers"

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        described = lowered.fndesc
        # Stands for the kernel where calls are looked up; it has no address, so nothing but compiled code can call it.
        key = _dynfunc.make_function(
            described.lookup_module(), described.qualname.split(".")[-1], "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, described, state.library.needed())
        state["cr"] = lowered._replace(cfunc=key)
        return True


def pipeline(name: str, *lowering: Any) -> list[Any]:
    """What numba does to a function, without what our kernels have no use for: closures, literal loops, array
    expressions, inlining before types are known."""
    passes = PassManager(name)
    for step in (
        TranslateByteCode, FixupArgs, IRProcessing, RewriteSemanticConstants, GenericRewrites, ReconstructSSA,
        TypesRemembered, PreLowerStripPhis, NoPythonSupportedFeatureValidation, AnnotateTypes,
        *lowering, NoPythonBackend,
    ):  # fmt: skip
        passes.add_pass(step, step._name)
    passes.finalize()
    return [passes]


class KernelCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return pipeline("kernel", ToIntermediateCode, LeanLowering, MakeKnownToCallers)


class EntryCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return pipeline("entry", ToOptimisedCode, LeanLowering)
