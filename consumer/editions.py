"""Former editions of the catalogue's folders, for rows that were claimed with one.

An open row is made again as it was made first: mapping, words and layouts of the edition that the
row names, whatever was deployed since, so that a repeat is the same mail byte for byte. Another
record's fingerprint is held against the row's only if both depend on the same things.

An edition is read once by each worker that meets its digest, and kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import structlog

from consumer.model import IMPORTED, OPEN, Mail

if TYPE_CHECKING:
    from consumer.catalogue import Former
    from consumer.making import Making
    from consumer.model import Bad, Edition, Record, Row, Skipped

log = structlog.get_logger(__name__)

Find: TypeAlias = "Callable[[str], Awaitable[Edition | None]]"


async def none_kept(_: str) -> None:
    """Of a world without former editions: rows are made with today's."""


@dataclass(slots=True)
class Editions:
    """`find`: reads an edition by its digest, as the guard kept it."""

    making: Making
    find: Find = none_kept
    _read: dict[str, Edition | None] = field(default_factory=dict)

    async def as_claimed(
        self, read: Mail | Skipped | Bad, row: Row, record: Record
    ) -> Mail | Skipped | Bad:
        """Return what `record` makes as the open `row` was made, under the row's own key.

        What today's catalogue makes of it, where the row is closed, names today's edition, or names
        one that was never kept or cannot be read here: `body_hash` then tells the two apart.
        """
        today = read.type.digest if isinstance(read, Mail) else None
        if row.status not in OPEN or row.catalogue == today:
            return read
        former = await self._former(row.catalogue)
        then = self.making.read_as(former, record) if former else None
        return replace(then, key=row.key) if isinstance(then, Mail) else read

    async def comparable(self, row: Row, mail: Mail) -> bool:
        """Tell whether the row's fingerprint and the mail's depend on the same things."""
        if row.catalogue == mail.type.digest:
            return True
        edition = await self._edition(row.catalogue)
        basis = self.making.catalogue.basis(mail.type.digest)
        return edition is not None and edition.fingerprints == basis

    async def _former(self, digest: str) -> Former | None:
        formers = self.making.formers
        if digest not in formers:
            edition = await self._edition(digest)
            formers[digest] = former = self.making.catalogue.former(edition) if edition else None
            if edition is not None and former is None:
                log.warning("cannot read a former edition", mail_type=edition.mail_type)
        return formers[digest]

    async def _edition(self, digest: str) -> Edition | None:
        """An edition is kept before the first row names it: what is not there will never be."""
        if digest not in self._read:
            self._read[digest] = None if digest == IMPORTED else await self.find(digest)
        return self._read[digest]
