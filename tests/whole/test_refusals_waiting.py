"""What is not there yet is waited for, aloud and not for ever; what says no is not waited for."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.doubles.engine import Double
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.postgres import Postgres, start_postgres
from tests.parts.proxy import Mode, Proxy, start_proxy
from tests.whole.commands import Ran, start
from tests.whole.events import receipt
from tests.whole.placing import work
from tests.whole.stack import Stack, deployed
from tests.whole.test_refusals import reason, with_part

NOBODY = "127.0.0.1:1"  # a port on which nothing listens
SHORT = {"start_timeout": "2s"}


# ── Not there


async def test_postgres_that_does_not_come_is_given_up(stack: Stack) -> None:
    stack.dsn = urlunsplit(urlsplit(stack.dsn)._replace(netloc=f"sendonce:canary@{NOBODY}"))
    ran = await start(stack.config(postgres=SHORT))
    assert reason(ran) == (
        f"postgres: Postgres does not answer at {NOBODY}: nothing listens there (postgres.dsn);"
        " gave up after 2 s"
    )
    assert _waited(ran, "postgres") >= 2, "it waits with backoff, and says so each time"
    assert b"canary" not in ran.errors


async def test_kafka_that_does_not_come_is_given_up(stack: Stack) -> None:
    ran = await start(stack.config(postgres=SHORT, kafka={"bootstrap_servers": NOBODY}))
    said = reason(ran)
    assert said.startswith(f"kafka: {NOBODY}: ")
    assert said.endswith("gave up after 2 s")
    assert _waited(ran, "kafka") >= 1


def _waited(ran: Ran, what: str) -> int:
    return sum(f'"what":"{what}"' in line and "waiting at the start" in line for line in ran.lines)


async def test_parts_that_come_in_time_are_worked_with(stack: Stack, double: Double) -> None:
    """Alive and not ready while it waits, first for Postgres, then for Kafka; then a mail goes."""
    await stack.publish(stack.orders, [receipt("waits")])
    async with _in_front(stack) as (postgres, kafka):
        worker = stack.worker(kafka={"bootstrap_servers": f"127.0.0.1:{kafka.port}"}).start()
        await worker.until(lambda: worker.said("waiting at the start", what="postgres"), 40)
        assert (await worker.get("/healthz"))[0] == 200
        status, said = await worker.get("/readyz")
        assert (status, "starting" in said) == (503, True)
        postgres.mode = Mode.PASS
        await worker.until(lambda: worker.said("waiting at the start", what="kafka"), 40)
        kafka.mode = Mode.PASS
        await worker.ready(40)
        await stack.finished(stack.orders)
        assert await worker.stop() == 0
    assert double.ledger.summary()["accepted"] == 1


async def test_a_stop_while_waiting_is_a_stop_in_order(stack: Stack) -> None:
    async with _in_front(stack):
        worker = stack.worker().start()
        await worker.until(lambda: worker.said("waiting at the start", what="postgres"), 40)
        worker.send(signal.SIGTERM)
        began = time.monotonic()
        assert await worker.ended() == 0
        assert time.monotonic() - began < 10, "it does not wait to the end of its patience"


@asynccontextmanager
async def _in_front(stack: Stack) -> AsyncIterator[tuple[Proxy, Proxy]]:
    """Put a proxy before Postgres and one before Kafka; both refuse at first."""
    parts = urlsplit(stack.dsn)
    assert parts.hostname is not None
    assert parts.port is not None
    host, _, port = stack.kafka.bootstrap.rpartition(":")
    async with (
        start_proxy(parts.hostname, parts.port) as postgres,
        start_proxy(host, int(port)) as kafka,
    ):
        postgres.mode = kafka.mode = Mode.REFUSE
        login = parts.netloc.rpartition("@")[0]
        netloc = f"{login}@127.0.0.1:{postgres.port}"
        stack.settings["postgres"] = {"dsn": urlunsplit(parts._replace(netloc=netloc))}
        yield postgres, kafka


# ── Logins


@pytest.fixture(scope="module")
def locked(postgres: Postgres) -> Iterator[Postgres]:
    """Yield a Postgres that asks everybody but its owner for a password."""
    with start_postgres(fsync=False, own=True) as running:
        assert running.server is not None
        rules = running.server.directory / "data/pg_hba.conf"
        rules.write_text("host all sendonce all trust\nhost all all all scram-sha-256\n")
        yield running


async def test_a_wrong_password_of_postgres_is_not_waited_for(
    stack: Stack, locked: Postgres
) -> None:
    await locked.execute(locked.dsn, "SELECT pg_reload_conf()")
    await locked.execute(locked.dsn, "CREATE ROLE shop LOGIN PASSWORD 'right'")
    stack.dsn = with_part(locked.dsn, login="shop:canary")
    ran = await start(stack.config())
    assert "refuses this login or database (InvalidPasswordError" in reason(ran)
    assert _waited(ran, "postgres") == 0
    assert b"canary" not in ran.errors


@pytest.fixture(scope="module")
def guarded(kafka: Kafka) -> Iterator[Kafka]:
    """Yield a Kafka with listeners that ask for a login, with TLS and without."""
    kafka.must_be_real()
    with start_kafka(sasl=True) as running:
        yield running


def _login(kafka: Kafka, protocol: str, mechanism: str) -> dict[str, object]:
    assert kafka.users is not None
    tls = protocol == "SASL_SSL"
    return {
        "bootstrap_servers": kafka.sasl_ssl if tls else kafka.sasl_plaintext,
        "security_protocol": protocol,
        "sasl_mechanism": mechanism,
        "sasl_username": kafka.users.name,
        "sasl_password": kafka.users.password,
        **({"ssl_cafile": str(kafka.users.cafile)} if tls else {}),
    }


@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("SASL_SSL", "SCRAM-SHA-512"),
        ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
        ("SASL_PLAINTEXT", "PLAIN"),
    ],
)
async def test_with_a_login_it_works(
    guarded: Kafka, database: str, tmp_path: Path, double: Double, protocol: str, mechanism: str
) -> None:
    """Members, admin client and producer: each of them logs in."""
    async with deployed(guarded, database, tmp_path, {"postmark": double.options}) as stack:
        await stack.publish(stack.orders, [receipt("login")])
        stack.settings["kafka"] = _login(guarded, protocol, mechanism)
        worker = await work(stack)
        assert await worker.stop() == 0
        assert [one["status"] for one in await stack.told()] == ["sent"]
        assert double.ledger.summary()["accepted"] == 1


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "PLAIN"])
async def test_a_wrong_password_of_kafka_is_not_waited_for(
    guarded: Kafka, database: str, tmp_path: Path, mechanism: str
) -> None:
    async with deployed(guarded, database, tmp_path, {"file": {"path": str(tmp_path)}}) as stack:
        wrong = {**_login(guarded, "SASL_SSL", mechanism), "sasl_password": "canary"}
        ran = await start(stack.config(kafka=wrong))
    assert "login refused" in reason(ran)
    assert _waited(ran, "kafka") == 0
    assert b"canary" not in ran.errors


async def test_a_broker_that_our_authorities_do_not_know_is_not_trusted(
    guarded: Kafka, database: str, tmp_path: Path
) -> None:
    async with deployed(guarded, database, tmp_path, {"file": {"path": str(tmp_path)}}) as stack:
        login = _login(guarded, "SASL_SSL", "PLAIN")
        del login["ssl_cafile"]
        ran = await start(stack.config(kafka=login, postgres=SHORT))
    assert "SSLCertVerificationError" in reason(ran)
