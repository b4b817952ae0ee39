"""The registry's client: asked once, waited for without end, and believed in its own words only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from consumer.model import NoSchema, Schema
from consumer.registry import Access, Registry
from tests.doubles.registry import RegistryDouble

LINE = {"type": "record", "name": "shop.Line", "fields": [{"name": "title", "type": "string"}]}
ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [{"name": "lines", "type": {"type": "array", "items": "shop.Line"}}],
}


def client(double: RegistryDouble, **options: object) -> Registry:
    quick: dict[str, object] = {"first_pause": 0.01, "longest_pause": 0.02, **options}
    return Registry(Access(double.url, **quick))  # type: ignore[arg-type]  # any of its options


@pytest.fixture
async def double() -> AsyncIterator[RegistryDouble]:
    async with RegistryDouble() as running:
        yield running


@pytest.fixture
async def registry(double: RegistryDouble) -> AsyncIterator[Registry]:
    made = client(double)
    yield made
    await made.aclose()


async def test_a_schema_is_asked_for_once_whoever_needs_it(
    double: RegistryDouble, registry: Registry
) -> None:
    number = double.register(LINE)
    await asyncio.gather(*(registry.learn(number) for _ in range(20)))
    await registry.learn(number)
    found = registry.known[number]
    assert isinstance(found, Schema)
    assert (found.kind, found.references) == ("AVRO", ())
    assert double.asked == {f"/schemas/ids/{number}": 1}


async def test_what_a_schema_refers_to_comes_along_in_order(
    double: RegistryDouble, registry: Registry
) -> None:
    double.register(LINE, subject="shop.Line")
    refers = [{"name": "shop.Line", "subject": "shop.Line", "version": 1}]
    number = double.register(ORDER, subject="orders-value", references=refers)
    await registry.learn(number)
    found = registry.known[number]
    assert isinstance(found, Schema)
    assert len(found.references) == 1
    assert "shop.Line" in found.references[0]


@pytest.mark.parametrize("status", [301, 401, 403, 404, 429, 500, 503])
async def test_an_outage_is_waited_for_and_told(
    double: RegistryDouble, registry: Registry, status: int
) -> None:
    """Whatever stands in front of the registry may answer: only its own words count."""
    number = double.register(LINE)
    double.away, double.status_away = True, status
    waiting = asyncio.create_task(registry.learn(number))
    for _ in range(5):
        double.asked_in_vain.clear()
        await double.asked_in_vain.wait()
    assert not waiting.done()
    assert registry.known == {}
    assert registry.away_since is not None
    assert registry.away > 0
    double.away = False
    await waiting
    assert isinstance(registry.known[number], Schema)
    assert registry.away == 0.0


async def test_nobody_listens(double: RegistryDouble) -> None:
    unheard = RegistryDouble()
    async with unheard:
        pass
    registry = client(unheard)
    assert not await registry.glance(1)
    assert registry.away_since is not None
    await registry.aclose()


async def test_a_glance_waits_for_one_answer_and_no_longer(
    double: RegistryDouble, registry: Registry
) -> None:
    number = double.register(LINE)
    double.away = True
    assert not await registry.glance(number)
    double.away = False
    await registry.learn(number)
    assert await registry.glance(number)


async def test_who_is_called_back_does_not_end_the_question(
    double: RegistryDouble, registry: Registry
) -> None:
    number = double.register(LINE)
    double.away = True
    first, second = (asyncio.create_task(registry.learn(number)) for _ in range(2))
    await double.asked_in_vain.wait()
    first.cancel()
    double.away = False
    await second
    assert first.cancelled()
    assert number in registry.known


async def test_no_such_schema_is_believed_when_it_comes_again(
    double: RegistryDouble, registry: Registry
) -> None:
    await registry.learn(77)
    assert registry.known[77] == NoSchema()
    assert double.asked["/schemas/ids/77"] == 3


async def test_a_schema_that_was_registered_a_moment_ago_is_waited_for(
    double: RegistryDouble, registry: Registry
) -> None:
    """A follower says "not found" of what its leader knows."""
    waiting = asyncio.create_task(registry.learn(1))
    await double.asked_once.wait()
    number = double.register(LINE)
    await waiting
    assert isinstance(registry.known[number], Schema)


async def test_the_login_is_asked_for_at_each_request() -> None:
    logins = iter([("key", "old"), ("key", "new")])
    async with RegistryDouble(login=("key", "new")) as double:
        number = double.register(LINE)
        registry = client(double, login=lambda: next(logins, ("key", "new")))
        await registry.learn(number)
        assert isinstance(registry.known[number], Schema)
        assert double.asked[f"/schemas/ids/{number}"] == 2
        await registry.aclose()
