"""The reference engine and our measuring have the same bits on every processor: no BLAS, none of the C library's sines.

BLAS and the C library choose their code by the processor, and numpy that of `power`. What stands for them is in
`reference_engine/dense.py` and `elementary.py`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("reference_engine", "scenarios", "validation/metrics", "validation/engines/reference")
OF_BLAS = {"dot", "inner", "vdot", "matmul", "tensordot", "solve", "inv", "pinv", "det", "eig", "eigh", "svd", "lstsq"}
OF_C = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh",
        "tanh", "exp", "expm1", "log", "log1p", "log2", "log10", "pow", "power", "float_power", "cbrt"}  # fmt: skip
MODULES = {"np", "math", "numpy"}
ALLOWED = {
    ("reference_engine/dense.py", "@"): "in a kernel that numba does not hand to BLAS: see its docstring",
}


def breaches(source: str) -> Iterator[tuple[int, str]]:
    """(line, what)"""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "@"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
            exponent = node.right if isinstance(node, ast.BinOp) else node.value
            if isinstance(exponent, ast.UnaryOp):
                exponent = exponent.operand
            if isinstance(exponent, ast.Constant) and isinstance(exponent.value, float):
                yield node.lineno, f"** {exponent.value}"
        elif isinstance(node, ast.Attribute) and node.attr in OF_BLAS | OF_C:
            owner = node.value
            if isinstance(owner, ast.Name) and owner.id in MODULES:
                yield node.lineno, f"{owner.id}.{node.attr}"
            if isinstance(owner, ast.Attribute) and owner.attr == "linalg":
                yield node.lineno, f"linalg.{node.attr}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "np.linalg.norm" and not _has_axis(node):
            yield node.lineno, "linalg.norm of a whole array"


def _has_axis(call: ast.Call) -> bool:
    return any(given.arg == "axis" for given in call.keywords)


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_computed_by_blas_or_by_the_c_library(folder):
    found = [
        f"{name}:{line}: {what}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in [path.relative_to(ROOT).as_posix()]
        for line, what in breaches(path.read_text(encoding="utf-8"))
        if (name, what) not in ALLOWED
    ]
    assert not found


@pytest.mark.parametrize(
    "line", ["a @ b", "x ** 2.5", "x ** -0.5", "np.tensordot(a, b)", "np.linalg.norm(a)", "np.linalg.solve(a, b)",
             "math.sin(x)", "np.power(x, y)"],
)  # fmt: skip
def test_each_of_them_is_seen(line):
    assert list(breaches(line))
