"""Metrics that say nothing of a scene, by what does not happen in it."""

OF_REST = frozenset({"jitter_velocity", "jitter_position", "rest_drift", "rest_time"})
"""Nothing comes to rest."""
OF_TOUCH = frozenset(
    {"penetration_max", "penetration_mean", "penetration_final", "gap_final", "cone_violation", "impact_count"}
)
"""Nothing touches anything."""
AT_THE_END = frozenset({"gap_final", "penetration_final"})
"""Nothing touches at the end."""
