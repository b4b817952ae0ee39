"""Editions of the catalogue's folders, by digest: what open rows are made with again.

Written before a worker sends with one, and said to be in use as long as one does. A row is named by
its digest for as long as it lives, so an edition outlives the last worker that used it by the rows'
own retention, and by whatever of its rows is still open.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from consumer.guard.lanes import Lanes
from consumer.model import Edition

KEEP = """
    INSERT INTO catalogue_version (digest, mail_type, fingerprints, snapshot)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[])
     ORDER BY 1
    ON CONFLICT (digest) DO UPDATE SET last_seen_at = now()
"""
FIND = """
    SELECT digest, mail_type, fingerprints, snapshot FROM catalogue_version WHERE digest = $1
"""
# Rows are pruned so long after their claim, which an edition in use cannot miss by a day. An open
# row that is older has a letter that is open, or parked.
PRUNE = """
    DELETE FROM catalogue_version v
     WHERE v.last_seen_at < now() - $1::interval - interval '1 day'
       AND NOT EXISTS (SELECT FROM dead_letter d
                         JOIN sent_message m ON m.idempotency_key = d.idempotency_key
                        WHERE d.status IN ('open', 'parked') AND m.catalogue = v.digest)
"""


class Shelf:
    """The editions that this deployment works with, and worked with lately."""

    def __init__(self, lanes: Lanes, retention: float) -> None:
        self._lanes = lanes
        self._retention = timedelta(seconds=retention)

    async def keep(self, editions: Sequence[Edition]) -> None:
        """Write what is not there, and say that all of them are in use."""
        rows = [(e.digest, e.mail_type, e.fingerprints, e.snapshot) for e in editions]
        columns = [list(column) for column in zip(*rows, strict=True)]
        await self._lanes.run(lambda c: c.execute(KEEP, *columns))

    async def edition(self, digest: str) -> Edition | None:
        """Return an edition; None: it was never kept, or no row can name it any more."""
        return await self._lanes.run(lambda c: find(c, digest))

    async def prune(self) -> None:
        """Delete what no row can name any more."""
        await self._lanes.run(lambda c: c.execute(PRUNE, self._retention))


async def find(connection: Any, digest: str) -> Edition | None:
    found = await connection.fetchrow(FIND, digest)
    return None if found is None else Edition(*found.values())
