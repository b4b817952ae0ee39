"""What random steps are made of: records, mails, claims, and what stands by now.

Worlds are small so that things meet: eight keys, six records, two providers, two workers; a record
may come under any key, a claim may name any row that was ever read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

from consumer.guard import DeadLetter
from consumer.model import (
    Claim,
    Evidence,
    Mail,
    MailType,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Record,
    Row,
    Status,
    Transition,
)
from tests.integration.guard.twins import Flight, Twins

KEYS = tuple(letter * 48 for letter in "abcdefgh")
TYPES = ("order.receipt", "order.receipt", "order.receipt", "password.reset")
PROVIDERS = ("postmark", "postmark", "mailgun")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def a_record(random: Random, row: Row | None = None, own: float = 0.6) -> Record:
    """One of six records; often the row's own."""
    offset = random.randrange(6)
    if row is not None and row.coordinates is not None and random.random() < own:
        offset = row.coordinates.offset
    return Record("orders", 0, offset, 1_700_000_000_000, b"k", b"v%d" % offset, (("h", None),))


def type_of(name: str) -> MailType:
    return MailType(name, "orders", PROVIDERS, "shop", 3600.0, digest="d1")


def a_mail(random: Random, key: str | None = None) -> Mail:
    kind = type_of(random.choice(TYPES))
    key, fingerprint = key or random.choice(KEYS), random.choice(("f1", "f2"))
    return Mail(kind, key, "entity", "ada@example.org", fingerprint, {}, MOMENT)


def a_key(twins: Twins, random: Random) -> str:
    """Often one that has no row yet."""
    free = [key for key in KEYS if key not in twins.store.db.rows]
    return random.choice(free if free and random.random() < 0.6 else KEYS)


def a_row(
    twins: Twins, random: Random, *, of: tuple[Status, ...] = (), idle: bool = False
) -> Row | None:
    """A row that was read before: mostly as it stands now, sometimes long outdated."""
    if random.random() < 0.2:
        rows = twins.rows[-12:]
    else:
        rows = [row.read(twins.store.now) for row in twins.store.rows()]
        rows = [row for row in rows if row.status in (of or Status)]
        rows = [row for row in rows if not (idle and row.lease_live)] or rows
    return random.choice(rows) if rows else None


def a_letter(twins: Twins, random: Random) -> DeadLetter:
    """A letter as it stands, or as it stood when somebody took it."""
    if twins.letters and random.random() < 0.5:
        return random.choice(twins.letters[-8:])
    return random.choice(twins.store.letters()).read()


def a_flight(
    twins: Twins, random: Random, *, of: tuple[Status, ...] = (Status.SENDING, Status.WAITING)
) -> Flight | None:
    """Mostly one that still has its row in the air, sometimes one that lost it long ago."""
    flights = [item for item in twins.flights if _is_live(twins, item, of)]
    if not flights or random.random() < 0.15:
        flights = twins.flights[-8:]
    return random.choice(flights) if flights else None


def _is_live(twins: Twins, flight: Flight, of: tuple[Status, ...]) -> bool:
    row = twins.store.db.rows.get(flight.model.key)
    ours = row is not None and (row.token, row.epoch) == (flight.model.token, flight.model.epoch)
    return row is not None and ours and row.status in of


def a_proof(random: Random) -> MarkSent:
    by = random.choice((None, None, None, Evidence.REPEAT, Evidence.POLICY))
    return MarkSent(random.choice(PROVIDERS), f"id-{random.randrange(3)}", by)


def a_transition(random: Random) -> Transition:
    def flip() -> bool:
        return random.random() < 0.5

    kinds: tuple[tuple[int, Callable[[], Transition]], ...] = (
        (3, lambda: a_proof(random)),
        (4, lambda: MarkFailed("no", random.choice((None, Reason.REJECTED, Reason.EXHAUSTED)))),
        (6, lambda: MarkWaiting("503", give_back=flip(), release=flip())),
        (2, lambda: MarkParked("used up", random.choice((0.0, 300.0)))),
        (5, lambda: MarkUnknown("reset", random.choice(PROVIDERS), random.choice((2.0, 60.0)),
                                give_back=flip())),
        (1, lambda: MarkExpired("too old")),
    )  # fmt: skip
    [made] = random.choices([make for _, make in kinds], weights=[weight for weight, _ in kinds])
    return made()


def a_claim(twins: Twins, random: Random, *, takes: tuple[Status, ...] = ()) -> Claim:
    if twins.flights and random.random() < 0.05:  # its answer was lost: asked again, as it was
        return random.choice(twins.flights[-6:]).claim
    row = a_row(twins, random, of=takes, idle=True) if takes or random.random() < 0.3 else None
    mail = a_mail(random, a_key(twins, random) if row is None else row.key)
    record = a_record(random, row)
    provider = (
        row.provider if row is not None and random.random() < 0.7 else random.choice(PROVIDERS)
    )
    token, bytes_of = f"{random.getrandbits(32):08x}", b"h%d" % random.randrange(2)
    return Claim(
        mail, record, token, provider, "account", bytes_of, row,
        clears_doubt=random.random() < 0.4, late=random.random() < 0.3,
    )  # fmt: skip


def short(answer: object) -> str:
    row = getattr(answer, "row", None)
    stands = "" if not isinstance(row, Row) else f" {row.key} {row.status} epoch {row.epoch}"
    return f"{type(answer).__name__}{stands}"
