"""Whose fault an exception is: of an adapter that comes with Upright, or of the engine that it adapts.

The innermost frame that is neither Python's own nor a library's decides. In the engine or in a user's adapter: the
engine crashed. In our adapter: an error of names, attributes, arguments or keys says that the adapter does not know
this release's interface; any other is ours unless the failing line raised it on purpose or called the engine.
"""

import ast
import dis
import linecache
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

from reference_engine.errors import DocumentedLimit
from validation import engines
from validation.records.simulation import Status

OURS = ("validation", "scenarios", "reference_engine")
LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "numba", "pydantic", "pydantic_core", "psutil"}
INTERFACE = (AttributeError, TypeError, NameError, LookupError, AssertionError, NotImplementedError)
LONGEST = 400  # characters of an exception's own words


def failure(error: BaseException, engine: str | None) -> dict[str, Any]:
    """Outcome and reason of a simulation that ends by `error`, and which kind of limit that is, if our reference engine
    documents it; `engine`: its name if its adapter is ours."""
    words = engines.in_a_line(error)[:LONGEST]
    line = _our_line(error, engine) if engine else None
    outcome: Status = "adapter_failed" if line else "crashed"
    reason = f"fault of Upright's adapter for {engine}: {words} at {line}; please report it" if line else words
    limit = {"limit": "proven" if error.proven else "given up"} if isinstance(error, DocumentedLimit) else {}
    return {"outcome": outcome, "reason": reason} | limit


def adapted(engine: Any) -> str | None:
    """The engine's name, if its adapter comes with Upright."""
    package = type(engine).__module__.split(".")
    ours = package[:2] == ["validation", "engines"] and package[2:3] != ["executable"]
    return str(engine.name) if ours else None


def _our_line(error: BaseException, engine: str) -> str | None:
    """The line of ours where it arose; None if it is the engine's."""
    cause: BaseException | None = error
    while isinstance(cause, engines.EngineNameError):  # says that the engine cannot be loaded, because of another
        cause = cause.__cause__
    found = [one for one in _trail(cause.__traceback__ if cause else None) if _root(one.tb_frame) not in LIBRARIES]
    if cause is None or not found or _root(found[-1].tb_frame) not in _ours(engine):
        return None
    last = found[-1]
    if isinstance(cause, ImportError):  # a name or a submodule that is gone; else the engine could not be loaded
        gone = isinstance(cause, ModuleNotFoundError) and "." in (cause.name or "")
        ours = gone or str(cause).startswith("cannot import name")
    elif isinstance(cause, INTERFACE):
        ours = True
    else:
        of = type(cause).__module__.partition(".")[0]
        foreign = of not in LIBRARIES and of not in _ours(engine)
        ours = not foreign and (last.tb_next is not None or not _raises_or_calls_engine(last, engine))
    name = str(last.tb_frame.f_globals["__name__"]).replace(".", "/")
    return f"{name}.py:{last.tb_lineno}" if ours else None


def _trail(last: TracebackType | None) -> Iterator[TracebackType]:
    while last is not None:
        yield last
        last = last.tb_next


def _root(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _ours(engine: str) -> tuple[str, ...]:
    """The reference engine is one of those that are tested."""
    return OURS[:2] if engine == "reference" else OURS


def _raises_or_calls_engine(last: TracebackType, engine: str) -> bool:
    """Whether the failing instruction is a `raise`, or a call of something that is not ours nor a library's: an engine
    that is compiled has no frames of its own."""
    code = last.tb_frame.f_code
    if code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]:
        return True
    line, end_line, start, end = list(code.co_positions())[last.tb_lasti // 2]
    if None in (line, end_line, start, end):
        return False
    text = [linecache.getline(code.co_filename, number) for number in range(line or 0, (end_line or 0) + 1)]
    text[-1] = text[-1].encode()[:end].decode()
    text[0] = text[0].encode()[start:].decode()
    try:
        call = ast.parse("".join(text).strip(), mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(call, ast.Call):
        return False
    known = (*LIBRARIES, *_ours(engine))
    return any(_home(value) not in known for value in _callee(call.func, last.tb_frame))


def _callee(node: ast.expr, frame: FrameType) -> Iterator[Any]:
    """What `a.b.c` goes through: a, a.b and a.b.c; nothing where it begins with anything but a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return
    missing = object()
    value = (frame.f_builtins | frame.f_globals | frame.f_locals).get(node.id, missing)
    for name in (*reversed(names), None):
        if value is missing:
            return
        yield value
        value = getattr(value, name, missing) if name else missing


def _home(value: Any) -> str:
    """The top-level package that a value belongs to."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0]
    own = getattr(value, "__self__", None)  # of a method, what it is bound to
    home = getattr(value if own is None else own, "__module__", None)
    return str(home or type(value).__module__).partition(".")[0]
