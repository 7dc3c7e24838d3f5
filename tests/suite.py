"""The canonical suite, built once a process: its truths take a second or two."""

from scenarios.catalogue import canonical_suite

SUITE = canonical_suite()
