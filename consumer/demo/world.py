"""The parts that the demo runs on, and the configuration that joins them.

The provider's double and the way Postgres is started are the tests' own, so the demo needs the
repository at hand, not only the package.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consumer import guard
from consumer.demo.files import declare, toml
from consumer.demo.kafka import EmbeddedKafka
from consumer.demo.processes import Processes
from consumer.demo.traffic import PREVIEWS

ENVIRONMENT = "demo"
OUTCOMES = "email.outcomes"
GROUP = "sendonce-demo"
LOST_ANSWERS = "0.01"  # of the mails that the double accepts


class NotHereError(Exception):
    """What the demo needs is not here; the message says how it comes."""


@dataclass(frozen=True, slots=True)
class World:
    kafka: EmbeddedKafka
    processes: Processes
    dsn: str
    double: str  # base URL
    config: Path
    catalogue: Path
    mails: Path
    log: Path

    def start_service(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "consumer", "run", "--config", str(self.config)]
        return self.processes.start(command, self.log)


@asynccontextmanager
async def world(schemas: Path, out: Path) -> AsyncIterator[World]:
    """Bring up everything but the service; take it all down again in the reverse order."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sendonce-demo-")))
        processes, kafka = Processes(), EmbeddedKafka(OUTCOMES, GROUP)
        stack.callback(kafka.stop)
        kafka.start()
        dsn = await stack.enter_async_context(_database())
        stack.push_async_callback(processes.stop_all)  # before what the service leans on
        log = out / "service.log"
        provider = await _start_double(processes, log)
        catalogue, mails = _catalogue(schemas, directory / "schemas"), out / "mails"
        config = directory / "sendonce.toml"
        config.write_text(_configuration(kafka.servers, dsn, catalogue, mails, provider))
        yield World(kafka, processes, dsn, str(provider["base_url"]), config, catalogue, mails, log)


async def _start_double(processes: Processes, log: Path) -> Mapping[str, Any]:
    """Start the double; return what goes into [providers.X] to be sent there."""
    command = [sys.executable, "-m", "tests.doubles", "--provider", "postmark"]
    double = processes.start([*command, "--drop", LOST_ANSWERS], log, talks=True)
    assert double.stdout is not None
    line = await asyncio.to_thread(double.stdout.readline)
    if not line:
        raise NotHereError(f"the provider's double did not start; see {log}")
    options: Mapping[str, Any] = json.loads(line)["options"]
    return options


@asynccontextmanager
async def _database() -> AsyncIterator[str]:
    """Start a Postgres of our own and migrate a database in it."""
    try:
        from tests.parts.postgres import start_postgres  # noqa: PLC0415 - in the repository only
    except ImportError:
        raise NotHereError("the demo runs from a clone of the repository: make demo") from None
    with start_postgres() as postgres:
        dsn = await postgres.database()
        await guard.migrate(dsn, environment=ENVIRONMENT)
        yield dsn


def _catalogue(schemas: Path, copy: Path) -> Path:
    """Copy the real catalogue, and each mail once more for the previews, written as files.

    This is what adding a mail comes to: a folder, no code.
    """
    shutil.copytree(schemas, copy)
    for kind in ("order.receipt", "password.reset"):
        preview = copy / f"preview.{kind}"
        shutil.copytree(copy / kind, preview)
        declare(preview / "mail.toml", topic=PREVIEWS, on=kind, providers=["file"])
        declare(copy / kind / "mail.toml", providers=["postmark"])
    return copy


def _configuration(
    servers: str, dsn: str, catalogue: Path, mails: Path, provider: Mapping[str, Any]
) -> str:
    return toml(
        {
            "kafka": {
                "bootstrap_servers": servers,
                "group_id": GROUP,
                "start_from": "earliest",
                "session_timeout": "6s",  # a new group is made sure of over some heartbeats
            },
            "postgres": {"dsn": dsn},
            "catalogue": {"path": str(catalogue)},
            "guard": {"fingerprint_key": "the demo's own, and no secret"},
            "outcomes": {"topic": OUTCOMES},
            "senders.shop": {"from": "The Shop <receipts@shop.example>"},
            "safety": {"environment": ENVIRONMENT, "allow": ["@example.com"]},
            "admin": {"port": 0},
            "providers.postmark": {**provider, "timeout": "5s"},
            "providers.file": {"type": "file", "path": str(mails)},
        }
    )
