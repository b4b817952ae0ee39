"""Rows of mails that another sender sent before: its list, taken over as `sent`.

    INSERT .. ON CONFLICT DO NOTHING   whatever stands under a key is left alone: a claim of the
                                       service, or the same line of an earlier run
    SELECT                             what stands there now; ours are told by the batch's token,
                                       so that a repeat after a lost COMMIT counts as the first run

No coordinates: no record of Kafka is the row's own, so each is another record with its key, and a
duplicate. The digest `imported` is no folder's, so no fingerprint is compared: never a conflict.
`claimed_at` is the import's time: the row is remembered for a whole retention from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumer.model import IMPORTED, Status

INSERT = f"""
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, epoch, owner, token, provider_message_id, sent_at,
        claimed_at)
    SELECT u.k, u.e, u.r, 'sent', '', '{IMPORTED}', u.p, '', 0, 1, '{IMPORTED}', $1, u.id, u.at,
           now()
      FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
           AS u(k, e, r, p, id, at)
     ORDER BY u.k
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - the word is ours
STANDS = """
    SELECT m.idempotency_key, m.status, m.catalogue, m.token
      FROM sent_message m WHERE m.idempotency_key = ANY($1::text[])
"""

PAGE = f"""
    SELECT m.idempotency_key, m.event_type, m.recipient, m.provider, m.provider_message_id,
           m.sent_at
      FROM sent_message m
     WHERE m.idempotency_key > $1 AND m.catalogue = '{IMPORTED}' AND m.sent_at IS NOT NULL
     ORDER BY m.idempotency_key LIMIT $2
"""  # noqa: S608 - the word is ours


@dataclass(frozen=True, slots=True)
class Past:
    """A mail that was sent before. `sent_at`: aware; `provider`: a name, for people."""

    key: str
    mail_type: str
    recipient: str
    provider: str
    provider_message_id: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Stands:
    """What stands under a key. `new`: written by this very batch."""

    status: Status
    imported: bool
    new: bool = False


async def bring_in(connection: Any, mails: Sequence[Past], token: str) -> Mapping[str, Stands]:
    """Write what no row stands for yet; return what stands under each key now.

    `token`: of this batch, the same at each repeat of it.
    """
    rows = sorted(map(_values, mails))
    await connection.execute(INSERT, token, *zip(*rows, strict=True))
    return await stands(connection, [mail.key for mail in mails], token)


async def stands(
    connection: Any, keys: Collection[str], token: str | None = None
) -> Mapping[str, Stands]:
    """Return what stands under these keys; nothing for those that are free."""
    found = await connection.fetch(STANDS, list(keys))
    return {values["idempotency_key"]: _stands(values, token) for values in found}


async def page(connection: Any, after: str, limit: int) -> list[Past]:
    """Return imported mails whose keys come after this one; "" is before all of them."""
    return [Past(*values) for values in await connection.fetch(PAGE, after, limit)]


def _stands(values: Any, token: str | None) -> Stands:
    imported = values["catalogue"] == IMPORTED
    return Stands(Status(values["status"]), imported, imported and values["token"] == token)


def _values(mail: Past) -> tuple[Any, ...]:
    return (
        mail.key, mail.mail_type, mail.recipient, mail.provider, mail.provider_message_id,
        mail.sent_at,
    )  # fmt: skip
