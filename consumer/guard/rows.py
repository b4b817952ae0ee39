"""Guard rows as read back, and the one statement that finds them: by key and by coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumer.model import Coordinates, Evidence, Row, Status

# Named one by one: `m.*` would change its shape under a prepared statement when a column is added.
COLUMNS = """m.idempotency_key, m.event_type, m.status, m.fingerprint, m.catalogue, m.provider,
    m.account, m.attempts, m.round, m.epoch, m.owner, m.token,
    coalesce(m.lease_until > now(), false) AS lease_live, m.doubt_since IS NOT NULL AS in_doubt,
    m.topic, m."partition", m."offset", m.record_timestamp, m.provider_message_id, m.sent_at,
    m.first_attempt_at, m.body_hash, m.error, m.doubt_provider, m.version,
    m.settled_by"""

# Two arms, so that each uses its index.
FIND = f"""
    SELECT i.n, true AS by_key, {COLUMNS}
      FROM unnest($1::text[]) WITH ORDINALITY AS i(k, n)
      JOIN sent_message m ON m.idempotency_key = i.k
    UNION ALL
    SELECT i.n, false AS by_key, {COLUMNS}
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
           WITH ORDINALITY AS i(k, e, t, p, o, ts, n)
      JOIN sent_message m ON m."offset" = i.o AND m."partition" = i.p AND m.topic = i.t
           AND m.event_type = i.e AND m.record_timestamp = i.ts
     WHERE m.idempotency_key <> i.k
"""  # noqa: S608 - the columns are ours

BY_KEY = f"SELECT {COLUMNS} FROM sent_message m WHERE m.idempotency_key = $1"  # noqa: S608 - the columns are ours
LOCK = f"""
    SELECT {COLUMNS} FROM sent_message m
     WHERE m.idempotency_key = ANY($1::text[]) ORDER BY m.idempotency_key FOR NO KEY UPDATE
"""  # noqa: S608 - the columns are ours


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record's row may stand: under its key, or under another at its coordinates."""

    key: str
    mail_type: str
    at: Coordinates


@dataclass(slots=True)
class Standing:
    """What stands there. Both are set where a record was claimed under another key before."""

    by_key: Row | None = None
    by_coordinates: Row | None = None

    @property
    def row(self) -> Row | None:
        """The key's row, unless it failed and the record's coordinates are spoken for elsewhere.

        Then it can never be taken over for this record: who were told of it would try for ever.
        """
        key, place = self.by_key, self.by_coordinates
        if key is None or (place and key.status is Status.FAILED and not gives_way(place)):
            return place
        return key


def gives_way(row: Row) -> bool:
    """Certainly not sent: its coordinates may go to another key. Not what a person asked for."""
    return row.status is Status.FAILED and row.version == 1


async def find(connection: Any, places: Sequence[Place]) -> list[Standing]:
    found = [Standing() for _ in places]
    columns = list(zip(*(_place_values(place) for place in places), strict=True))
    for values in await connection.fetch(FIND, *columns):
        standing = found[values["n"] - 1]
        if values["by_key"]:
            standing.by_key = row_of(values)
        else:
            standing.by_coordinates = row_of(values)
    return found


async def find_key(connection: Any, key: str) -> Row | None:
    values = await connection.fetchrow(BY_KEY, key)
    return None if values is None else row_of(values)


async def lock(connection: Any, keys: Sequence[str]) -> dict[str, Row]:
    """Read rows and hold them until the transaction ends; sorted, so that two cannot deadlock."""
    rows = [row_of(values) for values in await connection.fetch(LOCK, list(keys))]
    return {row.key: row for row in rows}


def row_of(values: Any) -> Row:
    return Row(
        key=values["idempotency_key"],
        mail_type=values["event_type"],
        status=Status(values["status"]),
        fingerprint=values["fingerprint"],
        catalogue=values["catalogue"],
        provider=values["provider"],
        account=values["account"],
        attempts=values["attempts"],
        round=values["round"],
        epoch=values["epoch"],
        owner=values["owner"],
        token=values["token"],
        lease_live=values["lease_live"],
        in_doubt=values["in_doubt"],
        coordinates=coordinates_of(values),
        provider_message_id=values["provider_message_id"],
        sent_at=_datetime(values["sent_at"]),
        first_attempt_at=_datetime(values["first_attempt_at"]),
        body_hash=values["body_hash"],
        error=values["error"],
        doubt_provider=values["doubt_provider"],
        version=values["version"],
        settled_by=Evidence(by) if (by := values["settled_by"]) else None,
    )


def coordinates_of(values: Any) -> Coordinates | None:
    if values["topic"] is None:
        return None
    return Coordinates(
        values["topic"], values["partition"], values["offset"], values["record_timestamp"]
    )


def _datetime(value: Any) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _place_values(place: Place) -> tuple[str, str, str, int, int, int]:
    at = place.at
    return place.key, place.mail_type, at.topic, at.partition, at.offset, at.timestamp
