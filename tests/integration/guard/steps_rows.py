"""Random steps of records and flights: claims, attempts, outcomes, leases, and time that passes."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from random import Random

from consumer.guard.imports import Past, Stands
from consumer.guard.leases import renew
from consumer.guard.outcomes import Ending
from consumer.model import (
    Claim,
    Granted,
    Lease,
    Status,
)
from tests.integration.guard.draws import (
    KEYS,
    MOMENT,
    PROVIDERS,
    TYPES,
    a_claim,
    a_flight,
    a_mail,
    a_record,
    a_transition,
    short,
    type_of,
)
from tests.integration.guard.twins import LEASE, Flight, Twins

TICKS = (0, 1, 2, 10, LEASE - 1, LEASE, LEASE + 1, 60, 61, 300, 650)


async def tick(twins: Twins, random: Random) -> str:
    seconds = random.choice(TICKS)
    await twins.tick(seconds)
    return f"{seconds} s pass"


async def month(twins: Twins, random: Random) -> str:
    """A month passes, and what was closed is pruned."""
    await twins.tick(31 * 86400.0)
    return "a month passes, then: " + await prune(twins, random)


async def prune(twins: Twins, random: Random) -> str:
    _, here = await twins.both(twins.guards[0].prune(), twins.store.prune)
    return f"pruned {here}"


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
        a_claim(twins, random), mail=replace(a_mail(random, key), type=type_of(victim.mail_type)),
        record=a_record(random, victim, own=1.0), takes=random.choice((takes, takes, None)),
        token=f"{random.getrandbits(32):08x}",
    )  # fmt: skip
    return await _ask(twins, random, item)


async def bring_in(twins: Twins, random: Random) -> str:
    """Some mails are imported; one list may come again, and the answer to a batch may be lost."""
    keys = random.sample(KEYS, 2)
    mails = [
        Past(key, random.choice(TYPES), "ada@example.org", "old", f"old-{key[0]}", MOMENT)
        for key in keys
    ]
    token = random.choice(("batch-1", f"{random.getrandbits(32):08x}"))
    _, here = await twins.both(
        _sorted(twins.desk.bring_in(mails, token)),
        lambda: sorted(twins.store.bring_in(mails, token).items()),
    )
    return f"brought in: {[(key, stands.status, stands.new) for key, stands in here]}"


async def _sorted(asked: Awaitable[Mapping[str, Stands]]) -> list[tuple[str, Stands]]:
    return sorted((await asked).items())


async def look(twins: Twins, random: Random) -> str:
    mail, record = a_mail(random), a_record(random)
    asked = (mail.key, mail.type.name, record.coordinates)
    _, here = await twins.both(twins.guards[0].look(*asked), lambda: twins.store.look(*asked))
    return f"look {mail.key} or record {record.offset}: {here and here.status}"


async def claim(twins: Twins, random: Random) -> str:
    return await _ask(twins, random, a_claim(twins, random))


async def take_failed(twins: Twins, random: Random) -> str:
    return await _ask(twins, random, a_claim(twins, random, takes=(Status.FAILED,)))


async def take_open(twins: Twins, random: Random) -> str:
    item = a_claim(twins, random, takes=(Status.WAITING, Status.UNKNOWN))
    return await _ask(twins, random, item)


async def _ask(twins: Twins, random: Random, item: Claim) -> str:
    worker = random.randrange(2)
    there, here = await twins.both(
        twins.guards[worker].claim(item), lambda: twins.store.claim(item, twins.terms(worker))
    )
    return _keep(twins, worker, item, there, here)


async def claim_together(twins: Twins, random: Random) -> str:
    worker = random.randrange(2)
    items = [a_claim(twins, random) for _ in range(random.randint(2, 4))]
    there, here = await twins.both(
        twins.together(twins.guards[worker].claim(item) for item in items),
        lambda: twins.store.claim_all(items, twins.terms(worker)),
    )
    told = [_keep(twins, worker, *three) for three in zip(items, there, here, strict=True)]
    return "together: " + "; ".join(told)


async def start_round(twins: Twins, random: Random) -> str:
    worker, item = random.randrange(2), a_claim(twins, random, takes=(Status.WAITING,))
    if item.takes is None or item.takes.status is not Status.WAITING:
        return "no waiting row"  # of others it is never asked
    there, here = await twins.both(
        twins.guards[worker].start_round(item),
        lambda: twins.store.start_round(item, twins.terms(worker)),
    )
    return "next round: " + _keep(twins, worker, item, there, here)


def _keep(twins: Twins, worker: int, claim: Claim, there: object, here: object) -> str:
    if isinstance(there, Granted) and isinstance(here, Granted):
        twins.flights.append(Flight(worker, claim, there.lease, here.lease))
    takes = claim.takes and f"{claim.takes.key} {claim.takes.status} epoch {claim.takes.epoch}"
    return (
        f"worker {worker} claims {claim.mail.key} {claim.mail.type.name} {claim.mail.fingerprint} "
        f"for record {claim.record.offset} at {claim.provider}, token {claim.token}, "
        f"takes {takes}, clears {claim.clears_doubt}, late {claim.late}: {short(here)}"
    )


def _leases(flight: Flight, random: Random) -> tuple[Lease, Lease]:
    """Each side's lease; or copies, for an answer that gets lost: the flight never hears of it."""
    if random.random() < 0.2:
        return replace(flight.real), replace(flight.model)
    return flight.real, flight.model


async def next_attempt(twins: Twins, random: Random) -> str:
    flight = a_flight(twins, random, of=(Status.WAITING, Status.SENDING))
    if flight is None:
        return "no flight"
    more = (random.choice(PROVIDERS), "account", b"h2")
    real, model = _leases(flight, random)
    _, here = await twins.both(
        twins.guards[flight.worker].next_attempt(real, *more),
        lambda: twins.store.next_attempt(model, *more, twins.terms(flight.worker)),
    )
    return f"{_name(flight)} starts another attempt at {more[0]}: {short(here)}"


async def record(twins: Twins, random: Random) -> str:
    flight = a_flight(twins, random)
    if flight is None:
        return "no flight"
    transition, item = a_transition(random), flight.claim
    real, model = _leases(flight, random)
    _, here = await twins.both(
        twins.guards[flight.worker].record(real, transition, item.mail, item.record),
        lambda: twins.store.record(model, transition, item.mail, item.record),
    )
    _same_leases(flight)
    return f"{_name(flight)} records {transition}: {short(here)}"


async def record_together(twins: Twins, random: Random) -> str:
    drawn = [(a_flight(twins, random), a_transition(random)) for _ in range(3)]
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
        f"{_name(flight)} records {transition}: {short(answer)}"
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
