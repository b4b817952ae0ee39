"""Behind PgBouncer: transaction pooling, where nothing of a session lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.doubles.engine import Double
from tests.parts.pgbouncer import NoPgBouncerError, start_pgbouncer
from tests.parts.postgres import Postgres
from tests.whole.bad_records import unreadable
from tests.whole.commands import answer, sendonce
from tests.whole.events import receipt, receipts
from tests.whole.placing import work
from tests.whole.stack import Stack

EVENTS = 500


@pytest.fixture
def pooled(postgres: Postgres) -> Iterator[Callable[[str], str]]:
    try:
        with start_pgbouncer(postgres.dsn) as running:
            yield running
    except NoPgBouncerError as reason:
        pytest.skip(f"no PgBouncer: {reason}")


async def test_five_hundred_mails_through_a_pool_of_transactions(
    stack: Stack, double: Double, pooled: Callable[[str], str]
) -> None:
    """Claims, outcomes, renewals, dead letters and the command line share three connections."""
    stack.settings["postgres"] = {"dsn": pooled(stack.dsn), "pgbouncer": True}
    await stack.publish(stack.orders, receipts(EVENTS))
    await stack.publish(stack.orders, [receipt(f"A-{n}") for n in range(50)])
    bad = [case.value for case in unreadable() if case.name in {"twice", "NaN", "magic byte"}]
    await stack.publish(stack.orders, bad)
    worker = await work(stack)
    assert await worker.stop() == 0
    assert double.ledger.summary()["accepted"] == EVENTS
    assert double.ledger.summary()["accepted_twice"] == 0
    assert await stack.statuses() == {"sent": EVENTS}
    assert await stack.letters() == {"malformed": 2, "unsupported_format": 1}
    assert len(await stack.told()) == EVENTS + 50 + len(bad)
    assert not worker.said("postgres unreachable")
    listed = await sendonce("dead-letters", "list", "--json", "--config", str(stack.config()))
    assert len(answer(listed)) == len(bad)
