"""The catalogue: families of scenarios found by name, and the canonical suite."""
