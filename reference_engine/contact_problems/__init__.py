"""Complementarity problems 0 <= f  perp  A f + b >= 0 with bilateral rows: contact forces, impulses, joints."""
