"""`sendonce shadow-report`: what a service in shadow mode would have done, and how it differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from consumer import parts, settings
from consumer.catalogue.values import parse_duration
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk, patiently
from consumer.cli.lists import BadLine, mails, read_list
from consumer.guard.desk import Desk
from consumer.guard.shadows import START
from consumer.listed import PastReader
from consumer.shadow.comparing import Comparison, Difference, Mailed, Notes, compare, listed

_PAGE: Final = 5_000  # notes read at once
_COLUMNS: Final = ("mail type", "would be", "", "records")
_KINDS: Final = {
    "missing": "in the list, and would not be sent",
    "more": "would be sent, and are not in the list",
    "other_times": "in both, at other times",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A list as read: its mails by key, and its bad lines."""

    mails: dict[str, Mailed]
    bad: list[BadLine]


@app.command("shadow-report")
def shadow_report(
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What the other sender sent: a list as for `sendonce import`."
        ),
    ] = None,
    imported: Annotated[
        bool, typer.Option("--imported", metavar="", help="Against what was imported instead.")
    ] = False,
    apart: Annotated[
        str, typer.Option(metavar="DURATION", help="What times of both may differ by.")
    ] = "10m",
    limit: Annotated[
        int, typer.Option(min=0, help="Differences of each kind that are named; all are counted.")
    ] = 20,
    clear: Annotated[
        bool, typer.Option("--clear", metavar="", help="Delete all notes; report nothing.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Say what a service in shadow mode (safety.mode) would have done with what it read.

    With a list of the other sender, or what was imported of it: which mails are missing, which are
    more, and which are at other times, in the time that both cover. Exit code 1 where they differ.
    No addresses.

    Examples:
      sendonce shadow-report
      sendonce shadow-report --against sent.csv --apart 1h
      sendonce shadow-report --imported
    """
    if clear:
        gone = at_desk(config, _cleared, patience=None)
        _print_cleared(gone, as_json=as_json)
        return
    tolerance = _duration(apart)
    theirs = _theirs(config, against, imported=imported)
    notes = at_desk(config, _notes, patience=None)
    found = None if theirs is None else compare(notes, theirs.mails, tolerance)
    bad = [] if theirs is None else theirs.bad
    if as_json:
        printing.document(_facts(notes, found, bad, limit))
    else:
        _tell(notes, found, bad, limit)
    if bad or (found is not None and not found.same):
        raise typer.Exit(1)


async def _cleared(desk: Desk) -> int:
    gone = 0
    while some := await patiently(desk.clear_notes()):
        gone += some
    return gone


def _duration(text: str) -> timedelta:
    try:
        return timedelta(seconds=parse_duration(text))
    except ValueError as error:
        raise StopError(f"--apart {error}", code=2) from None


async def _notes(desk: Desk) -> Notes:
    notes, after = Notes(), START
    while page := await patiently(desk.notes(after, _PAGE)):
        for note in page:
            notes.add(note)
        after = page[-1].at
    return notes


def _theirs(config: Path, file: Path | None, *, imported: bool) -> Listed | None:
    if not imported:
        return None if file is None else _read(config, file)
    if file is not None:
        raise StopError("--against and --imported: name one of them", code=2)
    return at_desk(config, _imported, patience=None)


async def _imported(desk: Desk) -> Listed:
    found, after = Listed({}, []), ""
    while page := await patiently(desk.imported(after, _PAGE)):
        found.mails.update((past.key, listed(past, "import")) for past in page)
        after = page[-1].key
    return found


def _read(config: Path, file: Path) -> Listed:
    reading = PastReader(parts.open_catalogue(settings.load(config)), datetime.now(UTC))
    found = Listed({}, [])
    for place, past in mails(read_list(file), reading, found.bad):
        found.mails.setdefault(past.key, listed(past, place))
    return found


# ── What is told


def _print_cleared(gone: int, *, as_json: bool) -> None:
    if as_json:
        printing.document({"cleared": gone})
    else:
        printing.say(f"deleted the notes of {gone} records")


def _kinds(found: Comparison) -> dict[str, list[Difference]]:
    return {kind: getattr(found, kind) for kind in _KINDS}


def _facts(
    notes: Notes, found: Comparison | None, bad: Sequence[BadLine], limit: int
) -> dict[str, object]:
    facts: dict[str, object] = {
        "records": notes.counts.total(),
        "mails": len(notes.mails),
        "counts": [
            {"mail_type": mail_type, "would_be": would, "detail": detail, "records": number}
            for (mail_type, would, detail), number in sorted(notes.counts.items())
        ],
        "conflicts": [_mail(mail) for mail in notes.drifts[:limit]],
    }
    if found is not None:
        window = found.window
        facts["compared"] = {
            "from": window and window.begin,
            "to": window and window.end,
            "both": found.both,
            "outside": found.outside,
            **{kind: len(all_) for kind, all_ in _kinds(found).items()},
        }
        facts["differences"] = {
            kind: [{**_mail(one.mail), "why": one.why} for one in all_[:limit]]
            for kind, all_ in _kinds(found).items()
        }
        facts["problems"] = [asdict(line) for line in bad]
    return facts


def _mail(mail: Mailed) -> dict[str, object]:
    return {
        "mail_type": mail.mail_type,
        "idempotency_key": mail.key,
        "at": mail.at,
        "place": mail.place,
    }


def _tell(notes: Notes, found: Comparison | None, bad: Sequence[BadLine], limit: int) -> None:
    if not notes.counts:
        printing.say('nothing was noted yet: run the service with safety.mode = "shadow"')
    else:
        rows = [(*what, number) for what, number in sorted(notes.counts.items())]
        printing.table(_COLUMNS, rows)
    for mail in notes.drifts[:limit]:
        printing.say(f"conflict: {mail.place} has key {mail.key}, and says another mail", "red")
    if found is not None:
        _tell_compared(found, limit)
    for line in bad:
        printing.say(f"{line.place}: {line.reason}", "red")


def _tell_compared(found: Comparison, limit: int) -> None:
    printing.say()
    if found.window is None:
        printing.say("the list and the notes have no time in common", "bold")
        return
    begin, end = (at.isoformat(timespec="seconds") for at in (found.window.begin, found.window.end))
    printing.say(f"both cover {begin} to {end}", "bold")
    rows: list[tuple[int, str]] = [(found.both, "in both, at the same times")]
    rows += [(len(all_), _KINDS[kind]) for kind, all_ in _kinds(found).items()]
    rows.append((found.outside, "outside of this time, or at its edges: not compared"))
    printing.table(("mails", ""), rows)
    for kind, all_ in _kinds(found).items():
        for one in all_[:limit]:
            mail = one.mail
            printing.say(f"{kind}: {mail.mail_type} {mail.key} ({mail.place}): {one.why}")
        if len(all_) > limit:
            printing.say(f"{kind}: and {len(all_) - limit} more; see --limit", "dim")
