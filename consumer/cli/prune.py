"""`sendonce prune`: what workers delete in the course of hours, while none of them runs."""

from __future__ import annotations

from typing import Final

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk, patiently
from consumer.guard.desk import Desk

_PATIENCE: Final = 120.0  # seconds for one batch
_THEIRS: Final = """\
{n} workers are running: they delete it by themselves, by the retention that they started with; \
nothing was done"""


@app.command()
def prune(config: ConfigOption = DEFAULT_CONFIG, as_json: JsonOption = False) -> None:
    """Delete rows and closed letters that are past guard.retention, while no worker runs.

    Workers do so by themselves, in small batches: this is for a database that was never tidied.
    Refused while one runs, and where a mail type's max_age reaches behind the retention: what is
    forgotten could be mailed again. What an open or parked letter names stays, however old.

    Examples:
      sendonce prune
    """
    found = settings.load(config)
    parts.open_catalogue(found)  # it holds every max_age against the retention
    gone = at_desk(config, lambda desk: _all(desk, found.guard.retention), patience=None)
    if as_json:
        printing.document({"deleted": gone})
    else:
        days = found.guard.retention / 86400
        printing.say(f"deleted {gone} rows and letters that are older than {days:g} days")


async def _all(desk: Desk, retention: float) -> int:
    if workers := await patiently(desk.workers()):
        raise StopError(_THEIRS.format(n=workers))
    gone = 0
    while some := await patiently(desk.prune(retention), _PATIENCE):
        gone += some
    return gone
