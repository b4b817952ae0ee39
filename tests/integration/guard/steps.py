"""Random steps on both guards. A step is a name and a seed: what it does depends on what stands.

Worlds are small so that things meet: eight keys, six records, two providers, two workers; a
record may come under any key, a claim may name any row that was ever read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any, TypeAlias

from consumer.guard import DeadLetter
from consumer.guard.leases import renew
from consumer.guard.operators import Turn
from consumer.guard.outcomes import Ending
from consumer.guard.resends import Resend
from consumer.model import (
    Bad,
    Claim,
    Evidence,
    Granted,
    Lease,
    Mail,
    MailType,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    News,
    Notice,
    Reason,
    Record,
    Row,
    Status,
    Transition,
)
from tests.integration.guard.twins import LEASE, Flight, Twins

KEYS = tuple(letter * 48 for letter in "abcdefgh")
TYPES = ("order.receipt", "order.receipt", "order.receipt", "password.reset")
PROVIDERS = ("postmark", "postmark", "mailgun")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
TICKS = (0, 1, 2, 10, LEASE - 1, LEASE, LEASE + 1, 60, 61, 300, 650)

Go: TypeAlias = Callable[[Twins, Random], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    seed: int

    async def run(self, twins: Twins) -> str:
        """Take the step; return what it came to, for a person to read."""
        return await STEPS[self.name][1](twins, Random(self.seed))


def draw(random: Random) -> Step:
    names = list(STEPS)
    [name] = random.choices(names, weights=[STEPS[name][0] for name in names])
    return Step(name, random.getrandbits(32))


# ── What steps are made of


def _record(random: Random, row: Row | None = None, own: float = 0.6) -> Record:
    """One of six records; often the row's own."""
    offset = random.randrange(6)
    if row is not None and row.coordinates is not None and random.random() < own:
        offset = row.coordinates.offset
    return Record("orders", 0, offset, 1_700_000_000_000, b"k", b"v%d" % offset, (("h", None),))


def _type(name: str) -> MailType:
    return MailType(name, "orders", PROVIDERS, "shop", 3600.0, digest="d1")


def _mail(random: Random, key: str | None = None) -> Mail:
    kind = _type(random.choice(TYPES))
    key, fingerprint = key or random.choice(KEYS), random.choice(("f1", "f2"))
    return Mail(kind, key, "entity", "ada@example.org", fingerprint, {}, MOMENT)


def _row(
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


def _letter(twins: Twins, random: Random) -> DeadLetter:
    """A letter as it stands, or as it stood when somebody took it."""
    if twins.letters and random.random() < 0.5:
        return random.choice(twins.letters[-8:])
    return random.choice(twins.store.letters()).read()


def _flight(
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


def _proof(random: Random) -> MarkSent:
    by = random.choice((None, None, None, Evidence.REPEAT, Evidence.POLICY))
    return MarkSent(random.choice(PROVIDERS), f"id-{random.randrange(3)}", by)


def _transition(random: Random) -> Transition:
    def flip() -> bool:
        return random.random() < 0.5

    kinds: tuple[tuple[int, Callable[[], Transition]], ...] = (
        (3, lambda: _proof(random)),
        (4, lambda: MarkFailed("no", random.choice((None, Reason.REJECTED, Reason.EXHAUSTED)))),
        (6, lambda: MarkWaiting("503", give_back=flip(), release=flip())),
        (2, lambda: MarkParked("used up", random.choice((0.0, 300.0)))),
        (5, lambda: MarkUnknown("reset", random.choice(PROVIDERS), random.choice((2.0, 60.0)),
                                give_back=flip())),
        (1, lambda: MarkExpired("too old")),
    )  # fmt: skip
    [made] = random.choices([make for _, make in kinds], weights=[weight for weight, _ in kinds])
    return made()


def _key(twins: Twins, random: Random) -> str:
    """Often one that has no row yet."""
    free = [key for key in KEYS if key not in twins.store.db.rows]
    return random.choice(free if free and random.random() < 0.6 else KEYS)


def _claim(twins: Twins, random: Random, *, takes: tuple[Status, ...] = ()) -> Claim:
    if twins.flights and random.random() < 0.05:  # its answer was lost: asked again, as it was
        return random.choice(twins.flights[-6:]).claim
    row = _row(twins, random, of=takes, idle=True) if takes or random.random() < 0.3 else None
    mail = _mail(random, _key(twins, random) if row is None else row.key)
    record = _record(random, row)
    provider = (
        row.provider if row is not None and random.random() < 0.7 else random.choice(PROVIDERS)
    )
    token, bytes_of = f"{random.getrandbits(32):08x}", b"h%d" % random.randrange(2)
    return Claim(
        mail, record, token, provider, "account", bytes_of, row,
        clears_doubt=random.random() < 0.4, late=random.random() < 0.3,
    )  # fmt: skip


def _keep(twins: Twins, worker: int, claim: Claim, there: object, here: object) -> str:
    if isinstance(there, Granted) and isinstance(here, Granted):
        twins.flights.append(Flight(worker, claim, there.lease, here.lease))
    takes = claim.takes and f"{claim.takes.key} {claim.takes.status} epoch {claim.takes.epoch}"
    return (
        f"worker {worker} claims {claim.mail.key} {claim.mail.type.name} {claim.mail.fingerprint} "
        f"for record {claim.record.offset} at {claim.provider}, token {claim.token}, "
        f"takes {takes}, clears {claim.clears_doubt}, late {claim.late}: {_short(here)}"
    )


def _short(answer: object) -> str:
    row = getattr(answer, "row", None)
    stands = "" if not isinstance(row, Row) else f" {row.key} {row.status} epoch {row.epoch}"
    return f"{type(answer).__name__}{stands}"


# ── Steps


async def tick(twins: Twins, random: Random) -> str:
    seconds = random.choice(TICKS)
    await twins.tick(seconds)
    return f"{seconds} s pass"


async def month(twins: Twins, random: Random) -> str:
    """A month passes, and what was closed is pruned."""
    await twins.tick(31 * 86400.0)
    return "a month passes, then: " + await prune(twins, random)


async def rob(twins: Twins, random: Random) -> str:
    """A record comes under another key than the one under which it failed."""
    failed = [row for row in twins.store.rows() if row.status is Status.FAILED and row.at]
    if not failed:
        return "no failed row"
    victim = random.choice(failed).read(twins.store.now)
    key = random.choice(KEYS)
    mine = twins.store.db.rows.get(key)
    takes = victim if mine is None or random.random() < 0.3 else mine.read(twins.store.now)
    item = replace(
        _claim(twins, random), mail=replace(_mail(random, key), type=_type(victim.mail_type)),
        record=_record(random, victim, own=1.0), takes=random.choice((takes, takes, None)),
        token=f"{random.getrandbits(32):08x}",
    )  # fmt: skip
    return await _ask(twins, random, item)


async def look(twins: Twins, random: Random) -> str:
    mail, record = _mail(random), _record(random)
    asked = (mail.key, mail.type.name, record.coordinates)
    _, here = await twins.both(twins.guards[0].look(*asked), lambda: twins.store.look(*asked))
    return f"look {mail.key} or record {record.offset}: {here and here.status}"


async def claim(twins: Twins, random: Random) -> str:
    return await _ask(twins, random, _claim(twins, random))


async def take_failed(twins: Twins, random: Random) -> str:
    return await _ask(twins, random, _claim(twins, random, takes=(Status.FAILED,)))


async def take_open(twins: Twins, random: Random) -> str:
    item = _claim(twins, random, takes=(Status.WAITING, Status.UNKNOWN))
    return await _ask(twins, random, item)


async def _ask(twins: Twins, random: Random, item: Claim) -> str:
    worker = random.randrange(2)
    there, here = await twins.both(
        twins.guards[worker].claim(item), lambda: twins.store.claim(item, twins.terms(worker))
    )
    return _keep(twins, worker, item, there, here)


async def claim_together(twins: Twins, random: Random) -> str:
    worker = random.randrange(2)
    items = [_claim(twins, random) for _ in range(random.randint(2, 4))]
    there, here = await twins.both(
        twins.together(twins.guards[worker].claim(item) for item in items),
        lambda: twins.store.claim_all(items, twins.terms(worker)),
    )
    told = [_keep(twins, worker, *three) for three in zip(items, there, here, strict=True)]
    return "together: " + "; ".join(told)


async def start_round(twins: Twins, random: Random) -> str:
    worker, item = random.randrange(2), _claim(twins, random, takes=(Status.WAITING,))
    if item.takes is None or item.takes.status is not Status.WAITING:
        return "no waiting row"  # of others it is never asked
    there, here = await twins.both(
        twins.guards[worker].start_round(item),
        lambda: twins.store.start_round(item, twins.terms(worker)),
    )
    return "next round: " + _keep(twins, worker, item, there, here)


def _leases(flight: Flight, random: Random) -> tuple[Lease, Lease]:
    """Each side's lease; or copies, for an answer that gets lost: the flight never hears of it."""
    if random.random() < 0.2:
        return replace(flight.real), replace(flight.model)
    return flight.real, flight.model


async def next_attempt(twins: Twins, random: Random) -> str:
    flight = _flight(twins, random, of=(Status.WAITING, Status.SENDING))
    if flight is None:
        return "no flight"
    more = (random.choice(PROVIDERS), "account", b"h2")
    real, model = _leases(flight, random)
    _, here = await twins.both(
        twins.guards[flight.worker].next_attempt(real, *more),
        lambda: twins.store.next_attempt(model, *more, twins.terms(flight.worker)),
    )
    return f"{_name(flight)} starts another attempt at {more[0]}: {_short(here)}"


async def record(twins: Twins, random: Random) -> str:
    flight = _flight(twins, random)
    if flight is None:
        return "no flight"
    transition, item = _transition(random), flight.claim
    real, model = _leases(flight, random)
    _, here = await twins.both(
        twins.guards[flight.worker].record(real, transition, item.mail, item.record),
        lambda: twins.store.record(model, transition, item.mail, item.record),
    )
    _same_leases(flight)
    return f"{_name(flight)} records {transition}: {_short(here)}"


async def record_together(twins: Twins, random: Random) -> str:
    drawn = [(_flight(twins, random), _transition(random)) for _ in range(3)]
    items = [(flight, transition) for flight, transition in drawn if flight is not None]
    if not items:
        return "no flight"
    asked = [
        twins.guards[0].record(flight.real, transition, flight.claim.mail, flight.claim.record)
        for flight, transition in items
    ]
    endings = [
        Ending(flight.model, transition, flight.claim.mail, flight.claim.record)
        for flight, transition in items
    ]
    _, here = await twins.both(twins.together(asked), lambda: twins.store.record_all(endings))
    for flight, _ in items:
        _same_leases(flight)
    told = zip(items, here, strict=True)
    return "together: " + "; ".join(
        f"{_name(flight)} records {transition}: {_short(answer)}"
        for (flight, transition), answer in told
    )


async def renew_some(twins: Twins, random: Random) -> str:
    flights = random.sample(twins.flights[-6:], k=min(3, len(twins.flights[-6:])))
    terms = twins.terms(0)
    await twins.both(
        renew(twins.sql, [flight.real for flight in flights], terms),
        lambda: twins.store.renew([flight.model for flight in flights], terms),
    )
    for flight in flights:
        _same_leases(flight)
    return "renew " + ", ".join(_name(flight) for flight in flights)


def _name(flight: Flight) -> str:
    lease: Lease = flight.model
    return f"flight {lease.token} ({lease.key} epoch {lease.epoch} attempt {lease.attempts})"


def _same_leases(flight: Flight) -> None:
    assert flight.real == flight.model, f"leases differ: {flight.real} {flight.model}"


async def park(twins: Twins, random: Random) -> str:
    at = _record(random)
    bad = Bad(
        random.choice(list(Reason)), "what", random.choice((None, *TYPES)),
        random.choice((None, *KEYS)),
    )  # fmt: skip
    await twins.both(twins.guards[0].park(at, bad), lambda: twins.store.park(at, bad))
    return f"park record {at.offset}: {bad}"


async def park_too(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(random.choice((Status.UNKNOWN, Status.WAITING)),), idle=True)
    if row is None:
        return "no row"
    at = _record(random, row)
    _, here = await twins.both(
        twins.guards[0].park_too(at, row.mail_type, row),
        lambda: twins.store.park_too(at, row.mail_type, row),
    )
    return f"park record {at.offset} beside {row.key}: {_short(here)}"


async def abandon(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.SENDING,), idle=True)
    if row is None:
        return "no row"
    at = _record(random, row)
    _, here = await twins.both(
        twins.guards[0].abandon(row, row.mail_type, at),
        lambda: twins.store.abandon(row, row.mail_type, at),
    )
    return f"abandon {row.key} epoch {row.epoch} for record {at.offset}: {_short(here)}"


async def orphan(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.SENDING, Status.WAITING, Status.UNKNOWN))
    if row is None:
        return "no row"
    await twins.both(twins.guards[0].orphan(row, "gone"), lambda: twins.store.orphan(row, "gone"))
    return f"orphan {row.key} epoch {row.epoch}, {row.status} as read"


async def take_due(twins: Twins, random: Random) -> str:
    _, here = await twins.both(
        twins.guards[0].take_due(20), lambda: twins.store.take_due(20, read_at=twins.store.now)
    )
    return f"due: {[due.letter.id for due in here]}"


async def put_off(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.UNKNOWN,))
    if row is None:
        return "no row"
    more = (random.choice((None, 2.0, 60.0)), random.choice(("asked", "waiting")), "nothing yet")
    _, here = await twins.both(
        twins.guards[0].put_off(row, *more), lambda: twins.store.put_off(row, *more)
    )
    return f"put off {row.key} epoch {row.epoch} by {more[0]}: {here}"


async def share_fate(twins: Twins, random: Random) -> str:
    return await _with_letter(twins, random, "share_fate")


async def replayed(twins: Twins, random: Random) -> str:
    return await _with_letter(twins, random, "replayed")


async def wait_for_deploy(twins: Twins, random: Random) -> str:
    return await _with_letter(twins, random, "wait_for_deploy", 600.0)


async def _with_letter(twins: Twins, random: Random, name: str, *more: Any) -> str:
    if not twins.store.letters():
        return "no letter"
    letter = _letter(twins, random)
    await twins.both(
        getattr(twins.guards[0], name)(letter, *more),
        lambda: getattr(twins.store, name)(letter, *more),
    )
    return f"{name} of letter {letter.id} of {letter.idempotency_key}, {letter.status}"


async def prove(twins: Twins, random: Random) -> str:
    key, proof = random.choice(KEYS), replace(_proof(random), by=Evidence.LOOKUP)
    _, here = await twins.both(
        twins.guards[0].prove(key, proof, "found"), lambda: twins.store.prove(key, proof, "found")
    )
    return f"proof for {key}: {proof}: {_short(here)}"


async def hear(twins: Twins, random: Random) -> str:
    at = random.choice((None, datetime.fromtimestamp(twins.store.now - random.randrange(9), UTC)))
    key, proof = random.choice(KEYS), _proof(random)
    row = twins.store.db.rows.get(key)
    known = row is not None and row.status is Status.SENT and random.random() < 0.7
    provider = row.provider if row is not None and known else proof.provider
    named = row.provider_message_id if row is not None and known else proof.provider_message_id
    notice = Notice(
        key, provider, named or "",
        random.choice(list(News)), at, random.choice(("", "550")),
    )  # fmt: skip
    _, here = await twins.both(twins.guards[0].hear(notice), lambda: twins.store.hear(notice))
    return f"{notice}: {here}"


async def outcomes_due(twins: Twins, random: Random) -> str:
    _, here = await twins.both(twins.guards[0].outcomes_due(), twins.store.outcomes_due)
    return f"to be told: {[settled.row.key for settled in here]}"


async def outcome_told(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.SENT, Status.FAILED))
    if row is None:
        return "no row"
    await twins.both(twins.guards[0].outcome_told(row), lambda: twins.store.outcome_told(row))
    return f"told: {row.key} epoch {row.epoch}"


async def news(twins: Twins, random: Random) -> str:
    _, here = await twins.both(twins.guards[0].news_due(20), lambda: twins.store.news_due(20))
    if here:
        first = here[0].id
        await twins.both(twins.guards[0].news_told(first), lambda: twins.store.news_told(first))
    return f"news: {[item.id for item in here]}, the first is told"


async def stale(twins: Twins, random: Random) -> str:
    await twins.tick(random.choice((0, 700)))
    _, here = await twins.both(twins.guards[0].stale(50), lambda: twins.store.stale(50))
    return f"stale: {[(row.key, row.status) for row in here]}"


async def prune(twins: Twins, random: Random) -> str:
    _, here = await twins.both(twins.guards[0].prune(), twins.store.prune)
    return f"pruned {here}"


async def beat(twins: Twins, random: Random) -> str:
    worker = random.randrange(2)
    owner = twins.terms(worker).owner
    _, here = await twins.both(twins.guards[worker].beat(), lambda: twins.store.beat(owner))
    return f"worker {worker} lives, of {here}"


# ── A person's acts


async def make_due(twins: Twins, random: Random) -> str:
    if not twins.store.letters():
        return "no letter"
    turns = [Turn(_letter(twins, random), random.choice((0.0, 5.0)))]
    note = random.choice(("ada: fixed it", "bob: try again"))
    _, here = await twins.both(
        twins.desk.make_due(turns, note), lambda: twins.store.make_due(turns, note)
    )
    return f"replay of {[turn.letter.id for turn in turns]}: {here}"


async def discard(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.UNKNOWN, Status.WAITING))
    key = random.choice(KEYS) if row is None else row.key
    _, here = await twins.both(
        twins.desk.discard_key(key, "ada: no"), lambda: twins.store.discard_key(key, "ada: no")
    )
    return f"discard {key}: {_short(here)}"


async def discard_letter(twins: Twins, random: Random) -> str:
    number = _letter(twins, random).id if twins.store.letters() else 0
    _, here = await twins.both(
        twins.desk.discard_letter(number, "ada: no"),
        lambda: twins.store.discard_letter(number, "ada: no"),
    )
    return f"discard letter {number}: {_short(here)}"


async def resend(twins: Twins, random: Random) -> str:
    row = _row(twins, random, of=(Status.UNKNOWN, Status.FAILED, Status.SENT))
    if row is None:
        return "no row"
    key = _key(twins, random)
    mail = replace(_mail(random, key), type=_type(row.mail_type))
    token = random.choice(("wish-1", f"{random.getrandbits(32):08x}"))
    wish = Resend(row, mail, _record(random, row, own=0.9), "ada: asked", token)
    _, here = await twins.both(twins.desk.resend(wish), lambda: twins.store.resend(wish))
    return f"resend {row.key} as {key}, token {token}: {_short(here)}"


STEPS: dict[str, tuple[float, Go]] = {
    "tick": (10, tick),
    "look": (3, look),
    "claim": (10, claim),
    "take failed": (4, take_failed),
    "take open": (8, take_open),
    "rob": (4, rob),
    "claim together": (4, claim_together),
    "start round": (5, start_round),
    "next attempt": (6, next_attempt),
    "record": (18, record),
    "record together": (4, record_together),
    "renew": (3, renew_some),
    "park": (3, park),
    "park too": (4, park_too),
    "abandon": (5, abandon),
    "orphan": (2, orphan),
    "take due": (4, take_due),
    "put off": (4, put_off),
    "share fate": (2, share_fate),
    "replayed": (2, replayed),
    "wait for deploy": (1, wait_for_deploy),
    "prove": (1, prove),
    "hear": (3, hear),
    "outcomes due": (2, outcomes_due),
    "outcome told": (2, outcome_told),
    "news": (2, news),
    "stale": (3, stale),
    "prune": (1, prune),
    "month": (0.5, month),
    "beat": (1, beat),
    "make due": (3, make_due),
    "discard": (2, discard),
    "discard letter": (1, discard_letter),
    "resend": (3, resend),
}
