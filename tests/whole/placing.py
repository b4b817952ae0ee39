"""Records put where a test wants them: each case of a list between two neighbours."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.whole.bad_records import BY_TOPIC, Case, without_type
from tests.whole.events import receipt
from tests.whole.stack import PARTITIONS, Stack
from tests.whole.worker import Worker

GLANCE = 0.1  # seconds between two looks
SESSION = "4s"  # a new group is made sure of over some heartbeats, which follow from it
LARGE = {"max.message.bytes": str(16 << 20)}


@dataclass(frozen=True, slots=True)
class Placed:
    """A case in its topic; before and after it stands a receipt."""

    case: Case
    partition: int
    offset: int
    timestamp: int


async def large_topic(stack: Stack, unique: Callable[[str], str]) -> None:
    """Take a topic that a record of 10 MB fits into, and a folder for the type named like it."""
    stack.orders = unique("large")
    await stack.kafka.create_topic(stack.orders, PARTITIONS, LARGE)
    schemas = stack.write_catalogue()
    shutil.copytree(schemas / "order.receipt", schemas / BY_TOPIC)
    for example in (schemas / BY_TOPIC / "examples").iterdir():
        example.unlink()
    (schemas / BY_TOPIC / "examples/one.json").write_bytes(without_type("one"))
    file = schemas / BY_TOPIC / "mail.toml"
    file.write_text(f'on = "{stack.orders}"\n{file.read_text()}')
    stack.settings[f'topics."{stack.orders}"'] = {"ignore": ["order.viewed"], "fuse": False}


async def publish(stack: Stack, cases: Sequence[Case]) -> list[Placed]:
    """Publish each case between two receipts, in one partition after the other."""
    now = int(time.time() * 1000)
    placed = []
    async with stack._producer() as producer:
        for number, case in enumerate(cases):
            partition = number % PARTITIONS
            await producer.send(stack.orders, receipt(f"before-{number}"), partition=partition)
            stamp = now - int(case.age * 1000) if case.timestamp is None else case.timestamp
            sending = await producer.send(
                stack.orders, case.value, case.key, partition, stamp, list(case.headers)
            )
            await producer.send(stack.orders, receipt(f"after-{number}"), partition=partition)
            placed.append((case, sending, stamp))
        return [Placed(c, (d := await s).partition, d.offset, at) for c, s, at in placed]


async def work(stack: Stack, *topics: str) -> Worker:
    """Start a worker; return it when all that stands in the topics (default: orders) is done."""
    stack.settings["kafka"] = {"session_timeout": SESSION, **stack.settings.get("kafka", {})}
    worker = await stack.worker().start().ready(60)
    await stack.finished(*(topics or [stack.orders]))
    return worker


def case_at(placed: Sequence[Placed], at: Any) -> Case:
    """Return the case that stands there; a neighbour is none."""
    found = [p for p in placed if (p.partition, p.offset) == (at["partition"], at["offset"])]
    return found[0].case if found else Case("a neighbour", b"", "")


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    """Wait for what cannot call us: a row of the database, a record of a topic."""
    end = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        await asyncio.sleep(GLANCE)
