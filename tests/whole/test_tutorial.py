"""From an empty folder to a mail that went out: `schemas/README.md`, walked as it stands."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from consumer.keys import send_key
from tests.parts import tutorial
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres
from tests.whole.worker import Worker

KEY = send_key(tutorial.MAIL, "INV-2026-0042", "ada@example.com")
LONGEST = 60.0
REPOSITORY = Path(__file__).parents[2]


@dataclass
class Walk:
    """A folder, and what the reader has instead of Docker."""

    folder: Path
    environ: dict[str, str]
    worker: Worker | None = None
    said: dict[str, str] = field(default_factory=dict)

    async def type(self, words: list[str]) -> None:
        if words == ["run"]:
            await self._run()
        else:
            words = [KEY if word == "KEY" else word for word in words]
            self.said[words[0]] = await self._ended(words)
        if words[0] == "publish":
            await self._mail()

    async def _ended(self, words: list[str]) -> str:
        command, _, file = " ".join(words).partition(" > ")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "consumer", *command.split(),
            cwd=self.folder, env=self.environ,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(LONGEST):
            output, errors = await process.communicate()
        assert process.returncode == 0, (words, output, errors)
        if file:
            (self.folder / file).write_bytes(output)
        return output.decode()

    async def _run(self) -> None:
        variables = [f"{name}={value}" for name, value in self.environ.items()]
        at = ["env", "-i", "-C", str(self.folder), *variables]
        self.worker = Worker([*at, sys.executable, "-m", "consumer", "run"], self.folder / "log")
        await self.worker.start().ready(LONGEST)

    async def _mail(self) -> None:
        assert self.worker is not None
        file = self.folder / f"out/mails/{KEY}.eml"
        await self.worker.until(file.exists, LONGEST)
        await self.worker.until(lambda: self.worker_said("attempt"), LONGEST)

    def worker_said(self, event: str) -> bool:
        return self.worker is not None and self.worker.said(event)


@pytest.fixture
async def walk(
    kafka: Kafka, postgres: Postgres, tmp_path: Path, unique: Callable[[str], str]
) -> AsyncIterator[Walk]:
    kafka.must_be_real()
    topic, dsn = unique("invoices"), await postgres.database()
    await kafka.create_topic(topic)
    tutorial.write(tmp_path, topic=topic)
    environ = {
        **os.environ,
        "SENDONCE_KAFKA__BOOTSTRAP_SERVERS": kafka.bootstrap,
        "SENDONCE_KAFKA__GROUP_ID": topic,
        "SENDONCE_POSTGRES__DSN": dsn,
        "SENDONCE_ADMIN__PORT": "0",
        "PYTHONPATH": str(REPOSITORY),
    }
    walk = Walk(tmp_path, environ)
    yield walk
    if walk.worker is not None:
        await walk.worker.kill()
    await postgres.drop(dsn)


def test_the_workflow_holds_a_pull_request_against_the_branch(tmp_path: Path) -> None:
    """The first pull request passes; a later one that changes a key in place does not."""
    tutorial.write(tmp_path)
    git = (
        "git init -q -b main; git config user.name a; git config user.email a@example.com;"
        "git add .; git commit -qm mails; git update-ref refs/remotes/origin/main HEAD"
    )
    assert in_shell(tmp_path, git) == 0
    plain, against = tutorial.checks()
    assert (in_shell(tmp_path, plain), in_shell(tmp_path, against)) == (0, 0)
    rules = tmp_path / f"schemas/{tutorial.MAIL}/mail.toml"
    rules.write_text(rules.read_text().replace('"invoice.id"  ', '"invoice.url" '))
    assert (in_shell(tmp_path, plain), in_shell(tmp_path, against)) == (0, 1)


def in_shell(folder: Path, command: str) -> int:
    program = f'sendonce() {{ {sys.executable} -m consumer "$@"; }}'
    environ = {**os.environ, "GITHUB_BASE_REF": "main", "PYTHONPATH": str(REPOSITORY)}
    words = ["sh", "-ec", f"{program}; {command}"]
    return subprocess.run(words, cwd=folder, env=environ, check=False, timeout=LONGEST).returncode


async def test_the_tutorial_walks_from_an_empty_folder_to_a_mail(walk: Walk) -> None:
    """Previewed, checked, published, sent; each command in its order, with exit code 0."""
    for words in tutorial.commands():
        await walk.type(words)
    assert "no problems" in walk.said["check"]
    assert "over €129.00" in walk.said["render"]
    assert KEY in walk.said["key"]
    assert KEY in walk.said["publish"]
    assert "sent" in walk.said["show"]
    assert len(list((walk.folder / "out/mails").glob("*.eml"))) == 1
    assert (walk.folder / "out/handbook/mails/invoice.overdue.html").is_file()
    assert (walk.folder / "asyncapi.json").read_text().startswith("{")
    assert walk.worker is not None
    assert await walk.worker.stop() == 0
