"""Secrets are replaced under load: mail goes on by itself, 0 lost, 0 twice, no record burnt."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import pytest

from consumer import guard
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.mount import Mount
from tests.parts.postgres import Postgres, start_postgres
from tests.whole.load import Load, load
from tests.whole.reckoning import reckon
from tests.whole.stack import Stack, Worker, deployed
from tests.whole.worker import watched

RATE = 60.0  # events a second
OLD, NEW = "canary-old", "canary-new"
SOON = 15.0  # seconds; a look every two of them while we are refused, and a machine that is busy
FILE = {
    "token": "SENDONCE_PROVIDERS__POSTMARK__TOKEN_FILE",
    "dsn": "SENDONCE_POSTGRES__DSN_FILE",
    "sasl": "SENDONCE_KAFKA__SASL_PASSWORD_FILE",
}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def mount(tmp_path: Path) -> Mount:
    return Mount(tmp_path / "secrets")


def _started(stack: Stack, mount: Mount, name: str, **sections: Mapping[str, object]) -> Worker:
    """Start a worker one of whose secrets is in a file."""
    worker = stack.worker(**sections)
    worker.environ = {**os.environ, FILE[name]: mount.path(name)}
    return worker.start()


async def _sends(worker: Worker, double: Double, seconds: float, mails: int = 100) -> None:
    enough = double.ledger.total + mails
    await worker.until(lambda: double.ledger.total >= enough, seconds)


async def _all_is_well(
    stack: Stack, worker: Worker, double: Double, upstream: Load, setting: str
) -> None:
    """Everything drains; the change is one line that names the setting, and no line has a value."""
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    (await reckon(stack, double.ledger.accepted)).all_sent(len(upstream.orders))
    changed = [line for line in worker.lines() if line.get("event") == "secret changed"]
    assert [line["setting"] for line in changed] == [setting]
    assert b"canary" not in worker.log.read_bytes()


@pytest.mark.parametrize("first", ["the file", "the provider"])
async def test_a_provider_stops_taking_the_old_token(
    stack: Stack, double: Double, mount: Mount, first: str
) -> None:
    """Whichever comes first. The breaker's probe goes with the new one as soon as it is there."""
    api = cast("Any", double.api)
    api.token = OLD
    mount(token=OLD)
    stack.providers = {"postmark": {k: v for k, v in double.options.items() if k != "token"}}
    worker = await _started(stack, mount, "token").ready(60)
    async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
        await _sends(worker, double, 60)
        if first == "the file":
            mount(token=NEW)
            api.token = NEW
        else:
            api.token = NEW
            await worker.until(lambda: worker.said("breaker", state="open"), 60)
            stood = double.ledger.total
            await asyncio.sleep(3)
            assert double.ledger.total == stood
            mount(token=NEW)
        await worker.until(lambda: worker.said("secret changed"), SOON)
        await _sends(worker, double, SOON)
    assert pulse.statuses["/healthz"] == {200}
    await _all_is_well(stack, worker, double, upstream, "providers.postmark.token")
    counted = "SELECT max(attempts) AS most, max(round) AS rounds FROM sent_message"
    attempts = await stack.sql(counted)
    assert (attempts[0]["most"], attempts[0]["rounds"]) == (1, 0), "refused attempts count as none"


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    with start_postgres(fsync=False, own=True) as running:
        yield running


async def _with_password(postgres: Postgres) -> str:
    """Make a database, and a role that signs in with a password; return the role's DSN."""
    dsn = await postgres.database()
    await guard.migrate(dsn, environment="test")
    assert postgres.server is not None
    rules = postgres.server.directory / "data" / "pg_hba.conf"
    rules.write_text(f"host all app 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    await postgres.execute(dsn, "SELECT pg_reload_conf()")
    await postgres.execute(dsn, f"CREATE ROLE app LOGIN PASSWORD '{OLD}'")
    rights = "SELECT, INSERT, UPDATE, DELETE"
    await postgres.execute(dsn, f"GRANT {rights} ON ALL TABLES IN SCHEMA public TO app")
    await postgres.execute(dsn, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app")
    return dsn


def _as_app(dsn: str, password: str) -> str:
    parts = urlsplit(dsn)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"app:{password}@{place}"))


@pytest.mark.parametrize("first", ["the file", "the database"])
async def test_the_password_of_the_database_is_changed(
    kafka: Kafka, own_postgres: Postgres, tmp_path: Path, double: Double, mount: Mount, first: str
) -> None:
    """`ALTER ROLE` leaves connections alone, so all of them are ended as well, three times."""
    dsn = await _with_password(own_postgres)
    mount(dsn=_as_app(dsn, OLD))
    async with deployed(kafka, dsn, tmp_path, {"postmark": double.options}) as stack:
        stack.settings["postgres"] = {"start_timeout": "30s"}
        worker = await _started(stack, mount, "dsn").ready(60)
        async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
            await _sends(worker, double, 60)
            if first == "the file":
                mount(dsn=_as_app(dsn, NEW))
            await own_postgres.execute(dsn, f"ALTER ROLE app PASSWORD '{NEW}'")
            await _cut(own_postgres, dsn)
            if first == "the database":
                await worker.until(lambda: worker.said("postgres unreachable"), SOON)
                mount(dsn=_as_app(dsn, NEW))
            for _ in range(2):
                await _sends(worker, double, 2 * SOON)
                await _cut(own_postgres, dsn)
            await _sends(worker, double, 2 * SOON)
        assert pulse.statuses["/healthz"] == {200}
        await _all_is_well(stack, worker, double, upstream, "postgres.dsn")


async def _cut(postgres: Postgres, dsn: str) -> None:
    sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'"
    assert len(await postgres.execute(dsn, sql)) > 2


@pytest.fixture
def guarded_kafka() -> Iterator[Kafka]:
    with start_kafka(sasl=True) as running:
        yield running


async def test_the_password_of_kafka_is_changed(
    guarded_kafka: Kafka, database: str, tmp_path: Path, double: Double, mount: Mount
) -> None:
    """The broker starts again, so that every connection has to sign in anew."""
    kafka = guarded_kafka
    assert kafka.users is not None
    mount(sasl=kafka.users.password)
    async with deployed(kafka, database, tmp_path, {"postmark": double.options}) as stack:
        stack.settings["kafka"] = {
            "bootstrap_servers": kafka.sasl_plaintext,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_username": kafka.users.name,
        }
        worker = await _started(stack, mount, "sasl").ready(60)
        async with watched(worker) as pulse, load(stack, rate=RATE) as upstream:
            await _sends(worker, double, 60)
            await asyncio.to_thread(_change_password, kafka)
            await asyncio.to_thread(kafka.restart)
            await worker.until(lambda: worker.said("kafka unreachable"), 60)
            mount(sasl=NEW)
            await worker.until(lambda: worker.said("secret changed"), SOON)
            await _sends(worker, double, 60)
        assert pulse.statuses["/healthz"] == {200}
        await _all_is_well(stack, worker, double, upstream, "kafka.sasl_password")


def _change_password(kafka: Kafka) -> None:
    # Its extra brings the embedded broker; the module's names are made when it is loaded.
    admin: Any = importlib.import_module("confluent_kafka.admin")

    assert kafka.users is not None
    kind = admin.ScramMechanism.SCRAM_SHA_512
    change = admin.UserScramCredentialUpsertion(
        kafka.users.name, admin.ScramCredentialInfo(kind, 4096), NEW.encode()
    )
    client = admin.AdminClient({"bootstrap.servers": kafka.bootstrap})
    for done in client.alter_user_scram_credentials([change]).values():
        done.result(30)
