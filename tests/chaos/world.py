"""The deployment that is broken: every leg between two processes goes through a proxy of its own.

worker ── kafka leg ── broker           each worker has its own two; the last one of several
worker ── postgres leg ── server        reaches Postgres through PgBouncer; where libfaketime is
workers ── provider leg ── double       installed, each worker has a clock that can be stepped
double ── webhook ── a listener of any worker
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from consumer import guard
from tests.chaos.kinds import CLASSES, RECEIPT, RESET, write_catalogue
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.kafka_server import free_ports
from tests.parts.pgbouncer import NoPgBouncerError, start_pgbouncer
from tests.parts.postgres import Postgres, start_postgres
from tests.parts.proxy import Proxy, start_proxy
from tests.whole.remote import Remote, remote
from tests.whole.stack import Stack, deployed
from tests.whole.worker import Worker

LEASE = 6.0  # seconds
SESSION = 3.0
CONNECTIONS = 80  # that Postgres has; they are all taken away at times
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
SHORT: Mapping[str, Mapping[str, object]] = {  # a worker that is gone is given up soon
    "kafka": {"session_timeout": f"{SESSION}s", "drain_timeout": "5s"},
    "guard": {"lease": f"{LEASE}s", "fingerprint_key": "k" * 32},
    "retry": {"base": "100ms", "cap": "2s"},
}
PATIENCE: Mapping[str, object] = {"timeout": "2500ms", "connect_timeout": "2s", "concurrency": 10}


@dataclass
class Hand:
    """One worker's place: what it is started with again and again, and its own legs."""

    number: int
    worker: Worker
    kafka: Proxy
    postgres: Proxy
    clock: Path | None  # holds by how much its clock is wrong
    spared: bool = False  # not to be killed now: it is frozen, and has to wake
    said: int = 0  # bytes of its log, before it was started the last time

    def start(self) -> None:
        self.worker.url = ""
        self.said = self.worker.log.stat().st_size if self.worker.log.exists() else 0
        self.worker.start()

    @property
    def works(self) -> bool:
        """Tell whether it has come as far as to take records, since it was started."""
        with self.worker.log.open("rb") as log:
            log.seek(self.said)
            return self.lives and b'"event":"working"' in log.read(20_000)

    @property
    def lives(self) -> bool:
        return self.worker.process is not None and self.worker.process.poll() is None


@dataclass
class World:
    kafka: Kafka
    postgres: Postgres
    stack: Stack
    doubles: Mapping[str, Remote]
    providers: Mapping[str, Proxy]
    hands: Sequence[Hand]
    pooled: bool  # one worker goes through PgBouncer
    counted: dict[str, int] = field(default_factory=dict)  # what was done to it
    last_words: list[str] = field(default_factory=list)  # of workers that ended badly

    def count(self, what: str) -> None:
        self.counted[what] = self.counted.get(what, 0) + 1

    @property
    def topics(self) -> dict[str, str]:
        return {RECEIPT: self.stack.orders, RESET: self.stack.accounts}

    @property
    def legs(self) -> list[Proxy]:
        own = [leg for hand in self.hands for leg in (hand.kafka, hand.postgres)]
        return [*own, *self.providers.values()]

    async def accepted(self) -> dict[str, list[str]]:
        """Return key -> ids, over all the doubles' ledgers."""
        found: dict[str, list[str]] = {}
        for double in self.doubles.values():
            for key, ids in (await double.accepted()).items():
                found.setdefault(key, []).extend(ids)
        return found

    def new_group(self) -> None:
        """Let workers that are started from now on read everything again."""
        old, self.stack.group = self.stack.group, f"{self.stack.group}.again"
        for hand in self.hands:
            file = Path(hand.worker.command[-1])
            file.write_text(file.read_text().replace(f'"{old}"', f'"{self.stack.group}"'))


@asynccontextmanager
async def world(folder: Path, workers: int, seed: int) -> AsyncIterator[World]:
    """Yield everything, running, but for the workers."""
    async with AsyncExitStack() as stack:
        ports = free_ports(workers)
        legs = [await stack.enter_async_context(start_proxy("127.0.0.1", p)) for p in ports]
        relays = {port: leg.port for port, leg in zip(ports, legs, strict=True)}
        kafka = stack.enter_context(start_kafka(own=True, relays=relays))
        settings = {"max_connections": str(CONNECTIONS)}
        postgres = stack.enter_context(start_postgres(fsync=False, own=True, settings=settings))
        dsn = await postgres.database()
        await guard.migrate(dsn, environment="test")
        hooks = free_ports(workers)
        doubles = {name: await _double(stack, name, hooks, seed) for name in CLASSES}
        providers, options = await _provider_legs(stack, doubles)
        deployment = await stack.enter_async_context(deployed(kafka, dsn, folder, options))
        write_catalogue(folder / "schemas", _topics(deployment))
        deployment.settings |= {name: dict(section) for name, section in SHORT.items()}
        ways, pooled = _ways(stack, dsn, workers)
        hands = [
            await _hand(stack, deployment, number, leg, way, hooks[number])
            for number, (leg, way) in enumerate(zip(legs, ways, strict=True))
        ]
        yield World(kafka, postgres, deployment, doubles, providers, hands, pooled)


def _topics(deployment: Stack) -> dict[str, str]:
    return {RECEIPT: deployment.orders, RESET: deployment.accounts}


async def _double(stack: AsyncExitStack, provider: str, hooks: Sequence[int], seed: int) -> Remote:
    words = ["--seed", str(seed)]
    if CLASSES[provider] == "webhook":
        for port in hooks:
            words += ["--webhook", f"http://127.0.0.1:{port}/webhooks/{provider}"]
    return await stack.enter_async_context(remote(provider, *words))


async def _provider_legs(
    stack: AsyncExitStack, doubles: Mapping[str, Remote]
) -> tuple[dict[str, Proxy], dict[str, dict[str, Any]]]:
    """Put a proxy before each double; return them, and what goes into [providers.X]."""
    legs, options = {}, {}
    for name, double in doubles.items():
        given = dict(double.options)
        port = given.get("port") or urlsplit(given["base_url"]).port
        legs[name] = await stack.enter_async_context(start_proxy("127.0.0.1", port))
        way = {"port": legs[name].port} if "port" in given else {"base_url": _url(legs[name])}
        options[name] = {**given, **way, **PATIENCE}
    return legs, options


def _url(leg: Proxy) -> str:
    return f"http://127.0.0.1:{leg.port}"


def _ways(stack: AsyncExitStack, dsn: str, workers: int) -> tuple[list[str], bool]:
    """Return each worker's way to Postgres, the last one's through PgBouncer where there is one."""
    ways = [dsn] * workers
    if workers == 1:
        return ways, False
    try:
        through: Callable[[str], str] = stack.enter_context(start_pgbouncer(dsn))
    except NoPgBouncerError:
        return ways, False
    return [*ways[:-1], through(dsn)], True


async def _hand(
    stack: AsyncExitStack, deployment: Stack, number: int, kafka: Proxy, way: str, hook: int
) -> Hand:
    place = urlsplit(way)
    postgres = await stack.enter_async_context(start_proxy("127.0.0.1", place.port or 5432))
    through = urlunsplit(place._replace(netloc=f"{place.username}@127.0.0.1:{postgres.port}"))
    worker = deployment.worker(
        kafka={**SHORT["kafka"], "bootstrap_servers": f"127.0.0.1:{kafka.port}"},
        postgres={"dsn": through, "pgbouncer": way != deployment.dsn},
        webhooks={"host": "127.0.0.1", "port": hook},
    )
    clock = _clock(deployment.folder, number, worker)
    return Hand(number, worker, kafka, postgres, clock)


def _clock(folder: Path, number: int, worker: Worker) -> Path | None:
    """Give it a wall clock that can be stepped; the clock of its leases goes on as it did."""
    if FAKETIME is None:
        return None
    clock = folder / f"clock-{number}"
    clock.write_text("+0")
    environ = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    assert worker.command[0] == sys.executable
    given = [f"{name}={value}" for name, value in environ.items()]
    worker.command = ["env", *given, *worker.command]
    return clock


def machine() -> dict[str, object]:
    return {"cores": os.cpu_count(), "python": sys.version.split()[0]}
