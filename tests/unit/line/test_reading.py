"""Records that need a schema: waited for by who must, left for later by who can come again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.events import Decoder
from consumer.intake.hold import Hold
from consumer.line import Line
from consumer.making import Making
from consumer.model import Bad, Event, NeedsSchema, NoSchema, Reason, Record, Schema, Skipped
from consumer.model import SkipRule as Rule
from consumer.reading import Reading
from consumer.registry import Registry
from consumer.resolver import Resolver

RECORD = Record("orders", 0, 7, 1, None, b'\0\0\0\0\1{"a":1}')
IGNORED = Skipped(Rule.IGNORED, "orders")


class AwayRegistry:
    """Answers when it is told to; `asked`: somebody waits."""

    def __init__(self) -> None:
        self.known: dict[int, Schema | NoSchema] = {}
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()

    async def learn(self, number: int) -> None:
        self.asked.set()
        await self.answers.wait()
        self.known[number] = Schema("JSON", "{}")

    async def glance(self, number: int) -> bool:
        self.asked.set()
        return number in self.known

    async def aclose(self) -> None: ...


class Catalogue:
    """Passes over whatever it is given, so that the line has nothing more to do."""

    def read(self, _record: Record, _event: Event) -> Skipped:
        return IGNORED


@pytest.fixture
def registry() -> AwayRegistry:
    return AwayRegistry()


@pytest.fixture
def reading(registry: AwayRegistry) -> Reading:
    making = Making(cast("Any", Catalogue()), cast("Any", None), Decoder(registry.known))
    return Reading(making, cast("Registry", registry))


async def test_reading_waits_as_long_as_it_takes(reading: Reading, registry: AwayRegistry) -> None:
    task = asyncio.create_task(reading.read(RECORD))
    await registry.asked.wait()
    assert not task.done()
    registry.answers.set()
    assert await task == IGNORED


async def test_a_glance_says_that_it_is_not_known_yet(
    reading: Reading, registry: AwayRegistry
) -> None:
    assert await reading.glance(RECORD) == NeedsSchema(1)
    registry.known[1] = Schema("JSON", "{}")
    assert await reading.glance(RECORD) == IGNORED


async def test_what_needs_no_schema_asks_nobody(reading: Reading, registry: AwayRegistry) -> None:
    plain = Record("orders", 0, 7, 1, None, b'{"a":1}')
    assert await reading.read(plain) == await reading.glance(plain) == IGNORED
    assert not registry.asked.is_set()


async def test_an_answer_that_was_forgotten_again_is_asked_for_anew(
    reading: Reading, registry: AwayRegistry
) -> None:
    registry.known[1] = NoSchema()
    found = await reading.read(RECORD)
    assert isinstance(found, Bad)
    assert found.reason is Reason.UNSUPPORTED_FORMAT


async def test_a_record_that_waits_stands_aside_and_can_be_called_back(
    reading: Reading, registry: AwayRegistry
) -> None:
    """Its place in hand is free meanwhile, and no letter is written."""
    standing: list[int] = []
    hold = Hold(stand=standing.append)
    task = asyncio.create_task(_line(reading).handle(RECORD, hold))
    hold.bind(task)
    await registry.asked.wait()
    assert standing == [1]
    hold.recall(hard=False)
    assert (await task).result == "let_go"
    assert standing == [1, -1]


async def test_the_resolver_leaves_a_letter_for_later(
    reading: Reading, registry: AwayRegistry
) -> None:
    """It is due again in a minute; nothing is written about it."""
    line = SimpleNamespace(reading=reading)
    nobody = cast("Any", None)
    resolver = Resolver(nobody, cast("Any", line), nobody, nobody, nobody)
    due = SimpleNamespace(letter=None, row=None, record=RECORD, replay=True)
    assert await resolver._step(cast("Any", due), Hold()) is None
    assert registry.asked.is_set()


def _line(reading: Reading) -> Line:
    anything = cast("Any", _Anything())
    return Line(reading, anything, anything, anything)


class _Anything:
    """Stands for what a record that waits never comes to."""

    def __getattr__(self, _: str) -> Any:
        return _Anything()

    def __call__(self, *_: object, **__: object) -> Any:
        return _Anything()

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
