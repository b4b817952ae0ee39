"""One process of the service, seen from outside: its signals, its log, its admin port."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
import orjson

GLANCE = 0.1  # seconds between two looks at what cannot tell us by itself
BEAT = 0.5  # seconds between two questions of a pulse


@dataclass
class Worker:
    """One process of the service; its log is what it wrote to stderr."""

    command: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    environ: Mapping[str, str] | None = None  # None: this process's own

    def start(self) -> Self:
        with self.log.open("ab") as stream:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=self.environ,
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

    def line(self, event: str) -> dict[str, Any]:
        """Return the one line of this event."""
        [found] = [line for line in self.lines() if line.get("event") == event]
        return found

    def said(self, event: str, **facts: object) -> bool:
        """Say whether the log has this line. A thread writes it late: ask `until`, or after."""
        return any(
            line.get("event") == event and facts.items() <= line.items() for line in self.lines()
        )

    async def until(self, condition: Callable[[], Any], seconds: float) -> None:
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
class Pulse:
    """What the admin port answered while it was watched: path -> every status there was."""

    statuses: dict[str, set[int]] = field(default_factory=dict)

    async def take(self, worker: Worker, *paths: str) -> None:
        while True:
            for path in paths:
                status, _ = await worker.get(path)
                self.statuses.setdefault(path, set()).add(status)
            await asyncio.sleep(BEAT)


@asynccontextmanager
async def watched(worker: Worker) -> AsyncIterator[Pulse]:
    """Ask liveness and readiness all the time while the block runs."""
    pulse = Pulse()
    watching = asyncio.create_task(pulse.take(worker, "/healthz", "/readyz"))
    try:
        yield pulse
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
