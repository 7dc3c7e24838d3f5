"""What PhysX says of two bodies in given poses: the contacts of a step without gravity. SAPIEN has no other call."""

from collections.abc import Mapping

from validation.engines.queries import CONTACTS, Query

QUERIES: Mapping[str, Query] = {
    "contacts": Query(
        call="PhysxCpuSystem.step, then get_contacts",
        shapes=frozenset({"sphere", "box", "capsule", "cylinder", "convex-mesh"}),
        answers=CONTACTS,
        cannot="ellipsoids: SAPIEN has none; distances: SAPIEN has no such call",
    )
}
