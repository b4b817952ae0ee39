"""What happened under a key, where it was not plainly accepted. Written with what it tells.

A line that repeats one of the last few is counted on it: a mail that waited three thousand times
for a slow provider has a short history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumer.model import Row

LONGEST_DETAIL = 500  # characters
WORD = re.compile(r"\S+")

WRITE = """
    WITH u AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[],
                             $7::text[], $8::text[], $9::bool[])
               WITH ORDINALITY AS u(k, ev, p, a, ep, n, id, d, due, ord)
    ), same AS MATERIALIZED (
        SELECT u.ord, u.due, max(h.id) AS id
          FROM u CROSS JOIN LATERAL (
              SELECT l.* FROM history l WHERE l.idempotency_key = u.k ORDER BY l.id DESC LIMIT 4
          ) h
         WHERE (h.event, h.provider, h.attempt, h.provider_message_id, h.detail)
               IS NOT DISTINCT FROM (u.ev, u.p, u.n, u.id, u.d)
         GROUP BY u.ord, u.due
    ), counted AS (
        UPDATE history h SET times = h.times + 1, last_at = now(), due = h.due OR same.due
          FROM same WHERE h.id = same.id
    )
    INSERT INTO history (idempotency_key, event, provider, account, epoch, attempt,
                         provider_message_id, detail, due)
    SELECT u.k, u.ev, u.p, u.a, u.ep, u.n, u.id, u.d, u.due
      FROM u WHERE NOT EXISTS (SELECT FROM same WHERE same.ord = u.ord) ORDER BY u.ord
"""

ONCE = """
    INSERT INTO history (idempotency_key, event, provider, account, epoch, attempt,
                         provider_message_id, detail, due)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT DO NOTHING RETURNING id
"""

OF_KEY = """
    SELECT h.at, h.last_at, h.times, h.event, h.provider, h.account, h.epoch, h.attempt,
           h.provider_message_id, h.detail, h.due
      FROM history h WHERE h.idempotency_key = $1 ORDER BY h.id
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line to be written. `due`: upstream has to hear of it, and nobody else will tell."""

    key: str
    event: str
    provider: str | None
    account: str | None
    epoch: int
    attempt: int
    provider_message_id: str | None = None
    detail: str = ""
    due: bool = False


@dataclass(frozen=True, slots=True)
class Happening:
    """A line as read back: what happened `times` times, first at `at` and last at `last_at`."""

    at: datetime
    last_at: datetime
    times: int
    event: str
    provider: str | None
    account: str | None
    epoch: int
    attempt: int
    provider_message_id: str | None
    detail: str
    due: bool


def entry(row: Row, event: str, detail: str = "") -> Entry:
    """A line about `row` as it stood when it happened."""
    return Entry(row.key, event, row.provider, row.account, row.epoch, row.attempts, detail=detail)


async def write(connection: Any, entries: Iterable[Entry]) -> None:
    """Write lines, at most one a key, inside the transaction of what they tell."""
    rows = [_values(line) for line in entries]
    if rows:
        await connection.execute(WRITE, *zip(*rows, strict=True))


async def write_once(connection: Any, line: Entry) -> bool:
    """Write what counts once by (key, event, provider, its id); False: it stands already."""
    return await connection.fetchval(ONCE, *_values(line)) is not None


async def read(connection: Any, key: str) -> tuple[Happening, ...]:
    return tuple(Happening(**values) for values in await connection.fetch(OF_KEY, key))


def plain(text: str) -> str:
    """Cut and clean a text: no address (providers quote them), and nothing Postgres refuses."""
    masked = WORD.sub(_masked, text)[:LONGEST_DETAIL]  # cut first, half an address would stay
    return masked.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _masked(word: re.Match[str]) -> str:
    return "(address)" if "@" in word[0] else word[0]


def _values(line: Entry) -> tuple[Any, ...]:
    return (
        line.key, line.event, line.provider, line.account, line.epoch, line.attempt,
        line.provider_message_id, plain(line.detail), line.due,
    )  # fmt: skip
