"""The loops of `dense.py`, compiled: the same bits."""

from reference_engine import dense
from reference_engine.compiler.kernels import entry

eliminate = entry(dense.eliminate)
diagonalise = entry(dense.diagonalise)
orthogonalise = entry(dense.orthogonalise)
