"""`sendonce publish`: events of files to their topic, as an upstream team would publish them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Annotated

import typer

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.asked import decoding
from consumer.cli.events import ReadEvent, readings, why_not
from consumer.cli.key import HeaderOption
from consumer.intake.cluster import Cluster
from consumer.intake.kafka import Producer, check_topics
from consumer.model import Mail
from consumer.rules import Rules

_PATIENCE = 30.0  # seconds for all acknowledgements


@app.command()
def publish(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Events, or examples: order.receipt/plain."),
    ],
    topic: Annotated[
        str | None, typer.Option(help="To this topic.", show_default="the mail type's own")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The records' key.", show_default="the entity's id")
    ] = None,
    header: HeaderOption = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", metavar="", help="Each file is one value, readable or not."),
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Publish events to Kafka, and say what the service will make of each.

    A line each: its place in the file, its topic, and under `expect` what will come of it: a mail
    of the type that is named there, or why none will; then its key, for `sendonce show KEY`.

    Examples:
      sendonce publish order.receipt
      sendonce publish broken.bin --raw --topic orders
    """
    found = settings.load(config)
    catalogue, read = parts.open_catalogue(found), decoding(config)
    events = [
        reading
        for file in files
        for reading in readings(catalogue, file, topic=topic, headers=header, raw=raw, read=read)
    ]
    asyncio.run(_send(parts.cluster(lambda: found.kafka), events, key))
    _tell(events, parts.rules(found), as_json=as_json)


async def _send(cluster: Cluster, events: Sequence[ReadEvent], key: str | None) -> None:
    await _look_for(cluster, {event.record.topic for event in events})
    producer = Producer(cluster)
    await producer.open()
    try:
        async with asyncio.timeout(_PATIENCE), asyncio.TaskGroup() as tasks:
            for event in events:
                tasks.create_task(_send_one(producer, event, key))
    except TimeoutError:
        raise StopError(f"Kafka did not acknowledge within {_PATIENCE:g} s") from None
    except ExceptionGroup as errors:
        raise StopError(f"Kafka refused: {errors.exceptions[0]}") from None
    finally:
        await producer.close(budget=5.0)


async def _look_for(cluster: Cluster, topics: Collection[str]) -> None:
    """A producer waits for a topic that is not there, in the hope that somebody makes it."""
    partitions = await check_topics(cluster, topics)
    if lacking := [topic for topic in sorted(topics) if not partitions.get(topic)]:
        raise StopError(f"topic {', '.join(lacking)} does not exist")


async def _send_one(producer: Producer, event: ReadEvent, key: str | None) -> None:
    own = event.mail.entity_id if isinstance(event.mail, Mail) else None
    chosen = key if key is not None else own
    headers = [(name, value or b"") for name, value in event.record.headers]
    await producer.send(
        event.record.topic,
        chosen.encode("utf-8", "surrogateescape") if chosen else None,
        event.record.value,
        headers,
    )


def _expected(event: ReadEvent, rules: Rules) -> str:
    """Say what the service will make of an event: a mail's type, or why there will be none."""
    if not isinstance(event.mail, Mail):
        return why_not(event.mail)
    rule = rules.holds_back(event.mail)
    return f"will be skipped: {rule}" if rule else event.mail.type.name


def _tell(events: Sequence[ReadEvent], rules: Rules, *, as_json: bool) -> None:
    facts = [
        {
            "place": event.place,
            "topic": event.record.topic,
            "idempotency_key": event.mail.key if isinstance(event.mail, Mail) else None,
            "expect": _expected(event, rules),
        }
        for event in events
    ]
    if as_json:
        printing.document(facts)
        return
    columns = ("place", "topic", "expect", "idempotency_key")
    printing.table(columns, ([fact[name] for name in columns] for fact in facts))
