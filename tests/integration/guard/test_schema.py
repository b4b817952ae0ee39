"""Migrations, the stamp, and what the start refuses, with a sentence that says what to do."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit, urlunsplit

import pytest

from consumer.guard import (
    Address,
    LoginRefused,
    MissingRights,
    PostgresUnreachable,
    ReleaseTooOld,
    SchemaMissing,
    SchemaTooOld,
    WrongEnvironment,
    check_schema,
    migrate,
)
from consumer.guard.schema import Migration, migrations
from tests.integration.guard.conftest import Sql
from tests.parts.postgres import Postgres

NAMES = [step.name for step in migrations()]


async def check(dsn: str, environment: str = "test", release: str = "1.0.0") -> None:
    await check_schema(Address(dsn), environment=environment, release=release)


async def test_a_second_run_changes_nothing(postgres: Postgres) -> None:
    dsn = await postgres.database()
    assert await migrate(dsn, environment="test") == NAMES
    assert await migrate(dsn, environment="test") == []
    await check(dsn)


async def test_several_runs_at_once_apply_each_step_once(postgres: Postgres) -> None:
    dsn = await postgres.database()
    done = await asyncio.gather(*(migrate(dsn, environment="test") for _ in range(4)))
    assert sorted(name for part in done for name in part) == NAMES


async def test_a_step_that_fails_leaves_nothing(postgres: Postgres) -> None:
    dsn = await postgres.database()
    broken = Migration(99, "broken", "CREATE TABLE half (x int); SELECT 1 / 0")
    with pytest.raises(Exception, match="division"):
        await migrate(dsn, environment="test", steps=[*migrations(), broken])
    await check(dsn)
    assert await postgres.execute(dsn, "SELECT to_regclass('half')") == [(None,)]


async def test_another_environment_is_refused(database: str) -> None:
    with pytest.raises(WrongEnvironment, match=r"'test'.*'production'"):
        await migrate(database, environment="production")
    with pytest.raises(WrongEnvironment, match=r"'test'.*'production'"):
        await check(database, environment="production")


async def test_an_empty_database_is_refused(postgres: Postgres) -> None:
    with pytest.raises(SchemaMissing, match="sendonce migrate"):
        await check(await postgres.database())


async def test_a_missing_table_is_refused(database: str, sql: Sql) -> None:
    await sql("DROP TABLE dead_letter")
    with pytest.raises(SchemaMissing, match="dead_letter"):
        await check(database)


async def test_an_older_schema_is_refused(database: str, sql: Sql) -> None:
    await sql("UPDATE schema_version SET version = 0 WHERE version = $1", len(NAMES))
    with pytest.raises(SchemaTooOld, match="sendonce migrate"):
        await check(database)


async def test_a_newer_schema_is_fine_unless_it_says_otherwise(database: str, sql: Sql) -> None:
    await sql("INSERT INTO schema_version (version, name) VALUES (99, 'from the future')")
    await check(database, release="1.2.0")
    await sql("UPDATE stamp SET oldest_release = '1.10.0'")
    await check(database, release="1.10.0")
    with pytest.raises(ReleaseTooOld, match=r"1\.10\.0"):
        await check(database, release="1.9.9")


async def test_missing_rights_are_named(postgres: Postgres, database: str, sql: Sql) -> None:
    await sql("DROP ROLE IF EXISTS guest")
    await sql("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    parts = urlsplit(database)
    netloc = f"guest:guest@{parts.netloc.rpartition('@')[2]}"
    dsn = urlunsplit(parts._replace(netloc=netloc))
    with pytest.raises(MissingRights, match="GRANT SELECT ON schema_version TO guest"):
        await check(dsn)
    await sql("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO guest")
    with pytest.raises(MissingRights, match="GRANT UPDATE ON sent_message TO guest"):
        await check(dsn)
    await sql("DROP OWNED BY guest")
    await sql("DROP ROLE guest")


async def test_who_is_not_there_and_who_refuses_us(database: str) -> None:
    with pytest.raises(PostgresUnreachable):
        await check("postgresql://sendonce@127.0.0.1:1/none")
    with pytest.raises(LoginRefused, match=r"postgres\.dsn"):
        await check(urlunsplit(urlsplit(database)._replace(path="/not_here")))
