"""What providers tell by themselves, in any order and any number of times.

Whatever they tell proves that they took the mail. Of a mail that is plainly `sent` nearly all of it
is one statement a batch; what settles a row, or is bad news, meets the row under its lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from consumer.guard import history, links, proofs
from consumer.guard.history import Entry
from consumer.guard.proofs import OnDouble
from consumer.guard.rows import COLUMNS, lock, row_of
from consumer.model import Evidence, MarkSent, News, Notice, Row, Status

log = structlog.get_logger(__name__)

BAD_NEWS = (News.BOUNCED, News.COMPLAINED)

# The worst that was told stays. Only of the mail that the row names: not of a second one.
RANKS = "ARRAY['accepted', 'delivered', 'bounced', 'complained']"
DELIVERY = f"""
    UPDATE sent_message m SET delivery = u.news, delivery_at = coalesce(u.at, now())
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
           WITH ORDINALITY AS u(k, p, id, news, at, n)
     WHERE m.idempotency_key = u.k AND m.status = 'sent' AND m.provider = u.p
       AND m.provider_message_id = u.id
       AND coalesce(array_position({RANKS}, m.delivery), 0) < array_position({RANKS}, u.news)
    RETURNING u.n
"""  # noqa: S608 - the ranks are ours

NEWS_DUE = f"""
    SELECT h.id, h.at AS told_at, h.event, h.provider AS told_by, h.provider_message_id AS told_of,
           h.detail, {COLUMNS}
      FROM history h JOIN sent_message m ON m.idempotency_key = h.idempotency_key
     WHERE h.due AND h.event IN ('bounced', 'complained') ORDER BY h.id LIMIT $1
"""  # noqa: S608 - the columns are ours
NEWS_TOLD = "UPDATE history SET due = false WHERE id = $1"


@dataclass(frozen=True, slots=True)
class NewsDue:
    """A bounce or a complaint of which upstream has not heard. `row.coordinates`: of its record."""

    id: int
    row: Row
    news: News
    at: datetime  # when it was heard
    provider: str
    provider_message_id: str
    detail: str


async def hear(connection: Any, notices: Sequence[Notice], on_double: OnDouble) -> list[bool]:
    """Take each notice, in order; False: no such key. Safe to repeat as a whole."""
    plain = [n for n, notice in enumerate(notices) if notice.news not in BAD_NEWS]
    heard = await _of_sent(connection, notices, plain)
    return [
        n in heard or await _under_lock(connection, notice, on_double)
        for n, notice in enumerate(notices)
    ]


async def _of_sent(connection: Any, notices: Sequence[Notice], plain: list[int]) -> set[int]:
    """Write what is told of mails that are plainly sent; return which notices are done."""
    if not plain:
        return set()
    plain.sort(key=lambda n: notices[n].key)
    columns = zip(*(_values(notices[n]) for n in plain), strict=True)
    done = await connection.fetch(DELIVERY, *columns)
    return {plain[values["n"] - 1] for values in done}


async def _under_lock(connection: Any, notice: Notice, on_double: OnDouble) -> bool:
    proof = MarkSent(notice.provider, notice.provider_message_id, Evidence.WEBHOOK)
    async with connection.transaction():
        row = (await lock(connection, [notice.key])).get(notice.key)
        if row is None:
            return False
        await proofs.take(connection, row, proof, notice.news, on_double)
        await connection.fetch(DELIVERY, *([value] for value in _values(notice)))
        if notice.news in BAD_NEWS:
            await history.write_once(connection, _line(row, notice))
    if row.status is not Status.SENT:
        log.info(
            "settled", key=row.key, by=proof.by, provider=proof.provider,
            provider_message_id=proof.provider_message_id,
        )  # fmt: skip
    return True


async def news_due(connection: Any, limit: int) -> list[NewsDue]:
    found = await connection.fetch(NEWS_DUE, limit)
    return [_due(await links.placed(connection, row_of(values)), values) for values in found]


async def news_told(connection: Any, news_id: int) -> None:
    await connection.execute(NEWS_TOLD, news_id)


def _due(row: Row, values: Any) -> NewsDue:
    return NewsDue(
        values["id"], row, News(values["event"]), values["told_at"], values["told_by"],
        values["told_of"], values["detail"],
    )  # fmt: skip


def _line(row: Row, notice: Notice) -> Entry:
    return Entry(
        row.key, notice.news, notice.provider, row.account, row.epoch, row.attempts,
        notice.provider_message_id, notice.detail, due=True,
    )  # fmt: skip


def _values(notice: Notice) -> tuple[Any, ...]:
    return notice.key, notice.provider, notice.provider_message_id, notice.news, notice.at
