"""The real guard and the simulated one, side by side: the same calls, the same answers and rows.

Postgres' clock is ours: a function `now` of our own stands before the built-in one in the search
path, so both sides live at exactly the same moments and no time has to be waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg

from consumer.guard import Guard
from consumer.guard.desk import Desk
from consumer.guard.letters import DeadLetter
from consumer.guard.operators import NotDone
from consumer.guard.parking import Due
from consumer.guard.telling import Settled
from consumer.guard.terms import Terms
from consumer.model import Claim, Lease, MarkSent, Row
from tests.simulation.store import Store
from tests.simulation.store_columns import CheckViolationError
from tests.simulation.store_tables import UniqueViolationError

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
LEASE = 30.0  # seconds
TABLES = "sent_message, dead_letter, history, worker, sweep"

CLOCK = """
    CREATE SCHEMA simulated;
    CREATE UNLOGGED TABLE simulated.clock (at timestamptz NOT NULL);
    INSERT INTO simulated.clock VALUES (to_timestamp(0));
    CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM simulated.clock';
    CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM simulated.clock';
    ALTER TABLE dead_letter ALTER first_failed_at SET DEFAULT simulated.now(),
                            ALTER last_failed_at SET DEFAULT simulated.now();
    ALTER TABLE worker ALTER started_at SET DEFAULT simulated.now(),
                       ALTER seen_at SET DEFAULT simulated.now();
    ALTER TABLE history ALTER at SET DEFAULT simulated.now(),
                        ALTER last_at SET DEFAULT simulated.now();
    DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET search_path = simulated, public, pg_catalog', current_database());
    END $$;
"""

RESET = f"""
    TRUNCATE {TABLES} RESTART IDENTITY;
    INSERT INTO sweep DEFAULT VALUES;
"""


class MismatchError(Exception):
    """The two sides differ; the message says in what."""


@dataclass
class Flight:
    """A granted claim: each side has its own lease, for they write to it."""

    worker: int
    claim: Claim
    real: Lease
    model: Lease


@dataclass
class Twins:
    guards: list[Guard]
    desk: Desk
    sql: asyncpg.Connection[Any]
    doubles: list[tuple[Row, MarkSent]]  # what the real guards alarmed
    store: Store = field(default_factory=lambda: Store(now=START))
    flights: list[Flight] = field(default_factory=list)
    rows: list[Row] = field(
        default_factory=list
    )  # every row that an answer held, the last one last
    letters: list[DeadLetter] = field(default_factory=list)  # every one that was taken as due

    async def reset(self) -> None:
        """Begin anew on both sides."""
        await self.sql.execute(RESET)
        self.store = Store(now=START)
        self.flights.clear()
        self.doubles.clear()
        self.rows.clear()
        self.letters.clear()
        await self.tick(0)

    async def tick(self, seconds: float) -> None:
        self.store.now += seconds
        at = datetime.fromtimestamp(self.store.now, UTC)
        await self.sql.execute("UPDATE simulated.clock SET at = $1", at)

    def terms(self, worker: int) -> Terms:
        return Terms(owner_of(worker), LEASE, self.store.now)

    async def both(self, real: Awaitable[Any], model: Callable[[], Any]) -> tuple[Any, Any]:
        """Ask both; return both answers, which are the same."""
        there, here = await _answer(real), _simulated(model)
        if plain(there) != plain(here):
            raise MismatchError(
                "\n".join(["answers (postgres, store)", *apart(plain(there), plain(here))])
            )
        self._keep_rows(here)
        return there, here

    async def together(self, asked: Iterable[Awaitable[Any]]) -> list[Any]:
        """Ask in one turn of the loop, so that it forms one batch."""
        return list(await asyncio.gather(*asked))

    def _keep_rows(self, answer: Any) -> None:
        for item in answer if isinstance(answer, list) else [answer]:
            row = item if isinstance(item, Row) else getattr(item, "row", None)
            if isinstance(row, Row):
                self.rows.append(row)
            if isinstance(item, Due):
                self.letters.append(item.letter)


def owner_of(worker: int) -> str:
    return f"worker-{worker}"


async def _answer(asked: Awaitable[Any]) -> Any:
    try:
        return await asked
    except LookupError:
        return "LookupError"
    except Exception as error:
        raise MismatchError(f"postgres: {error!r}") from error


def _simulated(model: Callable[[], Any]) -> Any:
    try:
        return model()
    except LookupError:
        return "LookupError"
    except (CheckViolationError, UniqueViolationError, AssertionError) as error:
        raise MismatchError(f"store: {error!r}") from error


def plain(answer: Any) -> Any:
    """Return an answer as values that compare; sets of work have no order."""
    if isinstance(answer, list):
        return (
            sorted((plain(item) for item in answer), key=repr)
            if _no_order(answer)
            else [plain(item) for item in answer]
        )
    if isinstance(answer, NotDone):  # why, is said for people
        return "NotDone"
    if isinstance(answer, Settled):  # of several letters at its place, any one has the record
        return plain([answer.row, answer.record.coordinates])
    if is_dataclass(answer) and not isinstance(answer, type):
        return {
            "": type(answer).__name__,
            **{f.name: plain(getattr(answer, f.name)) for f in fields(answer)},
        }
    return answer


def apart(there: Any, here: Any, at: str = "") -> Iterator[str]:
    """Say where two plain answers differ."""
    if isinstance(there, dict) and isinstance(here, dict) and there[""] == here[""]:
        for name in there:
            yield from apart(there[name], here[name], f"{at}.{name}")
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for n, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from apart(one, other, f"{at}[{n}]")
    elif there != here:
        yield f"  {at}: {there} / {here}"


def _no_order(answer: list[Any]) -> bool:
    return bool(answer) and type(answer[0]).__name__ in ("Due", "Settled", "Row")
