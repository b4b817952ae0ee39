"""Letters of events that no catalogue knew: a worker whose catalogue does takes them by itself.

While a deploy rolls out, workers of both sides share the topics. What the old ones cannot read is
opened for a person, and is read by the new ones a moment later.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from consumer.guard import operators
from consumer.guard.lanes import Lanes
from consumer.guard.letters import DeadLetter
from consumer.guard.parking import Due, dues
from consumer.guard.privacy import Privacy
from consumer.guard.reading import LETTER, RECORD

IDS = """
    SELECT id FROM dead_letter
     WHERE status = 'open' AND reason IN ('unknown_type', 'unknown_version') AND id > $1
     ORDER BY id LIMIT $2
"""
# Parked for whoever takes it, and due for everybody should it be left.
TAKE = f"""
    UPDATE dead_letter d SET status = 'parked', next_check_at = now() + $2::interval
     WHERE d.id = ANY($1::bigint[]) AND d.status = 'open'
       AND d.reason IN ('unknown_type', 'unknown_version')
    RETURNING {LETTER}, {RECORD}
"""  # noqa: S608 - the columns are ours


class Unread:
    def __init__(self, lanes: Lanes, privacy: Privacy) -> None:
        self._lanes = lanes
        self._privacy = privacy

    async def ids(self, after: int, limit: int) -> list[int]:
        """Return ids of such letters, the oldest first, from the one `after` on."""
        found = await self._lanes.run(lambda c: c.fetch(IDS, after, limit))
        return [row["id"] for row in found]

    async def letters(self, ids: Sequence[int]) -> list[DeadLetter]:
        """Return letters with their records: ask for some at a time."""
        return await self._lanes.run(lambda c: operators.whole(c, ids, self._privacy))

    async def take(self, ids: Sequence[int], hold_for: float = 60.0) -> list[Due]:
        """Take those that still stand open; left alone, they are due for everybody afterwards."""
        held, privacy = timedelta(seconds=hold_for), self._privacy
        return await self._lanes.run(lambda c: dues(c, TAKE, [list(ids), held], privacy))
