"""Migrations, the stamp, and what the start refuses, with a sentence that says what to do."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from consumer.guard import (
    Address,
    Guard,
    LetterStatus,
    LoginRefusedError,
    MissingRightsError,
    PostgresUnreachableError,
    ReleaseTooOldError,
    SchemaMissingError,
    SchemaTooOldError,
    SetupError,
    WrongEnvironmentError,
    check_schema,
    migrate,
)
from consumer.guard.schema import Migration, migrations
from consumer.model import Evidence, MarkSent, News, Notice, Recorded
from tests.integration.guard.builders import claim, granted, key_of
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
    with pytest.raises(WrongEnvironmentError, match=r"'test'.*'production'"):
        await migrate(database, environment="production")
    with pytest.raises(WrongEnvironmentError, match=r"'test'.*'production'"):
        await check(database, environment="production")


async def test_an_empty_database_is_refused(postgres: Postgres) -> None:
    with pytest.raises(SchemaMissingError, match="sendonce migrate"):
        await check(await postgres.database())


async def test_a_missing_table_is_refused(database: str, sql: Sql) -> None:
    await sql("DROP TABLE dead_letter")
    with pytest.raises(SchemaMissingError, match="dead_letter"):
        await check(database)


async def test_an_older_schema_is_refused(database: str, sql: Sql) -> None:
    await sql("UPDATE schema_version SET version = 0 WHERE version = $1", len(NAMES))
    with pytest.raises(SchemaTooOldError, match="sendonce migrate"):
        await check(database)


async def test_a_newer_schema_is_fine_unless_it_says_otherwise(database: str, sql: Sql) -> None:
    await sql("INSERT INTO schema_version (version, name) VALUES (99, 'from the future')")
    await check(database, release="1.2.0")
    await sql("UPDATE stamp SET oldest_release = '1.10.0'")
    await check(database, release="1.10.0")
    with pytest.raises(ReleaseTooOldError, match=r"1\.10\.0"):
        await check(database, release="1.9.9")


async def test_missing_rights_are_named(postgres: Postgres, database: str, sql: Sql) -> None:
    await sql("DROP ROLE IF EXISTS guest")
    await sql("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    parts = urlsplit(database)
    netloc = f"guest:guest@{parts.netloc.rpartition('@')[2]}"
    dsn = urlunsplit(parts._replace(netloc=netloc))
    with pytest.raises(MissingRightsError, match="GRANT SELECT ON schema_version TO guest"):
        await check(dsn)
    await sql("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO guest")
    with pytest.raises(MissingRightsError, match="GRANT UPDATE ON sent_message TO guest"):
        await check(dsn)
    await sql("DROP OWNED BY guest")
    await sql("DROP ROLE guest")


async def test_who_may_not_make_tables_is_told_who_may(postgres: Postgres) -> None:
    dsn = await postgres.database()
    await postgres.execute(dsn, "REVOKE CREATE ON SCHEMA public FROM public")
    await postgres.execute(dsn, "CREATE ROLE visitor LOGIN PASSWORD 'visitor'")
    parts = urlsplit(dsn)
    netloc = f"visitor:visitor@{parts.netloc.rpartition('@')[2]}"
    try:
        with pytest.raises(MissingRightsError, match=r"role visitor .*postgres\.migrate_dsn"):
            await migrate(urlunsplit(parts._replace(netloc=netloc)), environment="test")
    finally:
        await postgres.execute(dsn, "DROP ROLE visitor")


@pytest.mark.parametrize("name", ["foo", "ssl"])
async def test_an_option_that_the_server_does_not_take_is_named(database: str, name: str) -> None:
    both = database + ("&" if urlsplit(database).query else "?") + f"{name}=bar"
    with pytest.raises(SetupError, match=rf"the option {name} of postgres\.dsn: take it out"):
        await check(both)


async def test_a_server_without_tls_is_not_waited_for(database: str) -> None:
    both = database + ("&" if urlsplit(database).query else "?") + "sslmode=require"
    with pytest.raises(SetupError, match="no TLS") as refused:
        await check(both)
    assert not isinstance(refused.value, PostgresUnreachableError)


async def test_who_is_not_there_and_who_refuses_us(database: str) -> None:
    with pytest.raises(PostgresUnreachableError):
        await check("postgresql://sendonce@127.0.0.1:1/none")
    with pytest.raises(LoginRefusedError, match=r"postgres\.dsn"):
        await check(urlunsplit(urlsplit(database)._replace(path="/not_here")))


# As a worker of the release before evidence writes: it knows the columns of its own schema only.
OLD_CLAIM = """
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, round, epoch, owner, token, lease_until,
        first_attempt_at, attempt_deadline, body_hash, topic, "partition", "offset",
        record_timestamp, claimed_at)
    VALUES ($1, 'order.receipt', 'ada@example.org', 'sending', 'f1', 'd1', 'file', 'account', 1, 0,
        1, 'old', 'old', now() + interval '30 s', now(), now() + interval '30 s', '\\x00',
        'orders', 0, $2, 1700000000000, now())
"""
OLD_OUTCOMES = (
    """UPDATE sent_message SET status = 'sent', provider_message_id = 'x', sent_at = now(),
              lease_until = NULL WHERE idempotency_key = $1""",
    """UPDATE sent_message SET status = 'unknown', lease_until = NULL, doubt_since = now(),
              doubt_provider = 'file' WHERE idempotency_key = $1""",
    "UPDATE sent_message SET status = 'waiting', lease_until = NULL WHERE idempotency_key = $1",
)
OLD_LETTER = """
    INSERT INTO dead_letter (idempotency_key, event_type, reason, detail, status, topic,
        "partition", "offset", record_timestamp, header_names, header_values)
    SELECT idempotency_key, event_type, 'unknown', 'reset', 'open', topic, "partition", "offset",
           record_timestamp, '{}', '{}' FROM sent_message WHERE status = 'unknown'
"""


async def test_workers_of_the_release_before_go_on_beside_this_one(guard: Guard, sql: Sql) -> None:
    """The step only expands: their statements still hold, and their rows are read and settled."""
    keys = [key_of(f"n{n}") for n in range(3)]
    for offset, (key, outcome) in enumerate(zip(keys, OLD_OUTCOMES, strict=True)):
        await sql(OLD_CLAIM, key, offset)
        await sql(outcome, key)
    await sql(OLD_LETTER)
    stories = [await guard.show(key) for key in keys]
    assert [story and (story.row.status, story.version) for story in stories] == [
        ("sent", 1), ("unknown", 1), ("waiting", 1),
    ]  # fmt: skip
    proof = MarkSent("file", "id-1", Evidence.LOOKUP)
    assert isinstance(await guard.prove(keys[1], proof, "found"), Recorded)
    (letter,) = await guard.dead_letters()
    assert letter.status is LetterStatus.SETTLED


async def test_rows_of_before_pass_what_is_checked_of_new_ones(postgres: Postgres) -> None:
    """The checks are not validated while everybody waits for the lock; they would be true."""
    dsn = await postgres.database()
    await migrate(dsn, environment="test", steps=migrations()[:1])
    await postgres.execute(dsn, OLD_CLAIM, key_of("one"), 1)
    assert await migrate(dsn, environment="test") == NAMES[1:]
    unproven = await postgres.execute(
        dsn, "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE NOT convalidated"
    )
    assert unproven
    for table, name in unproven:
        await postgres.execute(dsn, f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


@pytest.mark.parametrize(
    "nonsense",
    [
        "settled_by = 'hope'", "delivery = 'lost', delivery_at = now()", "delivery = 'bounced'",
        "delivery = 'bounced', delivery_at = now()", "second_message_id = 'x'", "version = 0",
    ],
)  # fmt: skip
async def test_what_no_row_can_be(sql: Sql, nonsense: str) -> None:
    await sql(OLD_CLAIM, key_of("one"), 1)
    with pytest.raises(asyncpg.CheckViolationError):
        await sql(f"UPDATE sent_message SET {nonsense}")


async def test_an_outcome_touches_no_index(guard: Guard, sql: Sql) -> None:
    """The hot paths stay hot: neither `sent` nor what webhooks tell of it writes to an index."""
    items = [claim(f"n{n}") for n in range(20)]
    for item in items:
        lease = granted(await guard.claim(item)).lease
        await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
        await guard.hear(Notice(item.mail.key, "file", "id-1", News.DELIVERED))
    await guard.close()  # what its connections counted is told when they end
    assert await _updates(sql) == (40, 40)


async def _updates(sql: Sql) -> tuple[int, int]:
    async with asyncio.timeout(20):
        while True:
            (row,) = await sql(
                "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables"
                " WHERE relname = 'sent_message'"
            )
            if row[0] >= 40:
                return row[0], row[1]
            await asyncio.sleep(0.05)
