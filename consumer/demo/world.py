"""The parts that the demo runs on, and the configuration that joins them.

The provider's double and Postgres are the tests' own, each a process, so the demo needs the
repository at hand, not only the package. They are started before the service, and stopped after it.
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
DOUBLE = ("--provider", "postmark", "--drop", "0.01")  # accepts, and loses one answer in 100


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
        processes, kafka, log = Processes(), EmbeddedKafka(OUTCOMES, GROUP), out / "service.log"
        stack.callback(kafka.stop)
        stack.push_async_callback(processes.stop_all)
        kafka.start()
        dsn = (await _part(processes, log, "tests.parts.postgres_process"))["dsn"]
        double = await _part(processes, log, "tests.doubles", *DOUBLE)
        await guard.migrate(dsn, environment=ENVIRONMENT)
        provider = double["options"]
        catalogue, mails = _catalogue(schemas, directory / "schemas"), out / "mails"
        config = directory / "sendonce.toml"
        config.write_text(_configuration(kafka.servers, dsn, catalogue, mails, provider))
        yield World(kafka, processes, dsn, str(provider["base_url"]), config, catalogue, mails, log)


async def _part(processes: Processes, log: Path, module: str, *arguments: str) -> Any:
    """Start one of the tests' parts as a process; return what its first line of JSON tells."""
    part = processes.start([sys.executable, "-m", module, *arguments], log, talks=True)
    assert part.stdout is not None
    line = await asyncio.to_thread(part.stdout.readline)
    if not line:
        raise NotHereError(
            f"{module} did not start; see {log}. The demo runs from a clone of the repository, "
            "with what it brings along: make demo"
        )
    return json.loads(line)


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
