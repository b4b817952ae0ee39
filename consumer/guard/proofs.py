"""Proof of acceptance: taken in every state, whoever holds the row, whenever it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from consumer.guard import history, writes
from consumer.guard.history import Entry
from consumer.guard.rows import lock
from consumer.guard.transitions import Double, Stands, Write, proven
from consumer.guard.writes import Change
from consumer.model import Fenced, MarkSent, Recorded, RecordResult, Row

OnDouble = Callable[[Row, MarkSent], None]

# The first of the others stays on the row; all of them are in its history.
SECOND = """
    UPDATE sent_message SET second_message_id = coalesce(second_message_id, $2)
     WHERE idempotency_key = $1
"""


async def prove(
    connection: Any, key: str, proof: MarkSent, detail: str, on_double: OnDouble
) -> RecordResult:
    """Take a proof that belongs to no flight. `Fenced`: no such row, or sent as another mail."""
    async with connection.transaction():
        row = (await lock(connection, [key])).get(key)
        return await take(connection, row, proof, detail, on_double)


async def take(
    connection: Any, row: Row | None, proof: MarkSent, detail: str, on_double: OnDouble
) -> RecordResult:
    """Take a proof about a row that is locked."""
    if row is None:
        return Fenced(None)
    decision = proven(row, proof)
    match decision:
        case Write():
            sent_at = await writes.apply(connection, [Change(row, decision, detail)])
            return Recorded(sent_at[row.key])
        case Stands(sent_at=at):
            return Recorded(at)
        case Double():
            await double(connection, row, proof, on_double)
            return Fenced(row)
        case _:
            assert_never(decision)


async def double(connection: Any, row: Row, proof: MarkSent, on_double: OnDouble) -> None:
    """Both were really sent: the row says so, and it is alarmed, once a second mail."""
    line = Entry(
        row.key, "double", proof.provider, row.account, row.epoch, row.attempts,
        proof.provider_message_id, "a second mail was accepted",
    )  # fmt: skip
    if await history.write_once(connection, line):
        await connection.execute(SECOND, row.key, proof.provider_message_id)
        on_double(row, proof)
