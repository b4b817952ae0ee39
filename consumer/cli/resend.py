"""`sendonce resend`: one more mail for an event, because a person asks for it."""

from __future__ import annotations

import asyncio
import secrets
import sys
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk
from consumer.cli.masking import masked
from consumer.cli.parked import second
from consumer.cli.show import NO_ROW, KeyArgument, RevealOption, known_key
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.guard import DeadLetter, LetterStatus
from consumer.guard.desk import Desk
from consumer.guard.operators import NotDone
from consumer.guard.resends import Resend, Resent
from consumer.intake.kafka import Reader, RecordGoneError
from consumer.model import IN_FLIGHT, Coordinates, Record, Row, Status
from consumer.resending import Proposal, propose


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be sent again. `kept`: its record, where a dead letter has it."""

    row: Row
    kept: Record | None
    next_look: datetime | None  # when evidence of the former mail is looked for; None: it is not


_GONE = """\
the record of {key} is in no dead letter, and Kafka has it no more ({why}): publish the event \
again, with a header idempotency-key of its own"""
_NO_RULE = "publish the event again, unless a rule skipped it: it would once more"


@app.command()
def resend(
    key: KeyArgument,
    by: ByOption = None,
    why: WhyOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", metavar="", help="Do not ask: the mail was looked at.")
    ] = False,
    reveal: RevealOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Send the mail of a key once more, as its next version: a second mail on purpose.

    Shows the mail and asks. A row that is unknown or failed becomes `discarded`, one that is sent
    stays so; the new mail has a key of its own. What is still being sent is refused. The record is
    read from its dead letter, else from Kafka. The workers send it, so one has to be running.

    Examples:
      sendonce resend 0f3c... --by ada --why "customer never got it"
      sendonce resend 0f3c... --by ada --why "customer never got it" --yes --json
    """
    key, signed = known_key(key), note(by, why, "resend")
    found = settings.load(config)
    standing = at_desk(config, lambda desk: _standing(desk, key))
    row = standing.row
    record = standing.kept or _from_kafka(found, row)
    proposal = asyncio.run(_proposed(found, row, record))
    if isinstance(proposal, str):
        raise StopError(f"{key} cannot be sent again: {proposal}")
    if not as_json:
        _show(proposal, standing.next_look, reveal=reveal)
    if not yes:
        _confirm(proposal)
    wish = Resend(row, proposal.mail, record, signed, secrets.token_hex(8))
    result = at_desk(config, lambda desk: desk.resend(wish))
    if isinstance(result, NotDone):
        raise StopError(result.why)
    if as_json:
        printing.document(_facts(proposal, result, standing.next_look, signed, reveal=reveal))
    else:
        printing.say(f"Due now as {result.key} (version {result.version}): the workers send it.")
        printing.say(f"Follow it: sendonce show {result.key}", "dim")


async def _standing(desk: Desk, key: str) -> Standing:
    row = (await desk.rows([key])).get(key)
    if row is None:
        raise StopError(f"{NO_ROW.format(key=key)}\n{_NO_RULE}")
    if (why := await desk.forgotten(key)) is not None:
        raise StopError(why)
    if row.status in IN_FLIGHT:
        raise StopError(f"{key} is {row.status}: it is still being sent, so no second one is made")
    if row.coordinates is None:
        raise StopError(await _moved(desk, key))
    letter = await desk.letter_at(row.coordinates, row.mail_type)
    record = None if letter is None else letter.record
    kept = record if record is not None and record.value is not None else None
    return Standing(row, kept, _next_look(row, letter))


def _next_look(row: Row, letter: DeadLetter | None) -> datetime | None:
    looked_for = row.status is Status.UNKNOWN and letter and letter.status is LetterStatus.PARKED
    return letter.next_check_at if letter and looked_for else None


async def _moved(desk: Desk, key: str) -> str:
    newest = (await desk.family(key))[-1]
    if newest == key:
        return (
            f"{key} has no record of its own: publish the event again, with a header"
            " idempotency-key of its own"
        )
    return f"{key} was made again as {newest} already: look at that one, or resend it"


def _from_kafka(found: settings.Settings, row: Row) -> Record:
    assert row.coordinates is not None, "refused before"
    try:
        return asyncio.run(_read(found, row.coordinates))
    except RecordGoneError as gone:
        raise StopError(_GONE.format(key=row.key, why=gone)) from None


async def _read(found: settings.Settings, at: Coordinates) -> Record:
    reader = Reader(parts.cluster(lambda: found.kafka))
    try:
        return await reader.read(at)
    finally:
        await reader.close()


async def _proposed(found: settings.Settings, row: Row, record: Record) -> Proposal | str:
    async with aclosing(parts.reading(lambda: found, parts.open_catalogue(found))) as reading:
        await reading.glance(record)  # its schema may have to be asked for
        return propose(reading.making, row, record)


def _show(proposal: Proposal, next_look: datetime | None, *, reveal: bool) -> None:
    message, row = proposal.message, proposal.row
    hidden = proposal.mail.type.private and not reveal
    printing.say(f"{row.mail_type}, version {row.version + 1}", "bold")
    printing.pairs(
        [
            ("to", message.to.email if reveal else masked(message.to.email)),
            ("subject", "(sensitive: --reveal shows it)" if hidden else message.subject),
            ("key", proposal.mail.key),
            ("instead of", f"{row.key}, which is {row.status}{_after(row)}"),
        ]
    )
    printing.say()
    for line in () if hidden else message.text.splitlines():
        printing.say(f"  {line}".rstrip())
    printing.say()
    if next_look is not None:
        looks = f"the service is still looking (next at {second(next_look)})"
        printing.say(f"{looks}; a second mail may be the result", "bold")


def _after(row: Row) -> str:
    becomes = row.status in (Status.UNKNOWN, Status.FAILED)
    return " and becomes discarded" if becomes else " and stays so"


def _confirm(proposal: Proposal) -> None:
    if not sys.stdin.isatty():
        raise StopError("nobody can be asked here: look at the mail, then say --yes", code=2)
    doubt = " It may have been sent before." if proposal.row.in_doubt else ""
    if not typer.confirm(f"Send this mail?{doubt}"):
        raise StopError("nothing was done")


def _facts(
    proposal: Proposal, result: Resent, next_look: datetime | None, signed: str, *, reveal: bool
) -> dict[str, object]:
    email = proposal.message.to.email
    return {
        "idempotency_key": result.key,
        "version": result.version,
        "resend_of": proposal.row.key,
        "was": proposal.row.status,
        "next_look": next_look,
        "event_type": proposal.row.mail_type,
        "recipient": email if reveal else masked(email),
        "note": signed,
    }
