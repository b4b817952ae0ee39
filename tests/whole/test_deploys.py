"""Deploys while mail is in flight: no conflict, no second mail, nothing stuck."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from consumer.catalogue.against import dangers
from consumer.catalogue.folder import read_files
from tests.whole.conftest import At
from tests.whole.events import receipt
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.releases import at_catalogue, changed
from tests.whole.settling import settled, settled_by
from tests.whole.stack import Stack
from tests.whole.worker import Worker

RATE = 60.0  # events a second
STEP = 4.0  # seconds under load between two steps of the roll-out


@dataclass
class Shop:
    """Upstream with a clock of its own: an event has one time, however often it is published."""

    now: datetime
    _made: dict[str, bytes] = field(default_factory=dict)

    def event(self, order: str) -> bytes:
        if order not in self._made:
            event = orjson.loads(receipt(order)) | {"time": self.now.isoformat()}
            self._made[order] = orjson.dumps(event)
        return self._made[order]


async def _replay_all(stack: Stack, running: list[Worker], next_ones: list[Worker]) -> list[Worker]:
    """Begin again at the first record, with these workers."""
    assert [await worker.stop() for worker in running] == [0] * len(running)
    await stack.rewind(stack.orders)
    return [await worker.start().ready(60) for worker in next_ones]


@pytest.mark.timeout(400)
async def test_a_rolling_deploy_changes_context_words_and_keys_with_full_replays(at: At) -> None:
    """Law: 0 conflicts, 0 twice, 0 stuck. The provider refuses other bytes under a key it knows."""
    async with at("resend") as (stack, double):
        double.script.at_rates({"delay": 0.3, "drop": 0.02}, seed=3)
        old = stack.write_catalogue(name="old")
        since = datetime.now(UTC) - timedelta(hours=1)
        shop = Shop(since - timedelta(hours=2))
        new = changed(stack.write_catalogue(name="new"), since.isoformat())
        assert dangers(_files(old), _files(new), shop.now) == []

        workers = [await at_catalogue(stack, old).start().ready(60) for _ in range(2)]
        async with load(stack, rate=RATE, make=shop.event) as upstream:
            await asyncio.sleep(STEP)
            assert await workers.pop(0).stop() == 0
            workers.append(await at_catalogue(stack, new).start().ready(60))
            await asyncio.sleep(STEP)
            both = [at_catalogue(stack, old), at_catalogue(stack, new)]
            workers = await _replay_all(stack, workers, both)  # both sides meet all of it again
            await asyncio.sleep(STEP)
            assert await workers.pop(0).stop() == 0
            workers.append(await at_catalogue(stack, new).start().ready(60))
            shop.now = since + timedelta(minutes=1)  # the roll-out is over, by upstream's clock
            await asyncio.sleep(STEP)
            workers = await _replay_all(stack, workers, [at_catalogue(stack, new)])
            await asyncio.sleep(STEP)
        await stack.finished(stack.orders)
        await settled(stack, double.ledger.accepted)
        assert [await worker.stop() for worker in workers] == [0]

        found = await reckon(stack, double.ledger.accepted)
        found.in_order()
        assert found.statuses == {"sent": len(upstream.orders)}
        assert found.accepted == len(upstream.orders)
        assert {reason for reason, _ in found.letters} <= {"unknown"}
        assert set(await settled_by(stack)) == {"repeat"}  # each of them byte for byte
        assert await _editions(stack) == 2


def _files(folder: Path) -> dict[str, bytes]:
    return read_files(folder)


async def _editions(stack: Stack) -> int:
    rows = await stack.sql("SELECT DISTINCT catalogue FROM sent_message")
    kept = {row["digest"] for row in await stack.sql("SELECT digest FROM catalogue_version")}
    assert {row["catalogue"] for row in rows} <= kept
    return len(rows)
