"""A second computation of what we measure with, and laws to which an exact engine keeps closely.

It shares no line with `reference_engine` nor with `validation.metrics`: numpy and the scene's words alone. A fault in
either, or in an engine of ours, is where the two differ. Slower than what it checks, and made to be read.
"""
