"""What stands in Postgres and in the simulated guard, as the same plain values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import asyncpg

from tests.integration.guard.twins import MismatchError, Twins
from tests.simulation.store import Store
from tests.simulation.store_columns import Line, Message, StoredLetter

Tables = dict[str, dict[str | int, Any]]

ROWS = """
    SELECT idempotency_key, event_type, recipient, status, fingerprint, catalogue, provider,
           account, attempts, round, epoch, owner, token, lease_until, first_attempt_at,
           attempt_deadline, body_hash, topic, "partition", "offset", record_timestamp, claimed_at,
           outcome_due, doubt_since, doubt_provider, provider_message_id, sent_at, error,
           settled_by, second_message_id, version, delivery, delivery_at
      FROM sent_message
"""
LETTERS = """
    SELECT id, idempotency_key, event_type, reason, detail, status, topic, "partition", "offset",
           record_timestamp, record_value, failures, first_failed_at, last_failed_at,
           next_check_at, replay, note
      FROM dead_letter
"""
HISTORY = """
    SELECT id, idempotency_key, at, last_at, times, event, provider, account, epoch, attempt,
           provider_message_id, detail, due
      FROM history
"""


async def compare(twins: Twins) -> None:
    """Raise `MismatchError` where a row, a letter, a line of history or an alarm differs."""
    if twins.doubles != twins.store.doubles:
        raise MismatchError(f"alarms\n  {twins.doubles}\n  {twins.store.doubles}")
    there, here = await _real(twins.sql), _simulated(twins.store)
    if there == here:
        return
    raise MismatchError("\n".join(_differences(there, here)))


async def _real(sql: asyncpg.Connection[Any]) -> Tables:
    async with sql.transaction(readonly=True):
        rows = [_plain(values) for values in await sql.fetch(ROWS)]
        letters = [_plain(values) for values in await sql.fetch(LETTERS)]
        history = [_plain(values) for values in await sql.fetch(HISTORY)]
    return {
        "row": {values["idempotency_key"]: values for values in rows},
        "letter": {values["id"]: values for values in letters},
        "history": {values["id"]: values for values in history},
    }


def _simulated(store: Store) -> Tables:
    return {
        "row": {row.key: _row(row) for row in store.rows()},
        "letter": {letter.id: _letter(letter) for letter in store.letters()},
        "history": {line.id: _line(line) for line in store.history()},
    }


def _plain(values: Any) -> dict[str, Any]:
    return {
        name: value.timestamp() if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def _row(row: Message) -> dict[str, Any]:
    at = row.at
    return {
        "idempotency_key": row.key, "event_type": row.mail_type, "recipient": row.recipient,
        "status": row.status, "fingerprint": row.fingerprint, "catalogue": row.catalogue,
        "provider": row.provider, "account": row.account, "attempts": row.attempts,
        "round": row.round, "epoch": row.epoch, "owner": row.owner, "token": row.token,
        "lease_until": row.lease_until, "first_attempt_at": row.first_attempt_at,
        "attempt_deadline": row.attempt_deadline, "body_hash": row.body_hash,
        "topic": at and at.topic, "partition": at and at.partition, "offset": at and at.offset,
        "record_timestamp": at and at.timestamp, "claimed_at": row.claimed_at,
        "outcome_due": row.outcome_due, "doubt_since": row.doubt_since,
        "doubt_provider": row.doubt_provider, "provider_message_id": row.provider_message_id,
        "sent_at": row.sent_at, "error": row.error, "settled_by": row.settled_by,
        "second_message_id": row.second_message_id, "version": row.version,
        "delivery": row.delivery, "delivery_at": row.delivery_at,
    }  # fmt: skip


def _letter(letter: StoredLetter) -> dict[str, Any]:
    at = letter.at
    return {
        "id": letter.id, "idempotency_key": letter.key, "event_type": letter.mail_type,
        "reason": letter.reason, "detail": letter.detail, "status": letter.status,
        "topic": at.topic, "partition": at.partition, "offset": at.offset,
        "record_timestamp": at.timestamp, "record_value": letter.record.value,
        "failures": letter.failures, "first_failed_at": letter.first_failed_at,
        "last_failed_at": letter.last_failed_at, "next_check_at": letter.next_check_at,
        "replay": letter.replay, "note": letter.note,
    }  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    told = line.entry
    return {
        "id": line.id, "idempotency_key": line.key, "at": line.at, "last_at": line.last_at,
        "times": line.times, "event": told.event, "provider": told.provider,
        "account": told.account, "epoch": told.epoch, "attempt": told.attempt,
        "provider_message_id": told.provider_message_id, "detail": told.detail, "due": line.due,
    }  # fmt: skip


def _differences(there: Tables, here: Tables) -> Iterable[str]:
    for kind in there:
        for name in sorted({*there[kind], *here[kind]}, key=str):
            one, other = there[kind].get(name), here[kind].get(name)
            if one is None or other is None:
                side = "store" if one is None else "postgres"
                yield f"{kind} {name} only in {side}: {one or other}"
            elif one != other:
                apart = {column: (one[column], other[column]) for column in one
                         if one[column] != other[column]}  # fmt: skip
                yield f"{kind} {name} (postgres, store): {apart}"
