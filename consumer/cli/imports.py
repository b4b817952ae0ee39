"""`sendonce import`: the mails that another sender sent, so that none of them is sent again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.codes import STOPPED
from consumer.cli.guarded import at_desk, patiently
from consumer.cli.lists import BadLine, Line, mails, read_list
from consumer.guard.desk import Desk
from consumer.guard.imports import Past, Stands
from consumer.listed import PastReader
from consumer.model import Status

_BATCH: Final = 2_000  # lines; one statement of some ten milliseconds
_SHOWN: Final = 100  # keys that are named of rows that stood already
_ALSO_SENT: Final = """\
{n} mails of this list stand as sent by this service: both senders have mailed them. Look at one: \
sendonce show {key}"""
_INTERRUPTED: Final = """\
stopped before the end of {file}: {done}; run it again: it passes over what is in, and goes on"""


@dataclass(slots=True)
class Tally:
    """`standing`: rows of the service that were left alone, by state, with their keys."""

    new: int = 0
    known: int = 0  # imported before: by an earlier run, or by a line above
    pointless: int = 0
    standing: dict[Status, list[str]] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)

    @property
    def lines(self) -> int:
        standing = sum(map(len, self.standing.values()))
        return self.new + self.known + standing + self.pointless + len(self.bad)

    def count(self, batch: Sequence[Past], found: Mapping[str, Stands]) -> None:
        """Count a batch by what stands under its keys; a key that is free would be new."""
        met: set[str] = set()
        for mail in batch:
            stands = found.get(mail.key)
            if mail.key in met:
                self.known += 1
            elif stands is None or stands.new:
                self.new += 1
            elif stands.imported:
                self.known += 1
            else:
                self.standing.setdefault(stands.status, []).append(mail.key)
            met.add(mail.key)


@app.command("import")
def import_list(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with a header line, or JSON lines.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Say what would be done; write nothing.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Take over what another sender has sent: each line becomes a `sent` row.

    Columns (or members): mail_type, entity, recipient, time, provider_id and, if you like,
    provider. An entity of several parts: columns entity_1, entity_2, or a JSON list. Events of
    these mails are duplicates from then on. A second run changes nothing, and goes on where Ctrl-C
    ended the first; what this service has claimed is left alone. Bad lines are named, and all
    others are imported (exit code 1).

    Examples:
      sendonce import sent.csv --dry-run
      sendonce import sent.csv
    """
    found = settings.load(config)
    reading = PastReader(parts.open_catalogue(found), datetime.now(UTC))
    tally, interrupted = Tally(), False

    async def bring_in(desk: Desk) -> None:
        with _progress(file, shown=not as_json) as read:
            for batch in _batches(read, reading, found.guard.retention, tally):
                tally.count(batch, await patiently(_ask(desk, batch, dry_run=dry_run)))

    try:
        at_desk(config, bring_in, patience=None)
    except KeyboardInterrupt:  # each batch is in as a whole, or not at all
        interrupted = True
    if as_json:
        printing.document(_facts(file, tally, dry_run=dry_run, interrupted=interrupted))
    else:
        _tell(tally, dry_run=dry_run)
    if interrupted:
        raise StopError(_INTERRUPTED.format(file=file, done=_done(tally, dry_run)), STOPPED)
    if tally.bad:
        raise typer.Exit(1)


async def _ask(desk: Desk, batch: Sequence[Past], *, dry_run: bool) -> Mapping[str, Stands]:
    if dry_run:
        return await desk.stands([mail.key for mail in batch])
    return await desk.bring_in(batch, secrets.token_hex(8))


def _batches(
    lines: Iterator[Line], reading: PastReader, retention: float, tally: Tally
) -> Iterator[list[Past]]:
    pasts = _worth(mails(lines, reading, tally.bad), reading, retention, tally)
    while batch := list(islice(pasts, _BATCH)):
        yield batch


def _worth(
    pasts: Iterator[tuple[str, Past]], reading: PastReader, retention: float, tally: Tally
) -> Iterator[Past]:
    for _, past in pasts:
        if reading.is_pointless(past, retention):
            tally.pointless += 1
        else:
            yield past


@contextmanager
def _progress(file: Path, *, shown: bool) -> Iterator[Iterator[Line]]:
    """Yield the lines of a file; on a terminal a bar says how far they are read."""
    lines = read_list(file)
    if not file.is_file():  # a pipe has no size
        yield lines
        return
    with printing.progress(str(file), file.stat().st_size, shown=shown) as advance:

        def counted() -> Iterator[Line]:
            for line in lines:
                advance(line.bytes)
                yield line

        yield counted()


# ── What is told


def _done(tally: Tally, dry_run: bool) -> str:
    return "nothing was written" if dry_run else f"at least {tally.new} mails are in by this run"


def _facts(file: Path, tally: Tally, *, dry_run: bool, interrupted: bool) -> dict[str, object]:
    standing = {status.value: len(keys) for status, keys in sorted(tally.standing.items())}
    named = [key for _, keys in sorted(tally.standing.items()) for key in keys]
    return {
        "file": str(file),
        "dry_run": dry_run,
        "interrupted": interrupted,
        "lines": tally.lines,
        "new": tally.new,
        "known": tally.known,
        "standing": standing,
        "standing_keys": named[:_SHOWN],
        "pointless": tally.pointless,
        "bad": len(tally.bad),
        "problems": [asdict(line) for line in tally.bad],
    }


def _tell(tally: Tally, *, dry_run: bool) -> None:
    for line in tally.bad:
        printing.say(f"{line.place}: {line.reason}", "red")
    rows: list[tuple[int, str]] = [
        (tally.new, "would be imported" if dry_run else "imported"),
        (tally.known, "imported already, or by a line above"),
        *((len(keys), f"left alone: {status} here") for status, keys in tally.standing.items()),
        (tally.pointless, "older than guard.retention: their events are too old to be sent"),
        (len(tally.bad), "bad lines, named above"),
    ]
    printing.table(("lines", "what"), [row for row in rows if row[0]] or [(0, "no lines")])
    if sent := tally.standing.get(Status.SENT):
        printing.say(_ALSO_SENT.format(n=len(sent), key=sent[0]), "bold")
