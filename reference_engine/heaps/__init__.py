"""Ellipsoids in space: time stepping with contact and friction."""
