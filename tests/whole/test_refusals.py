"""A service that cannot work says why, in one line that a person can act on, and ends."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import orjson
import pytest

from tests.parts.postgres import Postgres
from tests.whole.commands import Ran, sendonce, start
from tests.whole.stack import Stack

MISUSED, REFUSED = 2, 1


def reason(ran: Ran) -> str:
    """Return why the service did not go on: one line of the log, and no trace in any."""
    assert ran.code == REFUSED, ran.errors
    assert b"Traceback" not in ran.errors
    lines = [orjson.loads(line) for line in ran.lines]
    assert not any("exception" in line for line in lines)
    found = [str(line["reason"]) for line in lines if line["event"] == "cannot go on"]
    assert len(found) == 1
    return found[0]


def with_part(dsn: str, *, login: str = "", path: str = "") -> str:
    """Return the DSN with another `user:password`, or another database."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    netloc = f"{login}@{host}" if login else parts.netloc
    return urlunsplit(parts._replace(netloc=netloc, path=path or parts.path))


# ── Before anything is asked of anybody


async def test_every_mistake_in_the_configuration_is_told_at_once(stack: Stack) -> None:
    """An unknown name, a wrong type and a missing secret: a line each, no value in any."""
    stack.providers = {"postmark": {"type": "postmark", "concurency": "canary-value"}}
    stack.settings = {
        "admin": {"port": "canary-port"},
        "guard": {"lease": 30},
        "kafka": {"sasl_mechanism": "PLAIN", "security_protocol": "SASL_SSL"},
    }
    ran = await start(stack.config())
    assert ran.code == MISUSED
    for name in ("admin.port", "guard.lease", "kafka.sasl_username", "kafka.sasl_password"):
        assert _told(ran, name), ran.lines
    assert "concurrency" in _told(ran, "providers.postmark.concurency")
    assert _told(ran, "providers.postmark.token")
    assert len(ran.lines) == 6
    assert b"canary" not in ran.errors


async def test_every_mistake_in_the_catalogue_is_told_at_once(stack: Stack) -> None:
    """A folder, a place in it and what is wrong there, over all folders."""
    schemas = stack.write_catalogue()
    receipts, resets = schemas / "order.receipt", schemas / "password.reset"
    (receipts / "subject.j2").write_text("Your receipt for {{ order_numbr }}")
    (receipts / "v1.schema.json").write_text('{"type": "objekt"}')
    mail = (resets / "mail.toml").read_text()
    (resets / "mail.toml").write_text(mail.replace('sender = "shop"', 'sender = "shopp"'))
    ran = await start(stack.config())
    assert ran.code == MISUSED
    assert "order_numbr" in _told(ran, "order.receipt/subject.j2")
    assert _told(ran, "order.receipt/v1.schema.json")
    assert "shopp" in _told(ran, "password.reset/mail.toml")
    assert b"Traceback" not in ran.errors


async def test_a_configuration_that_is_not_there_is_wrong_usage(stack: Stack) -> None:
    ran = await sendonce("run", "--config", str(stack.folder / "none.toml"))
    assert ran.code == MISUSED
    assert "none.toml: cannot be read" in ran.lines[0]


def _told(ran: Ran, name: str) -> str:
    """Return the line about this name; empty: there is none."""
    return next((line for line in ran.lines if line.startswith(f"sendonce: {name}")), "")


# ── Postgres says no


async def test_a_database_without_tables(stack: Stack, postgres: Postgres) -> None:
    stack.dsn = await postgres.database()
    assert "run `sendonce migrate`" in reason(await start(stack.config()))
    await postgres.drop(stack.dsn)


async def test_an_older_schema(stack: Stack) -> None:
    newest = "(SELECT max(version) FROM schema_version)"
    sql = f"DELETE FROM schema_version WHERE version = {newest} RETURNING version"
    [step] = await stack.sql(sql)
    said = reason(await start(stack.config()))
    needs = step["version"]
    assert f"the schema is at version {needs - 1}, this release needs {needs}" in said


async def test_a_schema_that_admits_only_newer_releases(stack: Stack) -> None:
    await stack.sql("UPDATE stamp SET oldest_release = '999.0.0'")
    assert "the database admits releases from 999.0.0" in reason(await start(stack.config()))


async def test_a_database_of_another_environment(stack: Stack) -> None:
    """A restored dump of production must not send from staging."""
    await stack.sql("UPDATE stamp SET environment = 'production'")
    said = reason(await start(stack.config()))
    assert "stamped 'production', this service runs as 'test'" in said


async def test_a_role_that_may_not_write(stack: Stack) -> None:
    async with _role(stack) as login:
        stack.dsn = with_part(stack.dsn, login=login)
        ran = await start(stack.config())
    assert "may not UPDATE on sent_message: GRANT UPDATE ON sent_message TO" in reason(ran)
    assert b"canary" not in ran.errors


@asynccontextmanager
async def _role(stack: Stack) -> AsyncIterator[str]:
    """Yield the login of a role that may do all but change a row."""
    name = f"reader_{stack.group.rpartition('.')[2]}"
    await stack.sql(f"CREATE ROLE {name} LOGIN PASSWORD 'canary'")
    await stack.sql(f"GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA public TO {name}")
    owner = stack.dsn
    yield f"{name}:canary"
    stack.dsn = owner
    await stack.sql(f"DROP OWNED BY {name}")
    await stack.sql(f"DROP ROLE {name}")


@pytest.mark.parametrize("what", ["login", "path"])
async def test_a_login_or_database_that_does_not_exist(stack: Stack, what: str) -> None:
    parts = {"login": "nobody:canary"} if what == "login" else {"path": "/none"}
    stack.dsn = with_part(stack.dsn, **parts)
    ran = await start(stack.config())
    assert "refuses this login or database" in reason(ran)
    assert "postgres.dsn" in reason(ran)
    assert b"canary" not in ran.errors


# ── Kafka says no, and the machine


async def test_a_topic_that_is_not_there(stack: Stack) -> None:
    missing = stack.accounts = f"{stack.accounts}.missing"
    stack.write_catalogue()
    said = reason(await start(stack.config()))
    assert said.startswith(f"topic {missing} does not exist: create it (named by ")
    assert "password.reset" in said


async def test_an_outcomes_topic_that_is_not_there(stack: Stack) -> None:
    stack.outcomes += ".missing"
    said = reason(await start(stack.config()))
    assert said == f"topic {stack.outcomes} does not exist: create it (named by outcomes.topic)"


async def test_an_admin_port_that_is_taken(stack: Stack) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = reason(await start(stack.config(admin={"port": port})))
    assert f"127.0.0.1:{port}" in said
