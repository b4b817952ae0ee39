"""Group commit without a timer: what arrives while a statement runs forms the next one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from consumer.guard.errors import GuardClosedError

Item = TypeVar("Item")
Result = TypeVar("Result")

CAP = 256  # rows a statement; above 50 to 100 nothing is gained, above this latency is lost

OnBatch = Callable[[str, int, float], None]  # kind, rows, seconds


class Batches(Generic[Item, Result]):
    """Queue of one kind of statement. `run(items)` answers in the order of `items`."""

    def __init__(
        self, kind: str, run: Callable[[Sequence[Item]], Awaitable[list[Result]]], on_batch: OnBatch
    ) -> None:
        self._kind = kind
        self._run = run
        self._on_batch = on_batch
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._runner: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Result:
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if self._runner is None:
            self._runner = asyncio.create_task(self._run_all(), name=f"guard-{self._kind}")
        return await answer

    async def drain(self) -> None:
        """Wait until nothing is on its way; the rest is answered with `GuardClosedError`."""
        if self._runner is not None:
            await self._runner

    async def _run_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:CAP], self._waiting[CAP:]
                await self._run_batch([pair for pair in batch if not pair[1].cancelled()])
        finally:
            self._runner = None

    async def _run_batch(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        if not batch:
            return
        started = time.perf_counter()
        try:
            results = await self._run([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - handed to whom it concerns, never swallowed
            await self._apart(batch, error)
            return
        self._on_batch(self._kind, len(batch), time.perf_counter() - started)
        for (_, answer), result in zip(batch, results, strict=True):
            if not answer.done():
                answer.set_result(result)

    async def _apart(
        self, batch: list[tuple[Item, asyncio.Future[Result]]], error: Exception
    ) -> None:
        """One item may be at fault: the others must not share its fate."""
        if len(batch) > 1 and not isinstance(error, GuardClosedError):
            for pair in batch:
                await self._run_batch([pair])
            return
        for _, answer in batch:
            if not answer.done():
                answer.set_exception(error)
