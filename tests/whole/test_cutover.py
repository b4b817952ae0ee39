"""From an existing sender to this one, as `deploy/README.md` tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.parts.kafka import Kafka
from tests.whole.commands import answer, run
from tests.whole.former import Former, at_work, key_of, paid
from tests.whole.placing import until
from tests.whole.remote import remote
from tests.whole.stack import Stack, deployed

PAST = 50_000
RATE = 100  # orders a second while both are at work
OVERLAP = 4.0  # seconds, on both sides of the cut-over
LATE = timedelta(seconds=3)  # some events come so long after they happened

pytestmark = pytest.mark.timeout(200)


def _active_from(stack: Stack, at: datetime | None) -> None:
    """Write (or take out) the cut-over of the mail type."""
    file = stack.folder / "schemas/order.receipt/mail.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("active_from")]
    file.write_text("\n".join([*([f"active_from = {at.isoformat()}"] if at else []), *lines]))


async def _trade(stack: Stack, end: datetime) -> list[str]:
    """Publish orders until `end`; each fifth comes late, each seventh comes again later on."""
    orders: list[str] = []
    again: list[bytes] = []
    while (now := datetime.now(UTC)) < end:
        batch = []
        for _ in range(RATE // 10):
            number = len(orders)
            orders.append(f"b-{number}")
            event = paid(orders[-1], now - LATE * (number % 5 == 0))
            batch.append(event)
            if number % 7 == 0:
                again.append(event)
        await stack.publish(stack.orders, [*batch, *again[-20:-18]])
        await asyncio.sleep(0.1)
    return orders


def _read_all(former: Former, stack: Stack, before: int) -> Callable[[], Awaitable[bool]]:
    async def done() -> bool:
        ends = await stack.kafka.end_offsets(stack.orders)
        return former.seen >= sum(ends.values()) - before

    return done


async def test_with_an_overlap_nobody_is_mailed_twice_and_nobody_is_missed(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """50,000 imported, both at work on one topic around the cut-over, a full replay at the end.

    Law: an event is one sender's alone, by its own time; what the former one mailed has a row
    before its time is ours; so the ledger has each mail once.
    """
    async with (
        remote("postmark") as double,
        deployed(kafka, database, tmp_path, {"postmark": double.options}) as stack,
    ):
        start = datetime.now(UTC)
        past = [(f"a-{n}", start - timedelta(seconds=n * 3)) for n in range(PAST)]
        await stack.publish(stack.orders, [paid(order, at) for order, at in past])
        cut_over = datetime.now(UTC) + timedelta(seconds=OVERLAP + 8)
        former = Former(stack, double, leaves=cut_over)

        # Import what it sent so far; then both work, and each event is one's alone.
        listed = former.write_list(tmp_path / "sent.csv", past)
        assert answer(await run(stack, "import", str(listed), "--json"))["new"] == PAST
        _active_from(stack, cut_over)
        worker = stack.worker().start()
        async with at_work(former):
            await worker.ready(60)
            orders = await _trade(stack, cut_over + timedelta(seconds=OVERLAP))
            await until(_read_all(former, stack, PAST))
        missed = [f"c-{n}" for n in range(20)]  # from before the cut-over, and read by nobody
        await stack.publish(stack.orders, [paid(order, cut_over - LATE) for order in missed])
        await stack.finished(stack.orders, seconds=60)
        assert await worker.stop() == 0
        assert 0 < len(former.log) < len(orders)

        # It has stopped: its last mails are imported, and then all of the topic is ours.
        listed = former.write_list(tmp_path / "sent.csv", past)
        told = answer(await run(stack, "import", str(listed), "--json"))
        assert (told["known"], told["new"], told["standing"]) == (PAST, len(former.log), {})
        _active_from(stack, None)
        stack.group += ".from-the-beginning"
        worker = await stack.worker().start().ready(60)
        await stack.finished(stack.orders, seconds=60)
        assert await worker.stop() == 0

        accepted = await double.accepted()
        assert {key: len(ids) for key, ids in accepted.items()} == {
            key_of(order): 1 for order in [*orders, *missed]
        }
        assert await stack.statuses() == {"sent": PAST + len(orders) + len(missed)}
        assert await stack.letters() == {}
