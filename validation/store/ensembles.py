"""Ensembles of perturbed initial states, each beside its case."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import and_, insert, select

from validation.judging.ensembles import Ensemble, Series
from validation.judging.outcomes import Counts
from validation.store import models, runs
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.models import record_of, row_of
from validation.store.stored_json import happened_of, numbers_of


class Ensembles(Database):
    def save_ensembles(self, run: int, found: Mapping[str, Ensemble]) -> None:
        """Of cases of this run, by case key; one that a case has already stays as it is: a baseline may rest on it."""
        with self._writing() as connection:
            numbers = runs.numbers_of(connection, run)
            alien = next((key for key in found if key not in numbers), None)
            if alien is not None:
                raise StoreError(f"run {run}: case {alien[:12]}... is none of its cases; no ensemble was stored")
            known = select(models.Ensemble.case_id).join(models.Case, models.Case.id == models.Ensemble.case_id)
            there = set(connection.execute(known.where(models.Case.run_id == run)).scalars())
            fresh = {numbers[key]: ensemble for key, ensemble in found.items() if numbers[key] not in there}
            heads = [
                row_of(models.Ensemble, ensemble, case_id=number, happened=_happened_to_json(ensemble.happened))
                for number, ensemble in fresh.items()
            ]
            series = [
                row_of(models.EnsembleSeries, one, case_id=number, position=position, values=_to_json(one.values))
                for number, ensemble in fresh.items()
                for position, one in enumerate(ensemble.series)
            ]
            if heads:
                connection.execute(insert(models.Ensemble), heads)
            if series:
                connection.execute(insert(models.EnsembleSeries), series)

    def ensemble(self, case: int) -> Ensemble | None:
        """Of the case with this number, or else of the latest of its identity that moved by the same bits: the same
        code."""
        with self._reading() as connection:
            this = connection.execute(
                select(models.Case.identity_key, models.Case.trajectory_hash).where(models.Case.id == case)
            ).one_or_none()
            if this is None:
                raise StoreError(f"case {case}: not in this database")
            same = models.Case.identity_key == this.identity_key, models.Case.trajectory_hash == this.trajectory_hash
            found = connection.execute(
                select(models.Ensemble.__table__)
                .join(models.Case, models.Case.id == models.Ensemble.case_id)
                .where((models.Case.id == case) | and_(*same, models.Case.trajectory_hash != ""))
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
            series = tuple(record_of(Series, row, values=numbers_of(row.values)) for row in rows)
            return record_of(Ensemble, found, series=series, happened=happened_of(found.happened))


def _to_json(values: Iterable[float]) -> str:
    return json.dumps([value if math.isfinite(value) else str(value) for value in values])


def _happened_to_json(happened: Sequence[Counts] | None) -> str | None:
    return None if happened is None else json.dumps([[*one.what, list(one.counts)] for one in happened])
