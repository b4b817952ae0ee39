"""Which mail a person had made again as which: said in the histories of both keys.

The row of the newest version has the record's coordinates, so that one record keeps one row that
may be sent; the rows before it have none. A line of a link begins with the other key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from consumer.guard import history
from consumer.guard.history import Entry
from consumer.guard.rows import find_key
from consumer.model import Row

RESENT = "resent"  # on the former row: as which key
BORN = "asked for again"  # on the new one: after which key

LINK = "SELECT left(detail, 48) FROM history WHERE idempotency_key = $1 AND event = $2 LIMIT 1"


async def write(connection: Any, old: Row, new: str, note: str, *, due: bool) -> None:
    """Tie two keys together; `due`: upstream has to hear what became of the old one."""
    former = replace(history.entry(old, RESENT, f"{new} {note}"), due=due)
    born = Entry(new, BORN, None, None, 1, 0, detail=f"{old.key} {note}")
    await history.write(connection, [former, born])


async def after(connection: Any, key: str) -> str | None:
    """Return the key under which this mail was made again, if it was."""
    return await _linked(connection, key, RESENT)


async def before(connection: Any, key: str) -> str | None:
    return await _linked(connection, key, BORN)


async def family(connection: Any, key: str) -> tuple[str, ...]:
    """Return the keys of all versions of one mail, the first one first."""
    keys = [key]
    while (older := await before(connection, keys[0])) and older not in keys:
        keys.insert(0, older)
    return (*keys[:-1], *await _from(connection, key))


async def placed(connection: Any, row: Row) -> Row:
    """Return a row with its record's coordinates, also where the mail was made again since."""
    if row.coordinates is not None:
        return row
    newest = await find_key(connection, (await _from(connection, row.key))[-1])
    return row if newest is None else replace(row, coordinates=newest.coordinates)


async def _from(connection: Any, key: str) -> list[str]:
    """Return this key and those that its mail was made again under since, the newest last."""
    keys = [key]
    while (newer := await after(connection, keys[-1])) and newer not in keys:
        keys.append(newer)
    return keys


async def _linked(connection: Any, key: str, event: str) -> str | None:
    found = await connection.fetchval(LINK, key, event)
    return None if found is None else str(found)
