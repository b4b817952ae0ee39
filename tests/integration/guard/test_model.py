"""The simulated guard (`tests/simulation/store.py`) is the real one, as far as anyone can see.

Random steps are taken on both: the same answers, and after each step the same rows, the same
letters, the same history. What differs is printed as the shortest walk that still shows it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from random import Random

import asyncpg
import pytest

from consumer.guard import Guard, leases, parking, terms
from consumer.guard.desk import Desk
from consumer.model import MarkSent, Row
from tests.integration.guard.steps import Step, draw
from tests.integration.guard.tables import compare
from tests.integration.guard.twins import CLOCK, LEASE, MismatchError, Twins, owner_of

WALKS = int(os.environ.get("SENDONCE_MODEL_WALKS", "20"))
STEPS = 120  # a walk; each begins on empty tables
SHRINK = 40.0  # seconds, in search of a shorter walk


@pytest.fixture
async def twins(database: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Twins]:
    sql = await asyncpg.connect(database)
    await sql.execute(CLOCK)
    await sql.close()
    sql = await asyncpg.connect(database)
    doubles: list[tuple[Row, MarkSent]] = []
    guards = [await _open(database, worker, doubles) for worker in range(2)]
    desk = await Desk.open(database, environment="test")
    made = Twins(guards, desk, sql, doubles)
    for module in (terms, leases, parking):
        monkeypatch.setattr(module, "elapsed", lambda: made.store.now, raising=False)
    yield made
    await desk.close()
    for guard in guards:
        await guard.close()
    await sql.close()


async def _open(dsn: str, worker: int, doubles: list[tuple[Row, MarkSent]]) -> Guard:
    return await Guard.open(
        dsn, owner=owner_of(worker), lease=LEASE, retention=30 * 86400.0, environment="test",
        on_double=lambda row, proof: doubles.append((row, proof)),
    )  # fmt: skip


@pytest.mark.timeout(300)
async def test_both_guards_answer_and_write_the_same(twins: Twins) -> None:
    """Law: whatever is asked of the guard in whatever order, the simulated one does the same."""
    seed = int(os.environ.get("SENDONCE_MODEL_SEED") or secrets.randbits(32))
    for n in range(WALKS):
        random = Random(f"{seed} {n}")
        walk = [draw(random) for _ in range(STEPS)]
        if await _differs(twins, walk) is not None:
            pytest.fail(f"seed {seed}, walk {n}\n{await _shortest(twins, walk)}", pytrace=False)


async def _differs(twins: Twins, walk: Sequence[Step]) -> list[str] | None:
    """Walk on empty tables; None: the same all along, else what was done and what differs."""
    await twins.reset()
    told = []
    for step in walk:
        try:
            told.append(f"{step.name}: {await step.run(twins)}")
            await compare(twins)
        except (MismatchError, AssertionError) as difference:
            return [*told, f"{step}", str(difference)]
    return None


async def _shortest(twins: Twins, walk: list[Step]) -> str:
    """Leave out what can be left out: halves, quarters .. single steps."""
    best, size, until = walk, len(walk) // 2, time.monotonic() + SHRINK
    while size and time.monotonic() < until:
        at = 0
        while at < len(best) and time.monotonic() < until:
            shorter = best[:at] + best[at + size :]
            if await _differs(twins, shorter) is not None:
                best = shorter
            else:
                at += size
        size //= 2
    return "\n".join(await _differs(twins, best) or ["differs no more"])
