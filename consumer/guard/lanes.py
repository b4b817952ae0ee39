"""Connections that outlive Postgres: each statement is repeated until it is answered.

A lane is one connection with one statement on its way at a time. Whatever a lost connection or a
failover leaves open (was it committed?) is settled by repeating: every statement of the guard names
the token or the epoch that it writes, so a second run finds its own first one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import asyncpg
import structlog

from consumer.guard.errors import GuardClosedError

T = TypeVar("T")
Work = Callable[[Any], Awaitable[T]]

# On the server, below the client's own timeout: SQLSTATE 55P03 and 57014 then say "rolled back for
# certain", where a client's timeout says nothing.
LOCK_TIMEOUT = "3s"
STATEMENT_TIMEOUT = "6s"
CLIENT_TIMEOUT = 9.0  # seconds; above the server's
CONNECT_TIMEOUT = 5.0  # seconds
FIRST_PAUSE = 0.05  # seconds before the first repeat; doubles
TRIES = 3  # of what the client itself objects to
LONGEST_PAUSE = 2.0  # seconds; a failover is noticed at most this late

TIMEOUTS = {"lock_timeout": LOCK_TIMEOUT, "statement_timeout": STATEMENT_TIMEOUT}

# A prepared statement turns generic after five runs. Planned while the table was small, an UPDATE
# from unnest() becomes a scan of the whole table, and stays one. These leave it only the index.
PINNED = {"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}

ROLLED_BACK = ("40001", "40P01", "55P03", "57014")  # certainly undone; the connection is sound
OUTAGE_CLASSES = ("08", "53", "57", "58", "40", "28", "3D")
OUTAGE_STATES = ("25006", "25P03", "26000", "55P03", "0A000")


@dataclass(frozen=True, slots=True)
class Address:
    """How to reach Postgres: asked at each connect, so that login and password can be rotated.

    `password`: where it stands apart from the DSN; it wins over one that stands in it.
    """

    where: str | Callable[[], str]
    pgbouncer: bool = False
    password: Callable[[], str | None] | None = None

    @property
    def dsn(self) -> str:
        """Return the DSN as it is by now."""
        return self.where if isinstance(self.where, str) else self.where()


@dataclass
class Weather:
    """What all lanes know of Postgres: one line of log when it goes, one when all are back."""

    closed: asyncio.Event = field(default_factory=asyncio.Event)
    down_since: datetime | None = None
    _down: set[str] = field(default_factory=set)
    _log: Any = field(default_factory=lambda: structlog.get_logger("guard"))

    def failed(self, lane: str, error: BaseException) -> None:
        self._down.add(lane)
        if self.down_since is None:
            since = self.down_since = datetime.now(UTC)
            self._log.warning(
                "postgres unreachable", since=since.isoformat(), wanted=lane, error=name_of(error)
            )

    def is_down(self, lane: str) -> bool:
        return lane in self._down

    def answered(self, lane: str) -> None:
        self._down.discard(lane)
        if self.down_since is not None and not self._down:
            seconds = (datetime.now(UTC) - self.down_since).total_seconds()
            self._log.info("postgres is back", unreachable_for=round(seconds, 3))
            self.down_since = None

    async def pause(self, tries: int) -> None:
        """Wait before repeat number `tries`; a closed guard ends the wait and the repeats."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(tries, 10))
        try:
            async with asyncio.timeout(longest * random.uniform(0.5, 1.0)):  # noqa: S311 - jitter
                await self.closed.wait()
        except TimeoutError:
            return
        raise GuardClosedError


class Lane:
    """One connection. `settings`: of the session, or of each transaction behind PgBouncer."""

    def __init__(
        self,
        address: Address,
        weather: Weather,
        settings: Mapping[str, str],
        name: str,
        timeout: float = CLIENT_TIMEOUT,
    ) -> None:
        self._timeout = timeout
        self._name = name
        self._address = address
        self._weather = weather
        self._settings = settings
        self._connection: Any = None
        self._turn = asyncio.Lock()

    @property
    def failing(self) -> bool:
        """Its last statement was not answered."""
        return self._weather.is_down(self._name)

    async def run(self, work: Work[T]) -> T:
        """Run `work(connection)` until Postgres answers it; raise what is a fault of the work."""
        async with self._turn:
            tries = 0
            while not self._weather.closed.is_set():
                try:
                    return await self._once(work)
                except Exception as error:
                    if not is_outage(error) or (tries >= TRIES and self._is_misuse(error)):
                        raise
                    self._drop_after(error)
                    self._weather.failed(self._name, error)
                await self._weather.pause(tries)
                tries += 1
            raise GuardClosedError

    async def run_once(self, work: Work[object]) -> None:
        """Run `work(connection)` if Postgres answers: for what the next tick does again anyway."""
        async with self._turn:
            try:
                await self._once(work)
            except Exception as error:
                if not is_outage(error):
                    raise
                self._drop_after(error)
                self._weather.failed(self._name, error)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _once(self, work: Work[T]) -> T:
        connection = await self._connected()
        if self._address.pgbouncer:
            result = await self._in_transaction(connection, work)
        else:
            result = await work(connection)
        self._weather.answered(self._name)
        return result

    async def _in_transaction(self, connection: Any, work: Work[T]) -> T:
        """Behind PgBouncer nothing of a session lasts, so each piece of work brings it along."""
        async with connection.transaction():
            await connection.execute(
                ";".join(f"SET LOCAL {name} = '{value}'" for name, value in self._settings.items())
            )
            return await work(connection)

    async def _connected(self) -> Any:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._address, self._settings, timeout=self._timeout)
        return self._connection

    def _is_misuse(self, error: Exception) -> bool:
        """The client objects on a sound connection: no repeat will ever mend that."""
        sound = self._connection is not None and not self._connection.is_closed()
        return sound and isinstance(error, asyncpg.InterfaceError)

    def _drop_after(self, error: Exception) -> None:
        """A demoted primary keeps its connections: only a new one finds its successor."""
        if getattr(error, "sqlstate", None) in ROLLED_BACK or self._connection is None:
            return
        self._connection.terminate()
        self._connection = None


class Lanes:
    """A few lanes for what is not hot; each piece of work takes the first one free."""

    def __init__(self, lanes: list[Lane]) -> None:
        self._lanes = lanes
        self._free: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        for lane in lanes:
            self._free.put_nowait(lane)

    async def run(self, work: Work[T]) -> T:
        lane = await self._free.get()
        try:
            return await lane.run(work)
        finally:
            self._free.put_nowait(lane)

    async def close(self) -> None:
        for lane in self._lanes:
            await lane.close()


async def connect(
    address: Address,
    settings: Mapping[str, str] | None = None,
    *,
    timeout: float | None = CLIENT_TIMEOUT,  # noqa: ASYNC109 - of each later statement, not of this
) -> Any:
    """Open one connection to a server that takes writes. `timeout`: seconds, of each statement."""
    session = {"application_name": "sendonce", **(settings or {})}
    return await asyncpg.connect(
        address.dsn,
        password=address.password and address.password(),
        timeout=CONNECT_TIMEOUT,
        command_timeout=timeout,
        statement_cache_size=0 if address.pgbouncer else 100,
        server_settings=None if address.pgbouncer else session,
        target_session_attrs="any" if address.pgbouncer else "read-write",
    )


def is_outage(error: BaseException) -> bool:
    """Tell an absent, busy or demoted Postgres from a fault in what was asked of it."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        return state[:2] in OUTAGE_CLASSES or state in OUTAGE_STATES
    if isinstance(error, ValueError):  # the client says it: a value that no column can hold
        return False
    return isinstance(error, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError)


def name_of(error: BaseException) -> str:
    """Name an error without its message: Postgres quotes rows in it."""
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__} {state}" if state else type(error).__name__
