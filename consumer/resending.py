"""One more mail for an event: what it would be, and under which key. Pure.

The next version's key is made by `send_key` with the former key in the entity's place, since a
record may have brought its key along, and with a version name that no mail.toml may use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from consumer.keys import RESENT, send_key
from consumer.model import Bad, Mail, Message, NeedsSchema, Skipped, SkipRule

if TYPE_CHECKING:
    from consumer.making import Making
    from consumer.model import Record, Row


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person is shown before it is done. `mail.key`: the new one."""

    row: Row
    record: Record
    mail: Mail
    message: Message


def next_key(row: Row, recipient: str) -> str:
    """Return the key of the version after this row's; the same for everybody who asks."""
    return send_key(row.mail_type, row.key, recipient, f"{RESENT} {row.version + 1}")


def propose(making: Making, row: Row, record: Record) -> Proposal | str:
    """Say what the next mail for this row's record would be, or why none can be made."""
    mail = making.read(record)
    match mail:
        case Bad(reason, detail):
            return f"its record cannot be read as a mail any more ({reason}: {detail})"
        case Skipped(rule):
            return f"its record is skipped by the rule {rule}"
        case NeedsSchema():
            return "the schema of its record is not known: the registry does not answer"
        case Mail():
            return _proposed(making, row, record, mail)


def _proposed(making: Making, row: Row, record: Record, mail: Mail) -> Proposal | str:
    if mail.type.name != row.mail_type:
        return f"its record makes a {mail.type.name} by now, no {row.mail_type}"
    again = replace(mail, key=next_key(row, mail.recipient))
    ready = making.ready(again, replay=True, claimed=True)
    match ready:
        case SkipRule():
            return f"the rule {ready} holds it back"
        case Bad(reason, detail):
            return f"its mail cannot be made ({reason}: {detail})"
        case Message():
            return Proposal(row, record, again, ready)
