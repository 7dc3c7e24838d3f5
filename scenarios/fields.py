"""What a field of a scene may hold: numbers within their ranges, names, vectors; and `Data`, of which all is made.

SI. A number is strict: no text, no truth value, finite. The ranges keep squares and fourth powers inside the double's.
"""

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MAX_LENGTH = 1e6  # m; beyond it a double resolves no better than 1e-10 m, and no engine makes sense
MIN_SIZE = 1e-9  # m; below it squares and fourth powers leave the double's range
MAX_RATE = 1e9  # m/s, rad/s, m/s^2; far beyond any scene, and its square is finite

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Length = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_LENGTH, le=MAX_LENGTH)]
Size = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=MIN_SIZE, le=MAX_LENGTH)]
Rate = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-MAX_RATE, le=MAX_RATE)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1e12)]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e12)]
Restitution = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
Friction = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e3)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=80, pattern=r"^[\w .:+/#\-]+$")]
Vector2 = tuple[Number, Number]
Rate2 = tuple[Rate, Rate]
Rate3 = tuple[Rate, Rate, Rate]
Vector3 = tuple[Number, Number, Number]
Point2 = tuple[Length, Length]
Point3 = tuple[Length, Length, Length]
Quaternion = tuple[Number, Number, Number, Number]


class Data(BaseModel):
    """Immutable, refuses unknown fields; a default is part of the format."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def not_stated(value: object) -> bool:
    """Such a field is left out of the JSON: a scene keeps the identity that it had before there was the field."""
    return value is None


def check_unit_quaternion(orientation: tuple[float, ...]) -> None:
    if abs(math.hypot(*orientation) - 1.0) > 1e-9:
        raise ValueError(
            f"orientation: {orientation} has norm {math.hypot(*orientation):.9g}; allowed: a unit "
            "quaternion (w, x, y, z) to 1e-9"
        )
