"""Upstream hears of every end that comes after its record was finished, the last one last."""

from __future__ import annotations

from consumer.guard import Guard
from consumer.guard.telling import BY_LETTER
from consumer.model import (
    Bad,
    Evidence,
    Fenced,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    Reason,
    Status,
)
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Sql
from tests.integration.guard.unknowns import again, due_of, row_of, story_of


async def test_a_parked_mail_that_gets_too_old_before_its_next_round_is_told(
    guard: Guard, sql: Sql
) -> None:
    """Its record was finished when it was parked, and nothing was told of it then."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkParked("503", 300.0), item.mail, item.record)
    assert await guard.outcomes_due() == []
    due = await due_of(guard, sql)
    assert due.row is not None
    lease = granted(await guard.claim(again(item, due.row))).lease
    await guard.record(lease, MarkExpired("held back: too_old"), item.mail, item.record)
    (settled,) = await guard.outcomes_due()
    assert (settled.row.status, settled.record) == (Status.EXPIRED, item.record)
    await guard.outcome_told(settled.row)
    assert await guard.outcomes_due() == []


async def test_what_was_told_is_not_what_came_of_the_row_meanwhile(guard: Guard) -> None:
    """Told `failed`; before that is written down, a webhook proves that it was sent."""
    item = claim(late=True)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkFailed("422", Reason.REJECTED), item.mail, item.record)
    (failed,) = await guard.outcomes_due()
    proof = MarkSent("file", "id-1", Evidence.WEBHOOK)
    assert not isinstance(await guard.prove(item.mail.key, proof, "delivered"), Fenced)
    await guard.outcome_told(failed.row)
    (sent,) = await guard.outcomes_due()
    assert sent.row.status is Status.SENT


async def test_a_replay_of_a_letter_under_another_type_is_told(guard: Guard) -> None:
    """The folder came with a deploy, and its name need not be the event's."""
    item = claim(late=True)
    unread = Bad(Reason.UNKNOWN_TYPE, "no folder takes it", "order.created", None)
    await guard.park(item.record, unread)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert (await story_of(guard, item)).outcome_due
    (settled,) = await guard.outcomes_due()
    assert (settled.row, settled.record) == (await row_of(guard, item), item.record)


async def test_what_is_due_is_not_looked_for_in_all_rows(guard: Guard, sql: Sql) -> None:
    """A month of rows takes longer to read than a statement may: the resolver would stand still."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    await sql(
        """
        INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
            catalogue, provider, account, attempts, epoch, owner, token, provider_message_id,
            sent_at, topic, "partition", "offset", record_timestamp, claimed_at)
        SELECT m.idempotency_key || n, event_type, recipient, status, fingerprint, catalogue,
               provider, account, attempts, epoch, owner, token, provider_message_id, sent_at,
               topic, "partition", "offset" + n, record_timestamp, claimed_at
          FROM sent_message m, generate_series(1, 5000) n
        """
    )
    await sql(
        """
        INSERT INTO dead_letter (idempotency_key, event_type, reason, detail, status, topic,
            "partition", "offset", record_timestamp, header_names, header_values)
        SELECT idempotency_key, event_type, 'unknown', '', 'settled', topic, "partition", "offset",
               record_timestamp, '{}', '{}' FROM sent_message LIMIT 3000
        """
    )
    await sql("ANALYZE")
    plan = "\n".join(line[0] for line in await sql("EXPLAIN " + BY_LETTER.replace("$1", "100")))
    assert "sent_message_coordinates" in plan, plan
    assert "Seq Scan on sent_message" not in plan, plan
