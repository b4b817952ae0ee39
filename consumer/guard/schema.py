"""The schema: how it grows, which database it belongs to, and whether this release may use it.

Migrations expand in one release and contract in the next, so old and new workers run side by side.
The database stores the oldest release that it admits; a release knows the oldest schema it can use.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import asyncpg

from consumer.guard.errors import (
    MissingRightsError,
    ReleaseTooOldError,
    SchemaMissingError,
    SchemaTooOldError,
    SetupError,
    WrongEnvironmentError,
)
from consumer.guard.lanes import Address
from consumer.guard.reaching import DSN, in_words, reach

TABLES = (
    "sent_message", "dead_letter", "worker", "history", "sweep", "catalogue_version", "pause",
    "shadow",
)  # fmt: skip
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
LOCK_TRIES = (
    20  # a migration waits for a table's lock 3 s at a time, so that nobody queues behind it
)

# One row: which deployment this database is, and who may work on it.
FOUNDATION = """
    SELECT pg_advisory_xact_lock(hashtextextended('sendonce migrate', 0));
    CREATE TABLE IF NOT EXISTS schema_version (
        version    integer PRIMARY KEY,
        name       text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE IF NOT EXISTS stamp (
        one            boolean PRIMARY KEY DEFAULT true CHECK (one),
        environment    text NOT NULL,
        oldest_release text NOT NULL DEFAULT '0.0.0'
    );
"""


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return the steps in order; file names are NNNN_what.sql."""
    files = resources.files("consumer.guard").joinpath("migrations").iterdir()
    found = [_migration(file.name, file.read_text()) for file in files if _is_sql(file.name)]
    return sorted(found, key=lambda migration: migration.version)


async def migrate(
    dsn: str,
    *,
    environment: str,
    steps: Sequence[Migration] | None = None,
    setting: str = DSN,
    password: str | None = None,
) -> list[str]:
    """Bring the database to this release's schema; return the names of the steps applied.

    Safe to run twice, and from several places at once. Wants a direct connection, not PgBouncer's
    pool. Raises `WrongEnvironmentError` where the database is stamped as another one,
    `MissingRightsError` where this role may not make tables. `setting`: where `dsn` was written;
    `password`: its password, where that stands apart.
    """
    address = Address(dsn, password=lambda: password)
    connection = await reach(address, setting=setting, timeout=None)  # a table is rewritten
    try:
        await connection.execute("SET lock_timeout = '3s'; SET statement_timeout = 0")
        todo = migrations() if steps is None else steps
        done = [step.name for step in todo if await _patiently(connection, step, environment)]
        await _patiently(connection, None, environment)
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidSchemaNameError) as error:
        raise await _no_owner(connection) from error
    finally:
        connection.terminate()
    return done


async def check_schema(address: Address, *, environment: str, release: str) -> None:
    """Raise a `SetupError` that says what to do, unless this release may work on this database."""
    connection = await reach(address)
    try:
        with in_words(address):
            await _check_version(connection)
            await _check_stamp(connection, environment, release)
            await _check_rights(connection)
    finally:
        connection.terminate()


async def _no_owner(connection: Any) -> MissingRightsError:
    role, schema = await connection.fetchrow("SELECT current_user, current_schema()")
    return MissingRightsError(
        f"the role {role} may not make or change tables in the schema {schema or 'public'}: let"
        " postgres.migrate_dsn name their owner, who needs"
        f" GRANT USAGE, CREATE ON SCHEMA {schema or 'public'}"
    )


async def _patiently(connection: Any, step: Migration | None, environment: str) -> bool:
    """Apply one step; a busy table is tried again rather than waited for."""
    for _ in range(LOCK_TRIES):
        try:
            async with connection.transaction():
                return await _apply(connection, step, environment)
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(0.2)
    raise SetupError("a table stayed locked: look for a long transaction, then migrate again")


async def _apply(connection: Any, step: Migration | None, environment: str) -> bool:
    await connection.execute(FOUNDATION)
    await _stamp(connection, environment)
    if step is None or await _is_applied(connection, step.version):
        return False
    await connection.execute(step.sql)
    await connection.execute(
        "INSERT INTO schema_version (version, name) VALUES ($1, $2)", step.version, step.name
    )
    return True


async def _stamp(connection: Any, environment: str) -> None:
    await connection.execute(
        "INSERT INTO stamp (environment) VALUES ($1) ON CONFLICT DO NOTHING", environment
    )
    _refuse_other(await connection.fetchval("SELECT environment FROM stamp"), environment)


async def _is_applied(connection: Any, version: int) -> bool:
    found = await connection.fetchval("SELECT 1 FROM schema_version WHERE version = $1", version)
    return found is not None


async def _check_version(connection: Any) -> None:
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        raise SchemaMissingError(
            "this database holds no tables of Sendonce: run `sendonce migrate`"
        )
    await _check_right(connection, "schema_version", "SELECT")
    stands = await connection.fetchval("SELECT coalesce(max(version), 0) FROM schema_version")
    wanted = max(step.version for step in migrations())
    if stands < wanted:
        raise SchemaTooOldError(
            f"the schema is at version {stands}, this release needs {wanted}:"
            " run `sendonce migrate`"
        )


async def _check_stamp(connection: Any, environment: str, release: str) -> None:
    await _check_right(connection, "stamp", "SELECT")
    stamp = await connection.fetchrow("SELECT environment, oldest_release FROM stamp")
    if stamp is None:
        raise SchemaMissingError("this database has no stamp: run `sendonce migrate`")
    _refuse_other(stamp["environment"], environment)
    oldest = stamp["oldest_release"]
    if _release(release) < _release(oldest):
        raise ReleaseTooOldError(
            f"the database admits releases from {oldest}, this is {release}: install a newer one"
        )


def _refuse_other(stamped: str, environment: str) -> None:
    if stamped != environment:
        raise WrongEnvironmentError(
            f"this database is stamped {stamped!r}, this service runs as {environment!r}:"
            " look at postgres.dsn and safety.environment; a restored dump has to be stamped anew"
        )


async def _check_rights(connection: Any) -> None:
    for table in TABLES:
        if await connection.fetchval("SELECT to_regclass($1)", table) is None:
            raise SchemaMissingError(
                f"the table {table} is gone: restore it, or look at search_path"
            )
        for right in RIGHTS:
            await _check_right(connection, table, right)


async def _check_right(connection: Any, table: str, right: str) -> None:
    may = await connection.fetchval(
        "SELECT has_table_privilege(to_regclass($1)::oid, $2)", table, right
    )
    if not may:
        role = await connection.fetchval("SELECT current_user")
        raise MissingRightsError(
            f"the role {role} may not {right} on {table}: GRANT {right} ON {table} TO {role}"
        )


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def _is_sql(name: str) -> bool:
    return re.fullmatch(r"\d{4}_\w+\.sql", name) is not None


def _migration(name: str, sql: str) -> Migration:
    return Migration(int(name[:4]), name.removesuffix(".sql"), sql)
