"""Two releases on one schema: the upgrade and the roll-back, under load."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres
from tests.whole.commands import sendonce
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.releases import at_catalogue, of_release, release_before
from tests.whole.settling import settled
from tests.whole.stack import deployed
from tests.whole.worker import Worker

RATE = 60.0  # events a second
STEP = 4.0  # seconds under load between two steps


@pytest.fixture
async def empty(postgres: Postgres) -> AsyncIterator[str]:
    """Yield a database without a table."""
    dsn = await postgres.database()
    yield dsn
    await postgres.drop(dsn)


class Fleet:
    """Two workers, exchanged one by one while upstream publishes."""

    def __init__(self, workers: list[Worker]) -> None:
        self.workers = workers

    async def roll_to(self, *worker: Worker) -> None:
        for one in worker:
            assert await self.workers.pop(0).stop() == 0
            self.workers.append(await one.start().ready(60))
            await asyncio.sleep(STEP)


@pytest.mark.timeout(400)
async def test_an_upgrade_and_its_roll_back_lose_nothing_and_send_nothing_twice(
    kafka: Kafka, empty: str, tmp_path: Path
) -> None:
    """The release before runs on its own schema, and on this one's: workers of both, one topic.

    Answers are lost all the while, and rows of either release are settled by the other.
    """
    release = release_before(tmp_path / "release")
    async with (
        Double(APIS["postmark"]()) as double,
        deployed(kafka, empty, tmp_path, {"postmark": double.options}) as stack,
    ):
        double.script.at_rates({"delay": 0.3, "drop": 0.02}, seed=5)
        older = stack.write_catalogue(source=release / "schemas", name="older")

        def before() -> Worker:
            return of_release(at_catalogue(stack, older), release)

        await _migrated_by(before())
        assert await _versions(empty) == [1, 2]
        workers = [await before().start().ready(60) for _ in range(2)]
        async with load(stack, rate=RATE) as upstream:
            fleet = Fleet(workers)
            await asyncio.sleep(STEP)
            ran = await sendonce("migrate", "--config", str(stack.config()))
            assert ran.code == 0, ran.errors
            assert (await _versions(empty))[-1] > 2
            await asyncio.sleep(STEP)
            await fleet.roll_to(stack.worker(), stack.worker())
            await fleet.roll_to(before(), before())
            await fleet.roll_to(stack.worker())
        await stack.finished(stack.orders)
        await settled(stack, double.ledger.accepted)
        assert [await worker.stop() for worker in fleet.workers] == [0, 0]

        found = await reckon(stack, double.ledger.accepted)
        found.in_order()
        assert found.statuses == {"sent": len(upstream.orders)}
        assert found.accepted == len(upstream.orders)
        assert {reason for reason, _ in found.letters} <= {"unknown"}


async def _migrated_by(worker: Worker) -> None:
    """Have the release before make its own tables."""
    worker.command = ["migrate" if word == "run" else word for word in worker.command]
    assert await worker.start().ended(60) == 0


async def _versions(dsn: str) -> list[int]:
    connection = await asyncpg.connect(dsn)
    try:
        rows = await connection.fetch("SELECT version FROM schema_version ORDER BY version")
    finally:
        await connection.close()
    return [row["version"] for row in rows]
