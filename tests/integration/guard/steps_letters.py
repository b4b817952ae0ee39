"""Random steps beside the line: letters, evidence, news, upkeep, and what a person does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from consumer.guard.operators import Turn
from consumer.guard.resends import Resend
from consumer.model import (
    Bad,
    Evidence,
    News,
    Notice,
    Reason,
    Status,
)
from tests.integration.guard.draws import (
    KEYS,
    TYPES,
    a_key,
    a_letter,
    a_mail,
    a_proof,
    a_record,
    a_row,
    short,
    type_of,
)
from tests.integration.guard.twins import Twins


async def park(twins: Twins, random: Random) -> str:
    at = a_record(random)
    bad = Bad(
        random.choice(list(Reason)), "what", random.choice((None, *TYPES)),
        random.choice((None, *KEYS)),
    )  # fmt: skip
    fresh, guard = random.random() < 0.5, twins.guards[0]
    await twins.both(
        guard.park(at, bad, fresh=fresh), lambda: twins.store.park(at, bad, fresh=fresh)
    )
    return f"park record {at.offset}: {bad}{', fresh' if fresh else ''}"


async def park_too(twins: Twins, random: Random) -> str:
    row = a_row(twins, random, of=(random.choice((Status.UNKNOWN, Status.WAITING)),), idle=True)
    if row is None:
        return "no row"
    at = a_record(random, row)
    _, here = await twins.both(
        twins.guards[0].park_too(at, row.mail_type, row),
        lambda: twins.store.park_too(at, row.mail_type, row),
    )
    return f"park record {at.offset} beside {row.key}: {short(here)}"


async def abandon(twins: Twins, random: Random) -> str:
    row = a_row(twins, random, of=(Status.SENDING,), idle=True)
    if row is None:
        return "no row"
    at = a_record(random, row)
    _, here = await twins.both(
        twins.guards[0].abandon(row, row.mail_type, at),
        lambda: twins.store.abandon(row, row.mail_type, at),
    )
    return f"abandon {row.key} epoch {row.epoch} for record {at.offset}: {short(here)}"


async def orphan(twins: Twins, random: Random) -> str:
    row = a_row(twins, random, of=(Status.SENDING, Status.WAITING, Status.UNKNOWN))
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
    row = a_row(twins, random, of=(Status.UNKNOWN,))
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
    letter = a_letter(twins, random)
    await twins.both(
        getattr(twins.guards[0], name)(letter, *more),
        lambda: getattr(twins.store, name)(letter, *more),
    )
    return f"{name} of letter {letter.id} of {letter.idempotency_key}, {letter.status}"


async def prove(twins: Twins, random: Random) -> str:
    key, proof = random.choice(KEYS), replace(a_proof(random), by=Evidence.LOOKUP)
    _, here = await twins.both(
        twins.guards[0].prove(key, proof, "found"), lambda: twins.store.prove(key, proof, "found")
    )
    return f"proof for {key}: {proof}: {short(here)}"


async def hear(twins: Twins, random: Random) -> str:
    at = random.choice((None, datetime.fromtimestamp(twins.store.now - random.randrange(9), UTC)))
    key, proof = random.choice(KEYS), a_proof(random)
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
    row = a_row(twins, random, of=(Status.SENT, Status.FAILED))
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


async def make_due(twins: Twins, random: Random) -> str:
    if not twins.store.letters():
        return "no letter"
    turns = [Turn(a_letter(twins, random), random.choice((0.0, 5.0)))]
    note = random.choice(("ada: fixed it", "bob: try again"))
    _, here = await twins.both(
        twins.desk.make_due(turns, note), lambda: twins.store.make_due(turns, note)
    )
    return f"replay of {[turn.letter.id for turn in turns]}: {here}"


async def discard(twins: Twins, random: Random) -> str:
    row = a_row(twins, random, of=(Status.UNKNOWN, Status.WAITING))
    key = random.choice(KEYS) if row is None else row.key
    _, here = await twins.both(
        twins.desk.discard_key(key, "ada: no"), lambda: twins.store.discard_key(key, "ada: no")
    )
    return f"discard {key}: {short(here)}"


async def discard_letter(twins: Twins, random: Random) -> str:
    number = a_letter(twins, random).id if twins.store.letters() else 0
    _, here = await twins.both(
        twins.desk.discard_letter(number, "ada: no"),
        lambda: twins.store.discard_letter(number, "ada: no"),
    )
    return f"discard letter {number}: {short(here)}"


async def resend(twins: Twins, random: Random) -> str:
    row = a_row(twins, random, of=(Status.UNKNOWN, Status.FAILED, Status.SENT))
    if row is None:
        return "no row"
    key = a_key(twins, random)
    mail = replace(a_mail(random, key), type=type_of(row.mail_type))
    token = random.choice(("wish-1", f"{random.getrandbits(32):08x}"))
    wish = Resend(row, mail, a_record(random, row, own=0.9), "ada: asked", token)
    _, here = await twins.both(twins.desk.resend(wish), lambda: twins.store.resend(wish))
    return f"resend {row.key} as {key}, token {token}: {short(here)}"


async def beat(twins: Twins, random: Random) -> str:
    worker = random.randrange(2)
    owner = twins.terms(worker).owner
    _, here = await twins.both(twins.guards[worker].beat(), lambda: twins.store.beat(owner))
    return f"worker {worker} lives, of {here}"
