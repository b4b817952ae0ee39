"""Kafka and Postgres go away and come back, under load: the service goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from consumer import guard
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.postgres import Postgres, start_postgres
from tests.parts.proxy import Mode, Proxy, start_proxy
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.stack import Stack, Worker, deployed
from tests.whole.worker import Pulse, watched

RATE = 100.0  # events a second
LONG = 60.0  # seconds without Kafka
KAFKA = ("kafka unreachable", "kafka is back")
SHORT = 8.0  # seconds without Postgres: longer than a statement may take

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def mortal_kafka() -> Iterator[Kafka]:
    with start_kafka(own=True) as running:
        yield running


@pytest.fixture
def mortal_postgres() -> Iterator[Postgres]:
    with start_postgres(fsync=False, own=True) as running:
        yield running


@pytest.fixture
async def proxy(postgres: Postgres) -> AsyncIterator[Proxy]:
    place = urlsplit(postgres.dsn)
    async with start_proxy(place.hostname or "", place.port or 5432) as running:
        yield running


async def _sends(worker: Worker, double: Double, mails: int = 200) -> None:
    """Wait until so many more mails are accepted."""
    enough = double.ledger.total + mails
    await worker.until(lambda: double.ledger.total >= enough, 90)


async def _all_is_well(stack: Stack, worker: Worker, double: Double, mails: int) -> None:
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.all_sent(mails)


def _stayed_alive(pulse: Pulse) -> None:
    assert pulse.statuses["/healthz"] == {200}


def _told_of_kafka(worker: Worker) -> None:
    """One line when it goes, one when it is back; the first outage may be too short for any."""
    told = [line["event"] for line in worker.lines() if line.get("event") in KAFKA]
    assert told in ([*KAFKA], [*KAFKA, *KAFKA])


async def test_kafka_is_killed_and_comes_back(
    mortal_kafka: Kafka, database: str, tmp_path: Path, double: Double
) -> None:
    """Back at once, and a second time only after a minute: 0 lost, 0 twice, never unhealthy."""
    providers = {"postmark": double.options}
    async with deployed(mortal_kafka, database, tmp_path, providers) as stack:
        worker = await stack.worker().start().ready(60)
        async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
            await _sends(worker, double)
            for outage in (0, LONG):
                await asyncio.to_thread(mortal_kafka.kill)
                await asyncio.sleep(outage)
                await asyncio.to_thread(mortal_kafka.start)
                await _sends(worker, double)
            await worker.ready(60)
        _stayed_alive(pulse)
        assert 503 in pulse.statuses["/readyz"]
        await _all_is_well(stack, worker, double, len(upstream.orders))
        _told_of_kafka(worker)


async def test_postgres_is_killed_and_comes_back(
    kafka: Kafka, mortal_postgres: Postgres, tmp_path: Path, double: Double
) -> None:
    """Nothing is sent while it is away, readiness says so, and then all goes on."""
    dsn = await mortal_postgres.database()
    await guard.migrate(dsn, environment="test")
    async with deployed(kafka, dsn, tmp_path, {"postmark": double.options}) as stack:
        worker = await stack.worker().start().ready(60)
        async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
            await _sends(worker, double)
            for outage in (0, SHORT):
                await asyncio.to_thread(mortal_postgres.kill)
                await asyncio.sleep(outage)
                await asyncio.to_thread(mortal_postgres.start)
                await _sends(worker, double)
            await worker.ready(60)
        _stayed_alive(pulse)
        assert 503 in pulse.statuses["/readyz"]
        await _all_is_well(stack, worker, double, len(upstream.orders))
        assert worker.said("postgres unreachable")
        assert worker.said("postgres is back")


async def test_lines_to_postgres_stall_and_break(
    stack: Stack, proxy: Proxy, double: Double
) -> None:
    """Silence, cuts, and answers that are lost after the COMMIT: each is settled by looking."""
    place = urlsplit(stack.dsn)
    through = urlunsplit(place._replace(netloc=f"sendonce@127.0.0.1:{proxy.port}"))
    worker = await stack.worker(postgres={"dsn": through}).start().ready(60)
    async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
        await _sends(worker, double)
        for _ in range(3):
            proxy.withheld.clear()
            proxy.mode = Mode.WITHHOLD
            await asyncio.wait_for(proxy.withheld.wait(), 60)
            proxy.mode = Mode.PASS
            proxy.reset()
            await _sends(worker, double, 50)
        await worker.ready(60)
        proxy.mode = Mode.STALL
        await worker.until(lambda: worker.said("postgres unreachable", error="TimeoutError"), 60)
        proxy.mode = Mode.PASS
        proxy.reset()
        await _sends(worker, double)
        await worker.ready(60)
    _stayed_alive(pulse)
    await _all_is_well(stack, worker, double, len(upstream.orders))
