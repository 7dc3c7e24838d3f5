"""What an engine's bits depend on, as text: a row a way, and each scene that moves otherwise."""

from __future__ import annotations

from validation.records.passport import Compared, Examined, Row
from validation.records.quantities import counted, quantity
from validation.report.jsonl import json_line

WIDTH = 28


def rendered(found: Examined) -> str:
    """The table, and what could not be tried."""
    own = found.passport
    scenes = counted(len(own.motions), "scene")
    lines = [f"{own.engine} {own.version}, profile {own.profile}, {own.platform}: {scenes}"]
    lines.append(f"{'way':{WIDTH}} {'scenes':>6} {'same bits':>9}")
    for row in found.rows:
        tried = [one for one in row.found if one.same is not None]
        same = sum(one.same is True for one in tried)
        lines.append(f"{row.way:{WIDTH}} {len(tried):6} {same:9}")
        lines += [f"  {one.scene}: {difference(one)}" for one in tried if not one.same]
        lines += _not_tried(row)
    lines += [f"left out: {scene}: {reason}" for scene, reason in found.declined.items()]
    return "\n".join(lines)


def json_rows(found: Examined) -> str:
    """A line for each way and scene."""
    own = found.passport
    return "\n".join(
        json_line(
            engine=own.engine, version=own.version, profile=own.profile, way=row.way, scene=one.scene, same=one.same,
            reason=one.why or None, first=one.first if one.apart is not None else None, apart=one.apart,
        )
        for row in found.rows
        for one in row.found
    )  # fmt: skip


def difference(one: Compared) -> str:
    """Of a scene that has other bits."""
    if one.why:
        return one.why
    if one.apart is None:
        return "other bits"
    return f"other bits from {one.first:.4g} s on, {quantity(one.apart, 'm')} apart at most"


def _not_tried(row: Row) -> list[str]:
    """A line for each reason."""
    scenes: dict[str, list[str]] = {}
    for one in row.found:
        if one.same is None:
            scenes.setdefault(one.why, []).append(one.scene)
    return [f"  not tried: {', '.join(of)}: {reason}" for reason, of in scenes.items()]
