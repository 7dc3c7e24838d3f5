"""Ensembles of perturbed starts, each beside its case."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from sqlalchemy import Connection, insert, select

from validation.judging.ensembles import Ensemble, Series
from validation.store import models, runs
from validation.store.errors import StoreError


def save(connection: Connection, run: int, ensembles: Mapping[str, Ensemble]) -> None:
    """By case key; what a case has already stays as it is: a baseline may rest on it."""
    runs.require(connection, run)
    query = select(models.Case.key, models.Case.id).where(models.Case.run_id == run)
    numbers = {row.key: row.id for row in connection.execute(query)}
    alien = next((key for key in ensembles if key not in numbers), None)
    if alien is not None:
        raise StoreError(f"run {run}: case {alien[:12]}... is none of its cases; no ensemble was stored")
    known = select(models.Ensemble.case_id).join(models.Case, models.Case.id == models.Ensemble.case_id)
    there = set(connection.execute(known.where(models.Case.run_id == run)).scalars())
    fresh = {numbers[key]: ensemble for key, ensemble in ensembles.items() if numbers[key] not in there}
    heads = [
        {"case_id": number, **{name: getattr(ensemble, name) for name in ("starts", "seed", "completed", "horizon")}}
        for number, ensemble in fresh.items()
    ]
    series = [
        {
            "case_id": number,
            "position": position,
            "until": one.until,
            "metric": one.metric,
            "unit": one.unit,
            "better": one.better,
            "noise": one.noise,
            "floor": one.floor,
            "values": json.dumps([value if math.isfinite(value) else str(value) for value in one.values]),
        }
        for number, ensemble in fresh.items()
        for position, one in enumerate(ensemble.series)
    ]
    if heads:
        connection.execute(insert(models.Ensemble), heads)
    if series:
        connection.execute(insert(models.EnsembleSeries), series)


def ensemble(connection: Connection, case: int) -> Ensemble | None:
    """The case's own, or that of the latest case of its identity that moved by the same bits: the same code."""
    this = connection.execute(
        select(models.Case.identity_key, models.Case.trajectory_hash).where(models.Case.id == case)
    ).one_or_none()
    if this is None:
        raise StoreError(f"case {case}: not in this database")
    same = (models.Case.identity_key == this.identity_key) & (models.Case.trajectory_hash == this.trajectory_hash)
    found = connection.execute(
        select(models.Ensemble.__table__)
        .join(models.Case, models.Case.id == models.Ensemble.case_id)
        .where((models.Case.id == case) | (same & (models.Case.trajectory_hash != "")))
        .order_by((models.Case.id == case).desc(), models.Case.id.desc())
        .limit(1)
    ).one_or_none()
    if found is None:
        return None
    rows = connection.execute(
        select(models.EnsembleSeries.__table__)
        .where(models.EnsembleSeries.case_id == found.case_id)
        .order_by(models.EnsembleSeries.position)
    )
    return Ensemble(
        starts=found.starts,
        seed=found.seed,
        completed=found.completed,
        horizon=found.horizon,
        series=tuple(
            Series(
                until=row.until,
                metric=row.metric,
                unit=row.unit,
                better=row.better,
                noise=row.noise,
                floor=row.floor,
                values=tuple(float(value) for value in json.loads(row.values)),
            )
            for row in rows
        ),
    )
