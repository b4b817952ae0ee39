"""Forecasts for a command: what foretells is built of the service's own parts, none is started."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from consumer import parts, providers, settings
from consumer.forecast import Forecast, Foresight
from consumer.guard.desk import Desk

_TOGETHER = 50  # letters in memory at once; each may hold ten megabytes


def foresight(found: settings.Settings) -> Foresight:
    reading = parts.reading(lambda: found, parts.open_catalogue(found))
    known = {name: providers.build(name, options) for name, options in found.providers.items()}
    return Foresight(reading, known, found.retry.max_attempts)


async def foretold(desk: Desk, eyes: Foresight, ids: Sequence[int]) -> list[Forecast]:
    """Foretell letters, in this order."""
    found: list[Forecast] = []
    async with aclosing(eyes.reading):
        for first in range(0, len(ids), _TOGETHER):
            some = await desk.letters(ids[first : first + _TOGETHER])
            found += await eyes.of(desk, some)
    return found
