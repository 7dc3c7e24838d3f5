"""Running cases: plans, processes, ensembles, environments."""
