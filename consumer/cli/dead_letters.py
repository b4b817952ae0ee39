"""`sendonce dead-letters`: the records that no mail came of, and why."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from consumer.cli import letters, printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, Group, JsonOption, StopError, app
from consumer.cli.guarded import ask, at_desk
from consumer.cli.replay import BY_ID
from consumer.guard import DeadLetter, Guard, LetterStatus, Query
from consumer.guard.operators import Selection
from consumer.model import Reason

_COLUMNS = ("id", "status", "reason", "event_type", "record", "times", "last", "detail")
_HIGHEST: Final = 2**63 - 1  # of an id: what its column can hold
_MOST: Final = 10_000  # of a page


@dataclass(frozen=True, slots=True)
class Page:
    letters: list[DeadLetter]
    more: bool  # older ones match as well


dead_letters = typer.Typer(
    cls=Group,
    help="Records that no mail came of: list them, show one.",
    no_args_is_help=True,
)
app.add_typer(dead_letters, name="dead-letters")


@dead_letters.command("list")
def list_letters(
    reason: Annotated[list[Reason] | None, typer.Option(help="Only these; repeatable.")] = None,
    status: Annotated[
        list[LetterStatus] | None,
        typer.Option(help="Only these; repeatable. Default: open and parked.", show_default=False),
    ] = None,
    mail_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only this mail type.")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Only of this topic.")] = None,
    before: Annotated[
        int | None, typer.Option(max=_HIGHEST, help="Only older than this id: next page.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=_MOST, help="At most so many.")] = 100,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """List dead letters, newest first; without options, those that are not closed.

    open: a person is needed. parked: the service itself is at it. Where more match than --limit,
    stderr says how many, and which --before shows the next page.

    Examples:
      sendonce dead-letters list --reason invalid
      sendonce dead-letters list --json
    """
    statuses = status or [LetterStatus.OPEN, LetterStatus.PARKED]
    query = Query(statuses, reason, mail_type, topic, before, limit)
    page = ask(config, lambda guard: _listed(guard, query, whole=as_json))
    if as_json:
        printing.document([letters.facts(letter) for letter in page.letters])
    else:
        printing.table(_COLUMNS, map(_row, page.letters))
        if printing.is_terminal():
            printing.say(_hint(page.letters), "dim")
    if page.more:
        printing.remark(_left_out(page, query, config))


async def _listed(guard: Guard, query: Query, *, whole: bool) -> Page:
    """Ask for the letters; `whole`: with their records, one by one, since each may be large."""
    found = await guard.dead_letters(replace(query, limit=query.limit + 1))
    shown = found[: query.limit]
    if whole:
        shown = [await guard.dead_letter(letter.id) or letter for letter in shown]
    return Page(shown, more=len(found) > query.limit)


def _left_out(page: Page, query: Query, config: Path) -> str:
    """Say what the page does not show, and how to see it: nobody may take it for all there is."""
    chosen = Selection(
        None, query.statuses or tuple(LetterStatus), query.reasons, query.mail_type, query.topic
    )
    number, shown = at_desk(config, lambda desk: desk.count(chosen)), len(page.letters)
    which = f"{shown} older than {query.before}" if query.before else f"the newest {shown}"
    return (
        f"{number} dead letters match, and only {which} are shown; the next page:"
        f" --before {page.letters[-1].id}; more at once: --limit, up to {_MOST}"
    )


def _row(letter: DeadLetter) -> tuple[object, ...]:
    return (
        letter.id,
        letter.status,
        letter.reason,
        letter.event_type,
        letters.place(letter.coordinates),
        letter.failures,
        f"{letter.last_failed_at:%Y-%m-%d %H:%M:%S}",
        letter.detail,
    )


def _hint(found: list[DeadLetter]) -> str:
    return f"one of them: sendonce dead-letters show {found[0].id}" if found else "no dead letters"


@dead_letters.command("show")
def show_letter(
    letter_id: Annotated[int, typer.Argument(metavar="ID", min=1, max=_HIGHEST)],
    raw: Annotated[
        bool,
        typer.Option("--raw", metavar="", help="Write the record's value, byte for byte."),
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Show one dead letter. The record's value is a person's data: shown only by --raw and --json.

    What is sealed is opened with the keys of [privacy]; what is wiped is gone.

    Examples:
      sendonce dead-letters show 42
      sendonce dead-letters show 42 --raw > value.json
    """
    letter = ask(config, lambda guard: guard.dead_letter(letter_id))
    if letter is None:
        raise StopError(f"there is no dead letter {letter_id}")
    if raw:
        _write_value(letter)
    elif as_json:
        printing.document(letters.facts(letter))
    else:
        _tell(letter)


def _write_value(letter: DeadLetter) -> None:
    if (why := letters.gone(letter)) is not None:
        raise StopError(f"dead letter {letter.id}: {why}")
    if letter.record is None or letter.record.value is None:
        raise StopError(f"the record of dead letter {letter.id} has no value")
    sys.stdout.buffer.write(letter.record.value)
    sys.stdout.buffer.flush()


def _tell(letter: DeadLetter) -> None:
    kept = None if letters.gone(letter) else letter.record
    printing.say(f"Dead letter {letter.id}: {letter.reason}, {letter.status}", "bold")
    printing.pairs(
        [
            ("detail", letter.detail),
            ("mail type", letter.event_type),
            ("key", letter.idempotency_key),
            ("record", letters.place(letter.coordinates)),
            ("failures", f"{letter.failures}, last {letter.last_failed_at.isoformat()}"),
            ("first", letter.first_failed_at.isoformat()),
            ("next check", letter.next_check_at and letter.next_check_at.isoformat()),
            ("note", letter.note),
            ("sealed under", letter.sealed),
            ("record", letters.gone(letter)),
            ("value", kept and _size(kept.value)),
            ("headers", kept and (", ".join(name for name, _ in kept.headers) or None)),
        ]
    )
    if kept is not None and kept.value is not None:
        printing.say(f"The value itself: sendonce dead-letters show {letter.id} --raw", "dim")
    if kept is not None and letter.status in BY_ID:
        printing.say(f"What it would become now: sendonce replay {letter.id}", "dim")


def _size(value: bytes | None) -> str:
    return "none (a tombstone)" if value is None else f"{len(value)} bytes"
