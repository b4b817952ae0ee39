"""A schema registry that is away: nothing is lost, nothing set aside, and it goes on by itself."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.doubles.engine import Double
from tests.doubles.registry import RegistryDouble
from tests.whole.commands import answer, run
from tests.whole.events import receipt, receipts, reset
from tests.whole.stack import PARTITIONS, Stack
from tests.whole.worker import Worker

ORDERS = 60
RESETS = 10


def avro_of(value: Any, name: str = "v") -> Any:
    """Return an Avro schema for a JSON value; lists are of one kind, and all may be absent."""
    match value:
        case dict():
            fields = [{"name": n, "type": avro_of(v, f"{name}_{n}")} for n, v in value.items()]
            return {"type": "record", "name": name, "fields": fields}
        case list():
            return {"type": "array", "items": avro_of(value[0], name) if value else "string"}
        case bool():
            return "boolean"
        case int():
            return "long"
        case _:
            return "string"


def data(order: str) -> dict[str, Any]:
    """A receipt's data, its lines all alike: Avro has no members that come and go by themselves."""
    found: dict[str, Any] = orjson.loads(receipt(order))["data"]
    found["order"]["items"] = [_plain(line) for line in found["order"]["items"]]
    return {**found, "type": "order.receipt"}


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    return {name: line[name] for name in ("name", "quantity", "unit_price", "total")}


def avro_receipts(registry: RegistryDouble, topic: str, count: int) -> list[bytes]:
    """Written by Confluent's own serializer, which registers the schema. It blocks."""
    schema = orjson.dumps(avro_of(data("A-0"))).decode()
    place = SerializationContext(topic, MessageField.VALUE)
    with SchemaRegistryClient({"url": registry.url}) as client:
        write = AvroSerializer(client, schema)
        values = [write(data(f"A-{number}"), place) for number in range(count)]
    assert all(isinstance(value, bytes) for value in values)
    return values


async def told_away(worker: Worker) -> bool:
    status, body = await worker.get("/readyz")
    return status == 503 and "registry" in body and worker.said("registry away", alert="registry")


async def test_an_outage_of_the_registry_loses_and_sets_aside_nothing(
    stack: Stack, double: Double
) -> None:
    """Not even across a stop: what waits is called back, and delivered again."""
    async with RegistryDouble() as registry:
        stack.settings["registry"] = {"url": registry.url}
        values = await asyncio.to_thread(avro_receipts, registry, stack.orders, ORDERS)
        registry.away = True
        first = await stack.worker().start().ready(60)
        for number, value in enumerate(values):
            await stack.publish(stack.orders, [value], partition=number % PARTITIONS)
        await registry.asked_in_vain.wait()
        await first.until(lambda: told_away(first), 30)
        await stack.publish(stack.accounts, [reset(f"R-{n}") for n in range(RESETS)])
        await stack.finished(stack.accounts)  # other topics go on
        assert await first.stop() == 0
        second = stack.worker().start()
        await second.until(lambda: told_away(second), 60)
        assert await stack.letters() == {}
        assert await stack.behind(stack.orders) == ORDERS
        registry.away = False
        await stack.finished(stack.orders)
        await second.until(lambda: second.answers("/readyz"), 30)
        assert await stack.letters() == {}
        assert await stack.statuses() == {"sent": ORDERS + RESETS}
        assert len(double.ledger.accepted) == ORDERS + RESETS
        assert double.ledger.accepted_twice == []
        await second.until(lambda: second.said("registry back"), 30)


async def test_what_is_known_needs_no_registry(stack: Stack, double: Double) -> None:
    """Schemas that were seen, and plain JSON beside them, go on while it is away."""
    async with RegistryDouble() as registry:
        stack.settings["registry"] = {"url": registry.url}
        values = await asyncio.to_thread(avro_receipts, registry, stack.orders, 20)
        worker = await stack.worker().start().ready(60)
        await stack.publish(stack.orders, values[:10])
        await stack.finished(stack.orders)
        registry.away = True
        await stack.publish(stack.orders, [*values[10:], *receipts(10, "J")])
        await stack.finished(stack.orders)
        assert (await worker.get("/readyz"))[0] == 200
        assert await stack.statuses() == {"sent": 30}
        assert not registry.asked_in_vain.is_set()
        assert double.ledger.accepted_twice == []


async def test_an_id_that_the_registry_does_not_know_is_told_and_can_go_again(
    stack: Stack, double: Double
) -> None:
    """Foretold by what the registry says by then; while it is away, nothing is foretold of it."""
    value = b"\0\0\0\0\1" + receipt("A-1")
    async with RegistryDouble() as registry:
        stack.settings["registry"] = {"url": registry.url}
        worker = await stack.worker().start().ready(60)
        await stack.publish(stack.orders, [value, receipt("after")])
        await stack.finished(stack.orders)
        [letter] = await stack.sql("SELECT reason, detail FROM dead_letter")
        told = (letter["reason"], letter["detail"])
        assert told == ("unsupported_format", "the registry has no schema 1")
        assert await stack.statuses() == {"sent": 1}
        assert await _foretold(stack) == "still_bad"
        registry.register({"type": "object"}, "JSON")
        registry.away = True
        assert await _foretold(stack) == "waits"
        registry.away = False
        assert await _foretold(stack) == "send"
        await worker.stop()
        second = await stack.worker().start().ready(60)  # the first one believes for a minute
        signed = ("--by", "ada", "--why", "registered by now")
        replayed = await run(stack, "replay", "--reason", "unsupported_format", "--go", *signed)
        assert replayed.code == 0, replayed.errors
        await second.until(lambda: double.ledger.total == 2, 60)


async def _foretold(stack: Stack) -> str:
    told = answer(await run(stack, "replay", "--reason", "unsupported_format", "--json"))
    [forecast] = told["forecast"]
    return str(forecast["what"])
