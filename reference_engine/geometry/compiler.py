"""How a kernel that only kernels call is compiled: to LLVM's intermediate code, and no further.

numba makes machine code of every function that it compiles, and optimises each together with all that it calls: a
kernel eight calls deep is optimised eight times over and then thrown away, because what runs is the copy in its
caller. Here a kernel stays intermediate code; the entry that calls it links each kernel in once, and the whole is
optimised and made machine code once. Compiling takes half the time; what comes out is the same.

numba's pipeline is meant to be exchanged (`pipeline_class`, numba manual, "Customizing the Compiler"); its code library
is not, so `tests/reference_engine/geometry/test_compiler.py` would tell of a numba in which this no longer holds.
"""

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]  # compiled, and not in its stubs
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering


class IntermediateCode(JITCodeLibrary):
    """A code library that is linked into others, and never made machine code."""

    def finalize(self) -> None:
        self._finalized = True

    def needed(self) -> list[Any]:
        """Itself and all that it calls, each once: what a caller links in."""
        return [self, *dict.fromkeys(self._linking_libraries)]


@register_pass(mutates_CFG=False, analysis_only=False)
class ToIntermediateCode(LoweringPass):
    _name = "to_intermediate_code"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = IntermediateCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class MakeKnownToCallers(LoweringPass):
    _name = "make_known_to_callers"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

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


class KernelCompiler(CompilerBase):
    """numba's pipeline, in which the last step makes intermediate code."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ToIntermediateCode, AnnotateTypes)
        passes.add_pass_after(MakeKnownToCallers, NativeLowering)
        passes.finalize()
        return [passes]
