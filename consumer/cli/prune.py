"""`sendonce prune`: what the workers delete in the course of hours, at once."""

from __future__ import annotations

import asyncio
from typing import Final

from consumer import settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, app
from consumer.cli.guarded import ask, patiently
from consumer.guard import Guard

_IDLE: Final = 3  # batches of nothing in a row: one may only mean that a worker is at it
_PAUSE: Final = 0.1  # seconds between them


@app.command()
def prune(config: ConfigOption = DEFAULT_CONFIG, as_json: JsonOption = False) -> None:
    """Delete rows and closed letters that are past guard.retention, as the workers do by the hour.

    For a database that was never tidied, or a retention that was shortened. Rows that are open or
    named by an open or parked letter stay, however old.

    Examples:
      sendonce prune
    """
    days = settings.load(config).guard.retention / 86400
    gone = ask(config, _all, patience=None)
    if as_json:
        printing.document({"deleted": gone})
    else:
        printing.say(f"deleted {gone} rows and letters that are older than {days:g} days")


async def _all(guard: Guard) -> int:
    gone, idle = 0, 0
    while idle < _IDLE:
        some = await patiently(guard.prune())
        gone, idle = gone + some, 0 if some else idle + 1
        if idle:
            await asyncio.sleep(_PAUSE)
    return gone
