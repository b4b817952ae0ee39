"""The publishers of `schemas/README.md` run as they stand, and their events are one mail."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from consumer.catalogue import Catalogue
from consumer.events import decode
from consumer.keys import send_key
from consumer.model import Event, Mail, Record
from tests.parts import tutorial
from tests.parts.kafka import Kafka
from tests.unit.catalogue.test_readme import loaded

LONGEST = 60.0  # seconds, for a publisher and for its record
TSC = ("--strict", "--target", "es2022", "--module", "commonjs", "--types", "node")


@pytest.fixture
async def topic(kafka: Kafka, unique: Callable[[str], str]) -> str:
    name = unique("invoices")
    await kafka.create_topic(name)
    return name


@pytest.fixture
def folder(tmp_path: Path, topic: str) -> Path:
    tutorial.write(tmp_path, topic=topic)
    return tmp_path


async def ran(kafka: Kafka, folder: Path, *command: str) -> None:
    """Run a publisher to its end, without a word from it."""
    environ = {**os.environ, "KAFKA": kafka.bootstrap}
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=folder, env=environ, capture_output=True, text=True,
        timeout=LONGEST, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


async def published(kafka: Kafka, topic: str) -> Record:
    async with asyncio.timeout(LONGEST):
        async with kafka.consumer(auto_offset_reset="earliest") as consumer:
            consumer.subscribe([topic])
            found = await consumer.getone()
    return Record(
        topic, found.partition, found.offset, found.timestamp, found.key, found.value,
        tuple(found.headers),
    )  # fmt: skip


def mail_of(catalogue: Catalogue, record: Record) -> Mail:
    event = decode(record)
    assert isinstance(event, Event), event
    mail = catalogue.read(record, event)
    assert isinstance(mail, Mail), mail
    return mail


async def is_the_examples_mail(kafka: Kafka, folder: Path, topic: str) -> None:
    """The same key and the same fingerprint: published by whomever, it is one mail."""
    record = await published(kafka, topic)
    catalogue = loaded(folder)
    [example] = catalogue.examples
    mail = mail_of(catalogue, record)
    shown = mail_of(catalogue, Record(topic, 0, 0, record.timestamp, None, example.value))
    assert record.key == b"INV-2026-0042"
    assert mail.key == shown.key == send_key(tutorial.MAIL, "INV-2026-0042", "ada@example.com")
    assert mail.fingerprint == shown.fingerprint


async def test_python(kafka: Kafka, folder: Path, topic: str) -> None:
    await ran(kafka, folder, sys.executable, "publish.py")
    await is_the_examples_mail(kafka, folder, topic)


async def test_typescript(kafka: Kafka, folder: Path, topic: str, npm: Path) -> None:
    """Strictly typed, compiled, and run."""
    (folder / "node_modules").symlink_to(npm / "node_modules")
    await ran(kafka, folder, "node", "node_modules/typescript/bin/tsc", *TSC, "publish.ts")
    await ran(kafka, folder, "node", "publish.js")
    await is_the_examples_mail(kafka, folder, topic)


async def test_kcat(kafka: Kafka, folder: Path, topic: str) -> None:
    if shutil.which("kcat") is None:
        pytest.skip("there is no kcat on this machine")
    script = tutorial.kcat().replace("-t invoices", f"-t {topic}")
    await ran(kafka, folder, "sh", "-ec", script)
    await is_the_examples_mail(kafka, folder, topic)
