"""What pybullet reports of the contacts of a step."""

from collections.abc import Mapping

import numpy as np
import pybullet as pb

from validation.engines.shared import recorder


def contact_rows(client: int, member: Mapping[tuple[int, int], int], dt: float) -> recorder.Rows | None:
    """a, b, points, normals, gaps and impulses on b of the contacts of the last step, at the poses it started from.

    `member`: of a multibody and link; what has none, or is of the same as the other, is left out. pybullet gives the
    normal from b to a, and forces on a.
    """
    every = pb.getContactPoints(physicsClientId=client) or ()
    sides = ((member.get((row[1], row[3]), -1), member.get((row[2], row[4]), -1)) for row in every)
    known = [(a, b, row) for (a, b), row in zip(sides, every) if min(a, b) >= 0 and a != b]
    if not known:
        return None
    first, second, rows = zip(*known)
    _, _, _, _, _, on_a, on_b, normal, gap, pressing, rubbing, along, rubbing_2, along_2 = zip(*rows)
    normals = -np.array(normal)
    impulses = -dt * (
        -normals * np.array(pressing)[:, None]
        + np.array(along) * np.array(rubbing)[:, None]
        + np.array(along_2) * np.array(rubbing_2)[:, None]
    )
    return first, second, (np.array(on_a) + np.array(on_b)) / 2, normals, gap, impulses
