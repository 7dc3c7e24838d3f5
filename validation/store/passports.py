"""What engines' bits depended on, as `upright passport` found it."""

import json
from datetime import UTC, datetime

from sqlalchemy import func, insert, select

from validation.records.passport import Examined, rows_from_json, rows_to_json
from validation.records.stored import StoredPassport
from validation.store import models
from validation.store.connection import Database
from validation.store.models import record_of
from validation.store.stored_json import texts_of


class Passports(Database):
    def add_passport(self, found: Examined, *, command: str, machine: str) -> int:
        """Its number."""
        own = found.passport
        row = {
            "made": datetime.now(UTC),
            "command": command,
            "machine": machine,
            "engine": own.engine,
            "engine_version": own.version,
            "profile": own.profile,
            "platform": own.platform,
            "processor": own.processor,
            "ways": rows_to_json(found.rows),
            "declined": json.dumps(dict(found.declined)),
        }
        with self._writing(once=True) as connection:
            query = insert(models.Passport).values(row).returning(models.Passport.id)
            return int(connection.execute(query).scalar_one())

    def passports(self) -> list[StoredPassport]:
        """The newest of each engine, version, profile and platform; by the engine's name, then the newest first."""
        table = models.Passport
        kinds = table.engine, table.engine_version, table.profile, table.platform
        newest = select(func.max(table.id)).group_by(*kinds)
        query = select(*table.__table__.columns).where(table.id.in_(newest)).order_by(table.engine, table.id.desc())
        with self._reading() as connection:
            return [
                record_of(
                    StoredPassport,
                    row,
                    number=row.id,
                    when=row.made,
                    rows=rows_from_json(row.ways),
                    declined=texts_of(row.declined),
                )
                for row in connection.execute(query).all()
            ]
