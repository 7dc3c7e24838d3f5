"""Query sweeps: an engine is asked thousands of poses of each pair of shapes, and checked against certified bounds.

`drawing` draws shapes and poses, `sweep` asks and judges, `simpler` rounds a wrong pose, `scripts` shows it in the
engine's own API.
"""
