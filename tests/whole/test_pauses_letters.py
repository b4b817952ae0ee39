"""The resolver obeys a pause: rounds, replays and repeats stay due, and go on when it is lifted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consumer.guard.pauses import Pause, Scope, Target
from consumer.pauses import Pauses
from tests.whole.letters import between_rounds, mended
from tests.whole.operating import Office, office

LOOKS = 3.0  # seconds: some looks of the resolver at what is due
DUE = "UPDATE dead_letter SET status = 'parked', next_check_at = now()"
STANDS = "SELECT status, failures FROM dead_letter ORDER BY id"


@pytest.fixture
async def at(database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with office(database, tmp_path) as made:
        yield made


def _pauses(at: Office) -> Pauses:
    return at.line._takeoff.pilot.routes.pauses


@pytest.mark.parametrize(
    "target",
    [Target(Scope.ALL), Target(Scope.TYPE, "order.receipt"), Target(Scope.PROVIDER, "file")],
    ids=str,
)
async def test_nothing_is_sent_while_it_stands(at: Office, target: Target) -> None:
    """Neither an attempt nor a failure is counted meanwhile: the letters stand as they stood."""
    await between_rounds(at, "A-1")
    await mended(at, "A-2")
    _pauses(at).take([Pause(target, "ada", "x", datetime.now(UTC))])
    await at.desk._lane.run(lambda c: c.execute(DUE))
    stood = await at.desk._lane.run(lambda c: c.fetch(STANDS))
    await _look(at)
    assert at.sent() == set()
    assert await at.desk._lane.run(lambda c: c.fetch(STANDS)) == stood

    _pauses(at).take([])
    await at.desk._lane.run(lambda c: c.execute(DUE))
    await at.settle()
    assert len(at.sent()) == 2


async def _look(at: Office) -> None:
    resolver = at.resolvers()
    running = asyncio.ensure_future(resolver.run())
    await asyncio.sleep(LOOKS)
    resolver.stop()
    await running
