"""One event, one mail: through real Kafka, real Postgres, and a double that counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts.kafka import Kafka
from tests.whole.events import receipts, reset
from tests.whole.reckoning import reckon
from tests.whole.remote import Remote, remote
from tests.whole.stack import Stack, deployed

EVENTS = 10_000
RESETS = 10
ALL = EVENTS + RESETS

pytestmark = pytest.mark.timeout(400)


async def _publish(stack: Stack, resets: list[bytes]) -> None:
    await stack.publish(stack.orders, receipts(EVENTS))
    await stack.publish(stack.accounts, resets)


async def _run(stack: Stack) -> None:
    """One worker, from start to stop; in between it finishes whatever is in the topics."""
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders, stack.accounts, seconds=200)
    assert await worker.stop() == 0


async def _each_was_sent_once(stack: Stack, provider: Remote) -> None:
    """Offsets are committed by now; the reckoning holds each row's id against the ledger's."""
    found = await reckon(stack, await provider.accepted(), stack.orders, stack.accounts)
    found.all_sent(ALL)
    assert found.told == {("sent", False): ALL}


@pytest.mark.parametrize("provider", ["resend", "ses"])
async def test_each_event_is_one_mail(
    provider: str, kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """Exactly once by the ledger, told once, under the provider's id. Postmark: see below."""
    async with (
        remote(provider) as double,
        deployed(kafka, database, tmp_path, {provider: double.options}) as stack,
    ):
        await _publish(stack, [reset(f"R{n}") for n in range(RESETS)])
        await _run(stack)
        await _each_was_sent_once(stack, double)


async def test_neither_a_rewind_nor_a_repeat_is_a_second_mail(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """Sent once by Postmark; read again by a new group: redeliveries; published again: duplicates.

    Each record hears the stored outcome again; only another record's is called a duplicate.
    """
    async with (
        remote("postmark") as double,
        deployed(kafka, database, tmp_path, {"postmark": double.options}) as stack,
    ):
        resets = [reset(f"R{n}") for n in range(RESETS)]
        await _publish(stack, resets)
        await _run(stack)
        await _each_was_sent_once(stack, double)

        stack.group += ".again"
        await _run(stack)
        found = await reckon(stack, await double.accepted(), stack.orders, stack.accounts)
        found.all_sent(ALL)
        assert found.told == {("sent", False): 2 * ALL}

        await _publish(stack, resets)
        await _run(stack)
        found = await reckon(stack, await double.accepted(), stack.orders, stack.accounts)
        found.all_sent(ALL)
        assert found.records == 2 * ALL
        assert found.told == {("sent", False): 2 * ALL, ("sent", True): ALL}
