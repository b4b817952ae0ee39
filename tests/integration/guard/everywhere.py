"""The whole database, searched for a text: every column of every table, as text and as bytes."""

from __future__ import annotations

import base64
from typing import Any

import asyncpg

COLUMNS = """
    SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
     ORDER BY c.table_name, c.ordinal_position
"""


async def columns(dsn: str) -> list[tuple[str, str]]:
    """Return table and column of all that is kept."""
    return [(row[0], row[1]) for row in await _fetch(dsn, COLUMNS)]


async def found_in(dsn: str, text: str) -> list[tuple[str, str]]:
    """Return every table and column that holds a text, whatever its case, type or encoding."""
    return [place for place in await columns(dsn) if await _holds(dsn, place, text)]


async def _holds(dsn: str, place: tuple[str, str], text: str) -> bool:
    table, column = place
    rows = await _fetch(dsn, f'SELECT "{column}", "{column}"::text FROM "{table}"')
    needles = _needles(text)
    return any(needle in whole for row in rows for whole in _texts(row) for needle in needles)


def _needles(text: str) -> set[bytes]:
    plain = text.lower().encode()
    return {plain, plain.hex().encode(), base64.b64encode(plain), text.lower().encode("utf-16-le")}


def _texts(row: Any) -> list[bytes]:
    value, shown = row
    parts = value if isinstance(value, list) else [value]
    return [
        str(shown).lower().encode(),
        *(part.lower() for part in parts if isinstance(part, bytes)),
    ]


async def _fetch(dsn: str, query: str) -> list[Any]:
    connection = await asyncpg.connect(dsn)
    try:
        return list(await connection.fetch(query))
    finally:
        await connection.close()
