"""Fuzzing, bisection and the conformance test of engines."""
