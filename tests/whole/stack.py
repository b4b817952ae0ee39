"""One deployment: a broker, a database, a provider's double, a configuration, and its workers."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
import asyncpg
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.parts.kafka import Kafka
from tests.whole.events import SCHEMAS

GLANCE = 0.1  # seconds between two looks at what cannot tell us by itself


@dataclass
class Worker:
    """One process of the service; its log is what it wrote to stderr."""

    command: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    url: str = ""

    def start(self) -> Self:
        with self.log.open("ab") as stream:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
            )
        return self

    async def ready(self, seconds: float = 30) -> Self:
        await self.until(lambda: self.answers("/readyz"), seconds)
        return self

    async def answers(self, path: str) -> bool:
        return (await self.get(path))[0] == 200

    async def get(self, path: str) -> tuple[int, str]:
        """Return status and body; (0, "") while nobody listens."""
        url = self.url or self._listening()
        if not url:
            return 0, ""
        try:
            async with aiohttp.ClientSession() as session, session.get(url + path) as answer:
                return answer.status, await answer.text()
        except aiohttp.ClientError:
            return 0, ""

    def _listening(self) -> str:
        for line in self.lines():
            if line.get("event") == "listening":
                self.url = f"http://127.0.0.1:{line['port']}"
        return self.url

    def lines(self) -> list[dict[str, Any]]:
        """Return the log, line by line; what is no JSON (a crash's last words) as `raw`."""
        text = self.log.read_bytes() if self.log.exists() else b""
        return [_line(line) for line in text.splitlines()]

    def said(self, event: str, **facts: object) -> bool:
        return any(
            line.get("event") == event and facts.items() <= line.items() for line in self.lines()
        )

    async def until(self, condition: Any, seconds: float) -> None:
        """Wait for a condition (sync or async) of this process while it lives."""
        until = time.monotonic() + seconds
        while True:
            found = condition()
            if await found if asyncio.iscoroutine(found) else found:
                return
            assert self.process is not None
            assert self.process.poll() is None, f"ended early: {self.lines()[-3:]}"
            assert time.monotonic() < until, f"not within {seconds} s: {self.lines()[-3:]}"
            await asyncio.sleep(GLANCE)

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self, seconds: float = 40) -> int:
        """Wait for its end; return the exit code."""
        assert self.process is not None
        return await asyncio.to_thread(self.process.wait, seconds)

    async def stop(self, seconds: float = 40) -> int:
        self.send(signal.SIGTERM)
        return await self.ended(seconds)

    async def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGKILL)
            await self.ended()


def _line(line: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {"raw": line.decode(errors="replace")}
    return found if isinstance(found, dict) else {"raw": line.decode()}


@dataclass
class Stack:
    kafka: Kafka
    dsn: str
    folder: Path
    orders: str
    accounts: str
    outcomes: str
    group: str
    providers: dict[str, Mapping[str, object]]
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    # ── Configuration

    def write_catalogue(self, order: Sequence[str] | None = None) -> Path:
        """Copy the shipped catalogue, listening to this deployment's own topics."""
        schemas = self.folder / "schemas"
        shutil.copytree(SCHEMAS, schemas, dirs_exist_ok=True)
        topics = {"order.receipt": self.orders, "password.reset": self.accounts}
        for name, topic in topics.items():
            file = schemas / name / "mail.toml"
            lines = [line for line in file.read_text().splitlines() if line]
            lines = [f'topic = "{topic}"' if line.startswith("topic") else line for line in lines]
            if order is not None:
                lines.insert(0, f"providers = {orjson.dumps(list(order)).decode()}")
            file.write_text("\n".join(lines) + "\n")
        return schemas

    def config(self, **sections: Mapping[str, object]) -> Path:
        """Write a configuration; `sections` win over this deployment's own."""
        file = self.folder / f"sendonce-{len(self.workers)}.toml"
        own: dict[str, Mapping[str, object]] = {
            "kafka": {
                "bootstrap_servers": self.kafka.bootstrap,
                "group_id": self.group,
                "start_from": "earliest",
                "drain_timeout": "5s",
                "session_timeout": "10s",
            },
            "postgres": {"dsn": self.dsn},
            "catalogue": {"path": str(self.folder / "schemas")},
            "guard": {"fingerprint_key": "k" * 32},
            "outcomes": {"topic": self.outcomes},
            "safety": {"environment": "test", "allow": ["@example.com"]},
            "admin": {"port": 0},
            "senders.shop": {"from": "Shop <receipts@shop.example>"},
        }
        own |= {f"providers.{name}": options for name, options in self.providers.items()}
        for name, section in {**self.settings, **sections}.items():
            own[name] = {**own.get(name, {}), **section}
        file.write_text("".join(_section(name, section) for name, section in own.items()))
        return file

    def worker(self, **sections: Mapping[str, object]) -> Worker:
        """Make a worker that is not started yet."""
        config = self.config(**sections)
        command = [sys.executable, "-m", "consumer", "run", "--config", str(config)]
        worker = Worker(command, self.folder / f"worker-{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    # ── What goes in

    async def publish(self, topic: str, values: Iterable[bytes | None], **options: Any) -> None:
        async with self._producer() as producer:
            for value in values:
                await producer.send(topic, value, **options)

    @asynccontextmanager
    async def _producer(self) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self.kafka.bootstrap,
            linger_ms=5,
            acks="all",
            max_request_size=1 << 24,
        )
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    # ── What came of it

    async def finished(self, *topics: str, group: str | None = None, seconds: float = 120) -> None:
        """Wait until every offset of the topics is committed."""
        until = time.monotonic() + seconds
        while True:
            behind = await self.behind(*topics, group=group)
            if not behind:
                return
            assert time.monotonic() < until, f"{behind} records not committed after {seconds} s"
            await asyncio.sleep(GLANCE)

    async def behind(self, *topics: str, group: str | None = None) -> int:
        total = 0
        for topic in topics:
            ends = await self.kafka.end_offsets(topic)
            done = await self.kafka.committed(group or self.group, topic)
            total += sum(end - done.get(partition, 0) for partition, end in ends.items())
        return total

    async def sql(self, query: str, *args: object) -> list[Any]:
        connection = await asyncpg.connect(self.dsn)
        try:
            return list(await connection.fetch(query, *args))
        finally:
            await connection.close()

    async def statuses(self) -> dict[str, int]:
        """Count the guard's rows by status."""
        rows = await self.sql("SELECT status, count(*) AS n FROM sent_message GROUP BY status")
        return {row["status"]: row["n"] for row in rows}

    async def letters(self) -> dict[str, int]:
        """Count the dead letters by reason."""
        rows = await self.sql("SELECT reason, count(*) AS n FROM dead_letter GROUP BY reason")
        return {row["reason"]: row["n"] for row in rows}

    async def told(self) -> list[dict[str, Any]]:
        """Return every outcome record that was published so far."""
        reader = AIOKafkaConsumer(bootstrap_servers=self.kafka.bootstrap, enable_auto_commit=False)
        await reader.start()
        try:
            ends = await self.kafka.end_offsets(self.outcomes)
            places = {TopicPartition(self.outcomes, n): end for n, end in ends.items()}
            reader.assign(list(places))
            await reader.seek_to_beginning()
            found: list[dict[str, Any]] = []
            while len(found) < sum(places.values()):
                batches = await reader.getmany(timeout_ms=500)
                found += [orjson.loads(m.value) for batch in batches.values() for m in batch]
            return found
        finally:
            await reader.stop()

    async def close(self) -> None:
        for worker in self.workers:
            await worker.kill()


def _section(name: str, values: Mapping[str, object]) -> str:
    lines = [f"{key} = {orjson.dumps(value).decode()}\n" for key, value in values.items()]
    return f"[{name}]\n{''.join(lines)}\n"
