"""The path by which adapters of others import what `validation.records.trajectory` has."""

from validation.records.trajectory import (
    Contacts,
    Impacts,
    PlanarTrajectory,
    SpatialTrajectory,
    Trajectory,
    TrajectoryError,
    from_bytes,
    to_bytes,
)

__all__ = [
    "Contacts",
    "Impacts",
    "PlanarTrajectory",
    "SpatialTrajectory",
    "Trajectory",
    "TrajectoryError",
    "from_bytes",
    "to_bytes",
]
