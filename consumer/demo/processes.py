"""The demo's child processes.

Each lives in a session of its own, so that a Ctrl-C reaches only us, and is ended by us, by its id,
whatever happened.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

GRACE = 15.0  # seconds from a polite end to a hard one


@dataclass
class Processes:
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, command: Sequence[str], log: Path, *, talks: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start it; what it says goes to `log`. `talks`: its stdout comes to us, line by line."""
        with log.open("ab") as stream:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else stream,
                stderr=stream,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    async def stop(self, process: subprocess.Popen[bytes]) -> int:
        """Ask it to end, insist after a while, and sweep up what it left in its session."""
        if process.poll() is None:
            process.terminate()
        try:
            return await asyncio.to_thread(process.wait, GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            return await asyncio.to_thread(process.wait)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    async def stop_all(self) -> None:
        while self.started:
            await self.stop(self.started.pop())
