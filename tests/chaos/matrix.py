"""The kill matrix: each moment of death with each provider, on real parts, and what came of it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from consumer import guard
from tests.chaos.alone import SHORT
from tests.chaos.deaths import DEATHS, Scene
from tests.chaos.settling import Clock
from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.doubles.smtp import SmtpDouble
from tests.doubles.webhooks import Caller, speech
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.kafka_server import free_ports
from tests.parts.postgres import Postgres, start_postgres
from tests.parts.proxy import Mode, Proxy, start_proxy
from tests.whole.stack import deployed

PROVIDERS: Final = ("ses", "sendgrid", "postmark", "mailgun", "resend", "smtp", "file")
TOGETHER: Final = 5  # cells at once
GLANCE: Final = 0.1  # seconds
CELL: Final = 240.0  # seconds
TRIES: Final = 2  # of a cell on a busy machine
CALLS: Final = {"sendgrid", "postmark", "mailgun", "resend"}
HOOK: Final = "during a webhook"
LETTER: Final = """
    SELECT status, extract(epoch FROM next_check_at - clock_timestamp())::float AS due_in
      FROM dead_letter
"""
ABSENT: Final[Mapping[tuple[str, str], str]] = {
    ("file", "before the first byte"): "no wire; see the row above",
    ("file", "after the first byte"): "no wire; see two rows below",
    ("file", "accepted, the answer lost"): "no wire; see the row below",
    ("file", HOOK): "tells nothing",
    ("smtp", HOOK): "tells nothing",
    ("ses", HOOK): "not here: its certificates lie at Amazon",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """`seconds`: from the death, the waits for evidence included. `lost`, `twice`: mails."""

    status: str
    settled_by: str
    seconds: float
    requests: int
    attempts: int
    accepted: int
    lost: int
    twice: int

    def __str__(self) -> str:
        end = f"{self.status}, {self.settled_by}" if self.settled_by else self.status
        return f"{end}; {_span(self.seconds)}; {self.attempts}; {self.lost}/{self.twice}"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@dataclass(frozen=True, slots=True)
class Ground:
    """What all cells share; a relay before the broker is taken by one cell at a time."""

    postgres: Postgres
    relays: asyncio.Queue[tuple[Kafka, Proxy]]


@asynccontextmanager
async def ground() -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        ports = free_ports(TOGETHER)
        legs = [await stack.enter_async_context(start_proxy("127.0.0.1", port)) for port in ports]
        relays = {port: leg.port for port, leg in zip(ports, legs, strict=True)}
        kafka = stack.enter_context(start_kafka(own=True, relays=relays))
        postgres = stack.enter_context(start_postgres(fsync=False))
        queue: asyncio.Queue[tuple[Kafka, Proxy]] = asyncio.Queue()
        for leg in legs:
            queue.put_nowait((kafka, leg))
        yield Ground(postgres, queue)


async def matrix(
    moments: Sequence[str] = tuple(DEATHS), providers: Sequence[str] = PROVIDERS
) -> dict[tuple[str, str], Cell | str]:
    """Return (provider, moment) -> what came of it, or why there is nothing to see."""
    async with ground() as shared:
        places = [(provider, moment) for moment in moments for provider in providers]
        cells = await asyncio.gather(*(_cell(shared, *place) for place in places))
        return dict(zip(places, cells, strict=True))


async def _cell(shared: Ground, provider: str, moment: str) -> Cell | str:
    if (provider, moment) in ABSENT:
        return ABSENT[provider, moment]
    kafka, leg = await shared.relays.get()
    try:
        for _ in range(TRIES):
            found = await _tried(shared, provider, moment, kafka, leg)
            leg.mode = Mode.PASS  # a moment that was not reached may have left it otherwise
            leg.reset()
            if isinstance(found, Cell):
                return found
        return found
    finally:
        shared.relays.put_nowait((kafka, leg))


async def _tried(
    shared: Ground, provider: str, moment: str, kafka: Kafka, leg: Proxy
) -> Cell | str:
    try:
        async with asyncio.timeout(CELL), scene(shared, provider, moment, kafka, leg) as staged:
            await DEATHS[moment](staged)
            return await _aftermath(staged)
    except (AssertionError, TimeoutError, OSError) as error:
        return f"NOT SEEN: {str(error)[:80] or type(error).__name__}"


@asynccontextmanager
async def scene(
    shared: Ground, provider: str, moment: str, kafka: Kafka, leg: Proxy
) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sendonce-matrix-")))
        dsn = await shared.postgres.database()
        await guard.migrate(dsn, environment="test")
        place = urlsplit(dsn)
        postgres = await stack.enter_async_context(start_proxy("127.0.0.1", place.port or 5432))
        double, options = await _provider(stack, provider, folder)
        caller, hook = None, free_ports(1)[0]
        if provider == "sendgrid" or (moment == HOOK and provider in CALLS):
            url = f"http://127.0.0.1:{hook}/webhooks/{provider}"
            said = speech(provider)
            caller = await stack.enter_async_context(Caller(said, [url], never=0, late=(0.0,)))
            options["webhook_secret"] = said.secret
        deployment = await stack.enter_async_context(
            deployed(kafka, dsn, folder, {provider: options})
        )
        deployment.settings |= {name: dict(SHORT[name]) for name in ("guard",)}
        through = urlunsplit(place._replace(netloc=f"{place.username}@127.0.0.1:{postgres.port}"))
        settings: dict[str, Mapping[str, Any]] = {
            "kafka": {**SHORT["kafka"], "bootstrap_servers": f"127.0.0.1:{leg.port}"},
            "postgres": {"dsn": through},
            "webhooks": {"host": "127.0.0.1", "port": hook},
        }
        yield Scene(deployment, provider, options, leg, postgres, settings, double, caller)


async def _provider(
    stack: AsyncExitStack, provider: str, folder: Path
) -> tuple[Double | SmtpDouble | None, dict[str, Any]]:
    own = {**SHORT["providers.postmark"], "account": "one"}
    if provider == "file":
        return None, {"type": "file", "path": str(folder / "mails"), **own}
    double: Double | SmtpDouble
    if provider == "smtp":
        double = await stack.enter_async_context(SmtpDouble())
    else:
        double = await stack.enter_async_context(Double(APIS[provider]()))
    return double, {**double.options, **own}


async def _aftermath(staged: Scene) -> Cell:
    """Start a successor, and watch until the mail's fate is settled or shown."""
    clock = Clock(staged.stack)
    staged.start()
    await _over(staged, clock)
    row, took = await staged.row(), clock.took
    await staged.stack.finished(staged.stack.orders, seconds=60)
    accepted = staged.accepted()
    count = sum(map(len, accepted.values()))
    known = row["provider_message_id"] in accepted.get(row["idempotency_key"], ())
    lost = row["status"] == "sent" and not known
    return Cell(
        status={"unknown": "shown"}.get(row["status"], row["status"]),
        settled_by=row["settled_by"] or "",
        seconds=took,
        requests=staged.double.ledger.requests if staged.double else count,
        attempts=row["attempts"],
        accepted=count,
        lost=int(lost),
        twice=max(0, count - 1),
    )


async def _over(staged: Scene, clock: Clock) -> None:
    over = False
    while not over:
        await asyncio.sleep(GLANCE)
        over = await _is_over(staged, clock)


async def _is_over(staged: Scene, clock: Clock) -> bool:
    staged.tell()
    row = await staged.row()
    if row is None or row["status"] in ("sending", "waiting"):
        return False
    if row["status"] != "unknown":
        return True
    letters = await staged.stack.sql(LETTER)
    if any(letter["status"] == "open" for letter in letters):
        return True
    await clock.pass_over(min((letter["due_in"] or 0.0 for letter in letters), default=0.0))
    return False


def violations(cells: Mapping[tuple[str, str], Cell | str]) -> list[str]:
    """Return what must not be: a loss, a double, a moment that was not met."""
    return [
        f"{moment}, {provider}: {cell}"
        for (provider, moment), cell in cells.items()
        if (isinstance(cell, Cell) and (cell.lost or cell.twice))
        or (isinstance(cell, str) and cell.startswith("NOT SEEN"))
    ]
