"""Decoding for a command: a schema that it takes is asked for on the way, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TypeAlias

from consumer import parts, settings
from consumer.cli.app import StopError
from consumer.cli.catalogues import is_configured
from consumer.events import decode
from consumer.model import Bad, Event, NeedsSchema, Record, Skipped
from consumer.registry import Registry

Decode: TypeAlias = Callable[[Record], Event | Skipped | Bad]


def decoding(config: Path, alone: Path | None = None) -> Decode:
    """Return what decodes as the service would; `alone`: as for `open_catalogue`."""
    if alone is not None or not is_configured(config):
        return decode
    found = settings.load(config)
    registry = parts.registry(lambda: found)
    decoder = parts.decoder(found, registry)

    def read(record: Record) -> Event | Skipped | Bad:
        event = decoder.decode(record)
        if isinstance(event, NeedsSchema) and registry is not None:
            asyncio.run(_ask(registry, event.id))
            event = decoder.decode(record)
        if isinstance(event, NeedsSchema):
            raise StopError(f"the schema registry does not answer, and schema {event.id} is needed")
        return event

    return read


async def _ask(registry: Registry, number: int) -> None:
    async with aclosing(registry):
        await registry.glance(number)
