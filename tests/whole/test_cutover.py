"""From an existing sender to this one, as `deploy/README.md` tells it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.parts.kafka import Kafka
from tests.whole.commands import answer, run
from tests.whole.former import Former, at_work, key_of, paid, write_list
from tests.whole.placing import until
from tests.whole.remote import remote
from tests.whole.stack import Stack, deployed

PAST = 50_000  # mails of before
KEPT = 5_000  # of their events, the youngest, which Kafka still has
RATE = 100  # orders a second while both are at work
OVERLAP = 5.0  # seconds, at least, on both sides of the cut-over
LATE = timedelta(seconds=3)  # some events come so long after they happened

pytestmark = pytest.mark.timeout(200)


def _active_from(stack: Stack, at: datetime | None) -> None:
    """Write (or take out) the cut-over of the mail type."""
    file = stack.folder / "schemas/order.receipt/mail.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("active_from")]
    file.write_text("\n".join([*([f"active_from = {at.isoformat()}"] if at else []), *lines]))


async def _trade(stack: Stack, orders: list[str], over: asyncio.Event) -> None:
    """Publish orders until it is over; each fifth comes late, each seventh again, later on."""
    again: list[bytes] = []
    while not over.is_set():
        now = datetime.now(UTC)
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


@asynccontextmanager
async def _trading(stack: Stack) -> AsyncIterator[list[str]]:
    """Yield the orders that come in while the block runs."""
    orders: list[str] = []
    over = asyncio.Event()
    trade = asyncio.create_task(_trade(stack, orders, over))
    try:
        yield orders
    finally:
        over.set()
        await trade


def _read_all(former: Former, stack: Stack) -> Callable[[], Awaitable[bool]]:
    async def done() -> bool:
        ends = await stack.kafka.end_offsets(stack.orders)
        return former.seen >= sum(ends.values()) - KEPT

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
        await stack.publish(stack.orders, [paid(order, at) for order, at in past[:KEPT]])

        # Import what it sent so far; then both work, and each event is one's alone.
        listed = write_list(tmp_path / "sent.csv", past, {})
        assert answer(await run(stack, "import", str(listed), "--json"))["new"] == PAST
        cut_over = datetime.now(UTC) + timedelta(seconds=OVERLAP)
        _active_from(stack, cut_over)
        former = Former(stack, double, leaves=cut_over)
        async with at_work(former):
            async with _trading(stack) as orders:
                worker = await stack.worker().start().ready(60)
                await asyncio.sleep(OVERLAP)
            await until(_read_all(former, stack))
        missed = [f"c-{n}" for n in range(20)]  # from before the cut-over, and read by nobody
        await stack.publish(stack.orders, [paid(order, cut_over - LATE) for order in missed])
        await stack.finished(stack.orders, seconds=60)
        assert await worker.stop() == 0
        assert 0 < len(former.log) < len(orders)

        # It has stopped: its last mails are imported, and then all of the topic is ours.
        listed = write_list(tmp_path / "sent.csv", past, former.log)
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
