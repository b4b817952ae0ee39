"""Rows of another sender's mails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consumer.guard.imports import Past, Stands
from consumer.model import IMPORTED, Status
from tests.simulation.store_columns import Message
from tests.simulation.store_tables import Database


def bring_in(db: Database, mails: Sequence[Past], token: str) -> Mapping[str, Stands]:
    for mail in mails:
        db.insert(_row(mail, token, db.now))
    return {mail.key: _stands(db.rows[mail.key], token) for mail in mails}


def _stands(row: Message, token: str) -> Stands:
    imported = row.catalogue == IMPORTED
    return Stands(row.status, imported, imported and row.token == token)


def _row(mail: Past, token: str, now: float) -> Message:
    return Message(
        mail.key, mail.mail_type, mail.recipient, Status.SENT, "", IMPORTED, mail.provider, "",
        0, 0, 1, IMPORTED, token, None, None, None, None, None, now,
        provider_message_id=mail.provider_message_id, sent_at=mail.sent_at.timestamp(),
    )  # fmt: skip
