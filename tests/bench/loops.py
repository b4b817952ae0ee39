"""The two lines that the guarded one is held against.

bare        the same POST, of a body made beforehand: what the HTTP client alone costs
unguarded   decode, check, render, POST: the same work, and no promise
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import aiohttp

from consumer.events import decode
from consumer.model import Accepted, Event, Lease, Mail, Message, Prepared, Record
from tests.bench.measure import Cost, costing

if TYPE_CHECKING:
    from consumer.catalogue import Catalogue
    from consumer.providers import Provider

T = TypeVar("T")

WARM_UP = 500  # mails before the clock starts, in every loop: connections, plans, caches


async def bare(bodies: Sequence[Prepared], mails: int, concurrency: int) -> Cost:
    """POST prebuilt bodies in turn: the client as its manual shows it, nothing tuned."""
    headers = {**bodies[0].headers, "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(number: int) -> None:
            one = bodies[number % len(bodies)]
            async with session.post(one.url, data=one.body, headers=headers) as answer:
                assert (await answer.json())["MessageID"]

        await each(range(WARM_UP), post, concurrency)
        with costing(mails) as cost:
            await each(range(mails), post, concurrency)
    return cost


async def unguarded(
    records: Sequence[Record], catalogue: Catalogue, provider: Provider, concurrency: int
) -> Cost:
    """Everything but Kafka and the guard, with the service's own parts."""

    async def send(record: Record) -> None:
        prepared = provider.prepare(rendered(record, catalogue))
        assert isinstance(prepared, Prepared)
        answer = await provider.attempt(prepared, _FOR_EVER)
        assert isinstance(answer, Accepted), answer

    await provider.open()
    try:
        await each(records[:WARM_UP], send, concurrency)
        with costing(len(records) - WARM_UP) as cost:
            await each(records[WARM_UP:], send, concurrency)
    finally:
        await provider.close()
    return cost


_FOR_EVER = Lease("", 1, "", math.inf)


def rendered(record: Record, catalogue: Catalogue) -> Message:
    event = decode(record)
    assert isinstance(event, Event), event
    mail = catalogue.read(record, event)
    assert isinstance(mail, Mail), mail
    message = catalogue.render(mail)
    assert isinstance(message, Message), message
    return message


async def each(items: Sequence[T], do: Callable[[T], Awaitable[None]], concurrency: int) -> None:
    """Do it for every item, so many at a time."""
    queue = iter(items)

    async def worker() -> None:
        for item in queue:
            await do(item)

    async with asyncio.TaskGroup() as group:
        for _ in itertools.repeat(None, concurrency):
            group.create_task(worker())
