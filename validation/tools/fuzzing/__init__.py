"""Fuzzing: random scenes (`scenarios.strategies`), laws that need no reference (`oracles`), the search for a scene that
breaks one (`search`), and the way from there to the simplest scene that does (`simpler`)."""
