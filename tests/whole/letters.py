"""Dead letters of each kind, as a service comes by them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from consumer.intake.hold import Hold
from consumer.model import Bad, MarkFailed, MarkParked, MarkSent, MarkUnknown, Reason, Record
from tests.whole.operating import Office, again, record

Kind = Callable[[Office, str], Awaitable[None]]


def bad(reason: Reason = Reason.INVALID, key: str | None = None) -> Bad:
    return Bad(reason, "an old trouble", "order.receipt", key)


async def mended(at: Office, name: str) -> None:
    """Unreadable once, and readable since a deploy."""
    await at.guard.park(record(name), bad())


async def old(at: Office, name: str) -> None:
    await at.guard.park(record(name, age=timedelta(days=20)), bad(Reason.UNKNOWN_VERSION))


async def forgotten(at: Office, name: str) -> None:
    """As old as what the guard forgets: a mail of its key may have been sent."""
    await at.guard.park(record(name, age=timedelta(days=31)), bad())


async def invalid(at: Office, name: str) -> None:
    await at.guard.park(record(name, value=b'{"type": "order.receipt", "order": {}}'), bad())


async def malformed(at: Office, _name: str) -> None:
    await at.guard.park(record("", value=b"{"), Bad(Reason.MALFORMED, "x"))


async def no_address(at: Office, name: str) -> None:
    await at.guard.park(record(name, to="nobody"), bad())


async def repeated(at: Office, name: str) -> None:
    await sent(at, first := record(name))
    await at.guard.park(again(first), bad())


async def twice_parked(at: Office, name: str) -> None:
    """Two records of one event: the first is sent, the second is its duplicate."""
    await at.guard.park(first := record(name), bad())
    await at.guard.park(again(first), bad())


async def conflict(at: Office, name: str) -> None:
    """Its key, brought along, is another mail's."""
    await sent(at, first := record(name))
    key = at.mail(first).key
    other = again(record(f"{name}-other"), headers=(("sendonce-key", key.encode()),))
    await at.guard.park(other, bad(Reason.CONFLICT, key))


async def drifted(at: Office, name: str) -> None:
    """Its record made a mail under another key before."""
    first = record(name)
    lease = await at.claim(first, key=at.mail(record(f"{name}-before")).key)
    await at.guard.record(lease, MarkSent("file", "x"), at.mail(first), first)
    await at.guard.park(first, bad(Reason.KEY_DRIFT, at.mail(first).key))


async def rejected(at: Office, name: str) -> None:
    first = record(name)
    lease = await at.claim(first)
    failed = MarkFailed("file 1, too large", Reason.REJECTED)
    await at.guard.record(lease, failed, at.mail(first), first)


async def between_rounds(at: Office, name: str) -> None:
    first = record(name)
    lease = await at.claim(first)
    await at.guard.record(lease, MarkParked("refused", 3600), at.mail(first), first)


async def unknown(at: Office, name: str) -> None:
    """Whoever sent it had another account: nobody can be asked."""
    await _unknown(at, record(name))


async def beside_unknown(at: Office, name: str) -> None:
    await _unknown(at, first := record(name))
    row = await at.row(at.mail(first).key)
    await at.guard.park_too(again(first), "order.receipt", row)


async def given_up(at: Office, name: str) -> None:
    await _unknown(at, first := record(name))
    await at.desk.discard_key(at.mail(first).key, "by ada: no")
    await at.guard.park(again(first), bad())


async def not_allowed(at: Office, name: str) -> None:
    await at.guard.park(record(name, to="eve@elsewhere.example"), bad())


async def orphaned(at: Office, name: str) -> None:
    await _unknown(at, first := record(name))
    await at.guard.orphan(await at.row(at.mail(first).key), "the log begins later")


async def sent(at: Office, first: Record) -> None:
    await at.line.handle(first, Hold())


async def _unknown(at: Office, first: Record) -> None:
    lease = await at.claim(first, account="another")
    await at.guard.record(lease, MarkUnknown("reset", "file"), at.mail(first), first)
    await at.guard.put_off(await at.row(lease.key), None, "open", "nothing is left to ask")


MIX: Mapping[Kind, int] = {
    mended: 240, old: 30, forgotten: 10, invalid: 120, malformed: 60, no_address: 40, repeated: 90,
    twice_parked: 20, conflict: 80, drifted: 40, rejected: 90, between_rounds: 40, unknown: 50,
    beside_unknown: 10, given_up: 25, not_allowed: 40, orphaned: 5,
}  # fmt: skip


async def fill(at: Office) -> None:
    for kind, count in MIX.items():
        await asyncio.gather(*(kind(at, f"{kind.__name__}-{n}") for n in range(count)))
