"""Moments at which a worker dies, each hit for real: kill -9, while something outside it holds.

What holds is a provider that does not answer, a gate in the database, a leg that carries nothing.
SIGSTOP keeps a worker from reading an answer that is on its way to it.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos import gate
from tests.chaos.alone import reached
from tests.doubles.engine import Double, Fault
from tests.doubles.smtp import SmtpDouble
from tests.doubles.webhooks import Caller
from tests.parts.proxy import Mode, Proxy
from tests.whole.events import receipt
from tests.whole.stack import Stack
from tests.whole.worker import Worker

LONG = 60.0  # seconds: a moment that is not reached by then is not reached
HELD = Fault("delay", seconds=LONG)  # nothing is accepted while it works; it stops if we hang up
SILENT = Fault("timeout")
LOST = Fault("drop")


@dataclass
class Scene:
    """One mail, one provider. `double`: None for files, whose `folder` is the provider."""

    stack: Stack
    provider: str
    options: Mapping[str, Any]
    kafka: Proxy
    postgres: Proxy
    settings: Mapping[str, Mapping[str, Any]]
    double: Double | SmtpDouble | None
    caller: Caller | None
    told: set[str] = field(default_factory=set)

    def start(self, **options: Any) -> Worker:
        name = f"providers.{self.provider}"
        return self.stack.worker(**{**self.settings, name: {**self.options, **options}}).start()

    async def publish(self) -> None:
        await self.stack.publish(self.stack.orders, [receipt("the-one")])

    def fail(self, fault: Fault) -> None:
        if self.double is not None:
            self.double.script.then(fault)

    async def row(self) -> Any:
        rows = await self.stack.sql("SELECT * FROM sent_message")
        return rows[0] if rows else None

    async def is_at(self, status: str) -> bool:
        row = await self.row()
        return row is not None and row["status"] == status

    def accepted(self) -> dict[str, list[str]]:
        if self.double is not None:
            return self.double.ledger.accepted
        folder = Path(self.options["path"])
        return {file.stem: [file.name] for file in folder.glob("*.eml")}

    def tell(self) -> None:
        """Let the provider call its webhook about what it has accepted and not told yet."""
        for key, ids in self.accepted().items():
            if self.caller is not None and key not in self.told:
                self.told.add(key)
                self.caller.tell(key, ids[0])


Death = Callable[[Scene], Awaitable[None]]


async def before_claim(scene: Scene) -> None:
    """The record is in hand; the question about its key does not get through."""
    worker = await scene.start().ready(LONG)
    scene.postgres.mode = Mode.STALL
    await scene.publish()
    await reached(lambda: _counts(worker, "sendonce_in_flight"), LONG)
    await worker.kill()
    scene.postgres.reset()
    scene.postgres.mode = Mode.PASS


async def _counts(worker: Worker, name: str) -> bool:
    """Say whether any number of the worker's that begins so is above zero."""
    _, text = await worker.get("/metrics")
    lines = [line for line in text.splitlines() if line.startswith(name)]
    return any(float(line.split()[-1]) > 0 for line in lines)


async def after_claim(scene: Scene) -> None:
    """The claim is committed, and its worker never learns of it."""
    worker = await scene.start().ready(LONG)
    async with gate.gate(scene.stack.dsn, gate.CLAIM) as closed:
        await scene.publish()
        await reached(closed.reached, LONG)
        worker.send(signal.SIGSTOP)
        await closed.open()
        await reached(lambda: scene.is_at("sending"), LONG)
        await worker.kill()


async def before_first_byte(scene: Scene) -> None:
    """Claimed, and the provider's door does not open."""
    with _deaf() as port:
        away = (
            {"port": port} if "port" in scene.options else {"base_url": f"http://127.0.0.1:{port}"}
        )
        worker = await scene.start(**away).ready(LONG)
        await scene.publish()
        await reached(lambda: scene.is_at("sending"), LONG)
        await asyncio.sleep(0.2)  # it is connecting by now
        await worker.kill()


@contextmanager
def _deaf() -> Iterator[int]:
    """Listen without ever taking a call, with no room for one more to wait."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for waiting in (first, second):
            waiting.settimeout(0)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


async def after_first_byte(scene: Scene) -> None:
    """The request is at the provider, which has not accepted it, and stops when we are gone."""
    assert scene.double is not None
    scene.fail(HELD)
    worker = await scene.start().ready(LONG)
    await scene.publish()
    await asyncio.wait_for(scene.double.arrived.wait(), LONG)
    await worker.kill()


async def answer_lost(scene: Scene) -> None:
    """Accepted; the answer is not sent yet."""
    assert scene.double is not None
    scene.fail(SILENT)
    worker = await scene.start().ready(LONG)
    await scene.publish()
    await asyncio.wait_for(scene.double.took.wait(), LONG)
    await worker.kill()


async def not_recorded(scene: Scene) -> None:
    """The answer is there; the outcome never reaches the table."""
    worker = await scene.start().ready(LONG)
    async with gate.gate(scene.stack.dsn, gate.OUTCOME) as closed:
        await scene.publish()
        await reached(closed.reached, LONG)
        await worker.kill()
        await closed.drop()


async def not_committed(scene: Scene) -> None:
    """The outcome stands; the worker never learns of it, so no offset is committed."""
    worker = await scene.start().ready(LONG)
    async with gate.gate(scene.stack.dsn, gate.OUTCOME) as closed:
        await scene.publish()
        await reached(closed.reached, LONG)
        worker.send(signal.SIGSTOP)
        await closed.open()
        await reached(lambda: scene.is_at("sent"), LONG)
        await worker.kill()


async def during_commit(scene: Scene) -> None:
    """The offset is on its way: the broker has it, and its answer does not come back.

    Withheld only once the record is finished: that its outcome is told is answered, too.
    """
    worker = await scene.start().ready(LONG)
    await scene.publish()
    await reached(lambda: _has_finished(worker), LONG)
    scene.kafka.mode = Mode.WITHHOLD
    await reached(lambda: _is_committed(scene.stack), LONG)
    await worker.kill()
    scene.kafka.mode = Mode.PASS
    scene.kafka.reset()


async def _has_finished(worker: Worker) -> bool:
    sent = await _counts(worker, 'sendonce_records_total{result="sent"')
    return sent and not await _counts(worker, "sendonce_in_flight")


async def _is_committed(stack: Stack) -> bool:
    return await stack.behind(stack.orders) == 0


async def during_step(scene: Scene) -> None:
    """The resolver has taken its next step for an unknown outcome, and has not written it."""
    worker = await _unknown(scene)
    async with gate.gate(scene.stack.dsn, gate.STEP) as closed:
        await reached(closed.reached, LONG)
        await worker.kill()
        await closed.drop()


async def during_webhook(scene: Scene) -> None:
    """The provider has told of the mail whose answer was lost; that is not written yet."""
    worker = await _unknown(scene)
    async with gate.gate(scene.stack.dsn, gate.HEARD) as closed:
        scene.tell()
        await reached(closed.reached, LONG)
        await worker.kill()
        await closed.drop()


async def _unknown(scene: Scene) -> Worker:
    """Return a worker whose mail was accepted, and nobody knows."""
    if scene.double is None:  # a file is never in doubt while its writer lives
        await not_recorded(scene)
        worker = await scene.start().ready(LONG)
    else:
        scene.fail(LOST)
        worker = await scene.start().ready(LONG)
        await scene.publish()
    await reached(lambda: scene.is_at("unknown"), LONG)
    return worker


DEATHS: Mapping[str, Death] = {
    "before the claim": before_claim,
    "after the claim": after_claim,
    "before the first byte": before_first_byte,
    "after the first byte": after_first_byte,
    "accepted, the answer lost": answer_lost,
    "answered, not recorded": not_recorded,
    "recorded, not committed": not_committed,
    "during the commit": during_commit,
    "during a resolver's step": during_step,
    "during a webhook": during_webhook,
}
