"""A person found a mail at its provider that nobody here knows the outcome of, and says so.

Evidence like any other, signed by the person. What the provider itself tells later stands above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from consumer.guard import links, writes
from consumer.guard.operators import NotDone
from consumer.guard.rows import lock
from consumer.guard.transitions import Write, proven
from consumer.guard.writes import Change
from consumer.model import Evidence, MarkSent, Row, Status


@dataclass(frozen=True, slots=True)
class Settled:
    """`row`: as it stood before; it may have been this very mail's already.

    `provider`: the one whose attempt was in doubt. `next`: the key under which a person had the
    mail made again meanwhile.
    """

    row: Row
    provider: str
    next: str | None = None


SettleResult: TypeAlias = Settled | NotDone


async def settle(connection: Any, key: str, message_id: str, note: str) -> SettleResult:
    """Record that the provider of the doubt has this mail under `message_id`. Safe to repeat."""
    async with connection.transaction():
        row = (await lock(connection, [key])).get(key)
        if row is None:
            return NotDone(f"the guard has no row of {key}")
        if row.status is Status.SENT and row.provider_message_id == message_id:
            return Settled(row, row.provider)
        if not row.in_doubt or row.status not in (Status.UNKNOWN, Status.DISCARDED):
            return NotDone(_known(row))
        return await _settle(connection, row, message_id, note)


async def _settle(connection: Any, row: Row, message_id: str, note: str) -> Settled:
    proof = MarkSent(row.doubt_provider or row.provider, message_id, Evidence.PERSON)
    decision = proven(row, proof)
    assert isinstance(decision, Write), "only a row that is sent can stand or be doubled"
    await writes.apply(connection, [Change(row, decision, note)])
    return Settled(row, proof.provider, await links.after(connection, row.key))


def _known(row: Row) -> str:
    if row.status is Status.SENT:
        return f"{row.key} is sent already, as {row.provider_message_id} at {row.provider}"
    if row.status in (Status.SENDING, Status.WAITING):
        return f"{row.key} is {row.status}: look again when its outcome stands"
    return f"{row.key} is {row.status}: nobody doubts that it was not sent"
