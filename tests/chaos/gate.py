"""A gate before one kind of write: the statement waits in the server, so that somebody can die.

The database has triggers that take a lock which the test holds; the service knows nothing of it.
Who is killed meanwhile leaves a statement behind that would still be done: `drop` ends it undone,
`open` lets it through.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import asyncpg

LOCK: Final = 4711
FUNCTION: Final = f"""
    CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN NEW; END $$
"""
CLAIM: Final = ("BEFORE INSERT ON sent_message FOR EACH ROW",)
OUTCOME: Final = (
    "BEFORE UPDATE ON sent_message FOR EACH ROW WHEN (NEW.status IN ('sent', 'unknown'))",
)
STEP: Final = (  # of the resolver: it writes what it learned, or that it learned nothing
    "BEFORE UPDATE ON sent_message FOR EACH ROW WHEN (OLD.status = 'unknown')",
    """BEFORE INSERT ON history FOR EACH ROW
       WHEN (NEW.event NOT IN ('unknown', 'abandoned', 'taken over', 'sent'))""",
)
HEARD: Final = ("BEFORE UPDATE ON sent_message FOR EACH ROW WHEN (NEW.settled_by = 'webhook')",)
WAITING: Final = """
    SELECT pid FROM pg_locks
     WHERE locktype = 'advisory' AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@dataclass(frozen=True, slots=True)
class Gate:
    connection: Any

    async def reached(self) -> bool:
        return bool(await self.connection.fetch(WAITING))

    async def open(self) -> None:
        await self.connection.execute("SELECT pg_advisory_unlock_all()")

    async def drop(self) -> None:
        """End what waits at the gate, so that it never happened, and open it."""
        for row in await self.connection.fetch(WAITING):
            await self.connection.execute("SELECT pg_terminate_backend($1, 5000)", row["pid"])
        await self.open()


@asynccontextmanager
async def gate(dsn: str, writes: Sequence[str]) -> AsyncIterator[Gate]:
    """Close a gate before these writes; it is open, and gone, after the block."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(FUNCTION)
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        for number, write in enumerate(writes):
            await connection.execute(f"CREATE TRIGGER gate{number} {write} EXECUTE FUNCTION gate()")
        yield Gate(connection)
        await connection.execute("SELECT pg_advisory_unlock_all()")
        for table in ("sent_message", "history"):
            for number in range(len(writes)):
                await connection.execute(f"DROP TRIGGER IF EXISTS gate{number} ON {table}")
    finally:
        connection.terminate()
