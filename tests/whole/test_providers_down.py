"""A provider that is down, or knows us no more: the log keeps the mail, nothing is burnt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double, Fault
from tests.parts.kafka import Kafka
from tests.whole.events import receipts
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.settling import settled_by, stands, told_by_key
from tests.whole.stack import Stack, Worker, deployed
from tests.whole.worker import watched

OUTAGE = 60.0  # seconds
MAINTENANCE = Fault("status", status=503, body=orjson.dumps({"ErrorCode": 100}).decode())
BAD_TOKEN = Fault("status", status=401, body=orjson.dumps({"ErrorCode": 10}).decode())
RATE = 30.0  # events a second

pytestmark = pytest.mark.timeout(300)


def _opened(worker: Worker) -> bool:
    return worker.said("breaker", state="open", level="error")


async def _breaks(worker: Worker, stack: Stack) -> None:
    """The breaker opens, readiness and the alert say so; nothing is put aside meanwhile."""
    await worker.until(lambda: _opened(worker), 60)
    await worker.until(lambda: _not_ready(worker), 60)
    assert await stack.letters() == {}


async def _not_ready(worker: Worker) -> bool:
    return (await worker.get("/readyz"))[0] == 503


async def _drains(worker: Worker, stack: Stack, double: Double, mails: int) -> None:
    await stack.finished(stack.orders)
    await worker.ready(60)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.all_sent(mails)
    attempts = await stack.sql("SELECT max(attempts) AS most FROM sent_message")
    assert attempts[0]["most"] <= 4


@pytest.fixture
async def second() -> AsyncIterator[Double]:
    """Resend, to which a mail type may turn."""
    async with Double(APIS["resend"]()) as running:
        yield running


async def test_nobody_listens_at_the_provider_for_a_minute(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """Connections refused: the breaker opens, the lag grows, no dead letter, and then it drains."""
    double = Double(APIS["postmark"]())
    async with double:  # so that it has a port; from here on nobody listens there
        providers = {"postmark": double.options}
    async with deployed(kafka, database, tmp_path, providers) as stack:
        worker = await stack.worker().start().ready(60)
        async with load(stack, rate=RATE) as upstream, watched(worker) as pulse:
            await _breaks(worker, stack)
            before = await stack.behind(stack.orders)
            await asyncio.sleep(OUTAGE)
            assert await stack.behind(stack.orders) > before
            assert await stack.letters() == {}
        assert pulse.statuses["/healthz"] == {200}
        async with double:
            await _drains(worker, stack, double, len(upstream.orders))


@pytest.mark.parametrize("trouble", [MAINTENANCE, BAD_TOKEN], ids=["maintenance", "bad token"])
async def test_a_provider_that_says_no_to_everybody(
    stack: Stack, double: Double, trouble: Fault
) -> None:
    """In its own words, so certainly not sent: an alert, no record burnt, and then it drains."""
    double.script.always(trouble)
    worker = await stack.worker().start().ready(60)
    async with load(stack, rate=RATE) as upstream, watched(worker) as pulse:
        await _breaks(worker, stack)
        tried = double.ledger.requests
        await worker.until(lambda: upstream.records > 300, 60)
        assert double.ledger.requests < tried + 10  # probes, and nothing else
        assert double.ledger.total == 0
        assert await stack.letters() == {}
    assert pulse.statuses["/healthz"] == {200}
    double.script.clear()
    await _drains(worker, stack, double, len(upstream.orders))


async def test_a_provider_that_cuts_every_connection(stack: Stack, double: Double) -> None:
    """Bytes went out each time, so nobody knows: only what was in flight, and then the breaker."""
    double.script.always(Fault("reset"))
    await stack.publish(stack.orders, receipts(2000))
    worker = stack.worker().start()
    await worker.until(lambda: _opened(worker), 60)
    tried = double.ledger.attempts
    await worker.until(lambda: double.ledger.attempts >= tried + 2, 60)
    double.script.clear()
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert 0 < found.unknown < 200  # the wire's 50, what was ahead of it, and the probes
    assert found.statuses == {"sent": 2000 - found.unknown, "unknown": found.unknown}
    assert found.accepted == 2000 - found.unknown


async def test_mails_turn_to_the_second_provider_once(
    stack: Stack, double: Double, second: Double
) -> None:
    """What the first one certainly did not send goes to the second; what is unknown is found."""
    stack.providers["resend"] = second.options
    stack.write_catalogue(["postmark", "resend"])
    double.script.at_rates({"drop": 0.05}, seed=3)
    worker = await stack.worker().start().ready(60)
    async with load(stack, rate=4 * RATE) as upstream:
        await worker.until(lambda: double.ledger.total > 300, 60)
        double.script.clear()
        double.script.always(MAINTENANCE)
        await worker.until(lambda: second.ledger.total > 300, 60)
    await stack.finished(stack.orders)
    await stands(stack, sent=len(upstream.orders))
    assert await worker.stop() == 0
    assert not double.ledger.accepted.keys() & second.ledger.accepted.keys()
    found = await reckon(stack, double.ledger.accepted | second.ledger.accepted)
    found.in_order()
    assert found.accepted == len(upstream.orders)
    unknown = [words for words in (await told_by_key(stack)).values() if "unknown" in words]
    assert unknown
    assert await settled_by(stack) == {"lookup": len(unknown)}
