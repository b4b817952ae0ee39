"""Forecasts for a command: what foretells is built of the service's own parts, none is started."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from consumer import parts, providers, settings
from consumer.cli import letters
from consumer.forecast import Forecast, Foresight, What
from consumer.guard import DeadLetter
from consumer.guard.desk import Desk
from consumer.leave import Rehearsal
from consumer.providers.fetching import Fetcher

_FILE = 5.0  # seconds that a mail's files are waited for, and those of all mails together
_FILES = 6.0
_TOGETHER = 50  # letters in memory at once; each may hold ten megabytes


def foresight(found: settings.Settings) -> Foresight:
    reading = parts.reading(lambda: found, parts.open_catalogue(found))
    known = {name: providers.build(name, options) for name, options in found.providers.items()}
    rehearsal = Rehearsal(Fetcher(timeout=_FILE), _FILES)
    return Foresight(reading, known, found.retry.max_attempts, rehearsal)


async def foretold(desk: Desk, eyes: Foresight, ids: Sequence[int]) -> list[Forecast]:
    """Foretell letters, in this order; behind each other's, those whose record is not to be had."""
    found: list[Forecast] = []
    async with aclosing(eyes.reading), aclosing(eyes.rehearsal.fetcher):
        for first in range(0, len(ids), _TOGETHER):
            some = await desk.letters(ids[first : first + _TOGETHER])
            found += await eyes.of(desk, [one for one in some if letters.gone(one) is None])
            found += [_bare(one, why) for one in some if (why := letters.gone(one)) is not None]
    return found


def _bare(letter: DeadLetter, why: str) -> Forecast:
    return Forecast(letter, What.STILL_BAD, why, letter.idempotency_key)
