"""What must hold, whatever happened: judged by what exists, never by what the service says.

    L1  every record ends in one visible state
    L2  no key is accepted twice, unless its type's policy or a person allowed it
    L3  no offset is committed before its record's outcome, or its dead letter
    L4  offsets only grow, and never pass the end of the log
    L5  `sent` rows name a mail that exists
    L6  rows that nobody knew about end settled, or shown to a person
    L7  attempts stay within the cap of a round, rounds within their schedule

And: nothing is stuck for ever, upstream hears of every row, and alarms are true.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from consumer.guard.letters import LetterStatus
from consumer.model import OnUnknown, Reason, Record, Status
from consumer.rounds import NEXT_ROUNDS
from tests.simulation.store_upkeep import ENDED

if TYPE_CHECKING:
    from tests.simulation.store_columns import Message, StoredLetter
    from tests.simulation.world import World

OPEN_LETTER = (LetterStatus.OPEN, LetterStatus.PARKED)
REFUSED = (Reason.CONFLICT, Reason.KEY_DRIFT)  # of other records: they say nothing of a row
CLOSED = (Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED)


class ViolationError(AssertionError):
    """A law is broken. The message says which, and by what."""


def broken(law: str, what: str) -> ViolationError:
    return ViolationError(f"{law}: {what}")


# ── While it runs


def on_commit(world: World, partition: object, before: int, offset: int) -> None:
    """Hold L3 and L4, at the moment at which the broker takes a commit."""
    log = world.broker.logs[partition]  # type: ignore[index] # a Partition
    if offset < before:
        raise broken("L4", f"{partition} went back from {before} to {offset}")
    if offset > log.end:
        raise broken("L4", f"{partition} committed {offset}, the log ends at {log.end}")
    for record in log.records:
        if before <= record.offset < offset:
            _finished(world, record, "L3")


def _finished(world: World, record: Record, law: str) -> None:
    """Say where this record ended: a closed row, a dead letter of its own, or a written rule."""
    db = world.database.store.db
    at = record.coordinates
    if at in world.ended | world.database.flown:
        return  # closed as its own row, or by its own flight: another record may have it open again
    if any(letter.at == at for letter in db.letters.values()):
        return
    key = world.key_of(record)
    if key is None:  # no mail can come of it: then there is a letter, unless it says nothing
        if record.value is None:
            return
        raise broken(law, f"bad record {_at(record)} has no dead letter")
    row = db.rows.get(key)
    apart = row is None or row.at != at or world.may_be_skipped(record, row.claimed_at)
    if apart and world.may_be_skipped(record, world.loop.now):
        return  # too old when it was looked at; what has its key is younger, or a sleeper's claim
    if row is None or row.status not in CLOSED:
        stands = "no row" if row is None else f"a row that is {row.status}"
        raise broken(law, f"record {_at(record)} of {key} has {stands} and no dead letter")
    if world.setting.outcomes and law == "L3" and not _told(world, record):
        raise broken(law, f"record {_at(record)} of {key}: upstream has not heard")


def _told(world: World, record: Record) -> bool:
    for _, value in world.outcomes:
        source = json.loads(value)["source"]
        if (source["partition"], source["offset"]) == (record.partition, record.offset):
            return True
    return False


def on_write(world: World) -> None:
    """Hold L5 and L7 after each statement, and note which records have ended."""
    for row in world.database.store.db.rows.values():
        if row.status in CLOSED:
            if row.at is not None:
                world.ended.add(row.at)
        elif row.at is not None and world.failed.get(row.key) == row.at:
            _was_asked_for(world, row)
        world.failed[row.key] = row.at if row.status is Status.FAILED else None
        if row.attempts > world.setting.max_attempts:
            raise broken("L7", f"{row.key} has {row.attempts} attempts in one round")
        if row.round > len(NEXT_ROUNDS):
            raise broken("L7", f"{row.key} is in round {row.round}")
        if row.status is Status.SENT:
            _exists(world, row)


def _was_asked_for(world: World, row: Message) -> None:
    """What failed is tried again for a person, or for another record; not for a redelivery."""
    if row.key not in world.replayed and row.version == 1:
        raise broken("L7", f"{row.key} had failed, and is tried again for the same record")


def _exists(world: World, row: Message) -> None:
    for mail in world.ledger.mails:
        if (mail.id, mail.key, mail.provider) == (row.provider_message_id, row.key, row.provider):
            return
    raise broken("L5", f"{row.key} is sent as {row.provider_message_id}, which does not exist")


def on_accepted(world: World, key: str) -> None:
    """Hold L2 at the moment of the second acceptance."""
    copies = len(world.ledger.of(key))
    if copies > world.copies_allowed(key):
        raise broken("L2", f"{key} was accepted {copies} times")


# ── At the end


def settled(world: World) -> bool:
    """Say whether nothing is left to wait for."""
    db = world.database.store.db
    for partition, log in world.broker.logs.items():
        if log.records and world.broker.committed.get(partition, 0) <= log.records[-1].offset:
            return False
    if any(_waits(world, letter) for letter in db.letters.values()):
        return False
    return not any(
        row.outcome_due or _is_open(world, row) or _is_untold(world, row)
        for row in db.rows.values()
    )


def _is_open(world: World, row: Message) -> bool:
    """`sending` never lasts; `waiting` may, where a person was shown its record, and why."""
    if row.status is Status.WAITING:
        return not _shown(world, row, but=ENDED)
    return row.status is Status.SENDING


def _is_untold(world: World, row: Message) -> bool:
    """Whoever is shown it is shown its key; what a deploy made of its record alone says nothing."""
    return row.status is Status.UNKNOWN and not any(
        letter.key == row.key for letter in _showing(world, row)
    )


def at_the_end(world: World) -> None:
    for partition, log in world.broker.logs.items():
        committed = world.broker.committed.get(partition, 0)
        if log.records and committed <= log.records[-1].offset:
            raise broken("stuck", f"{partition} is committed up to {committed} of {log.end}")
        for record in log.records:
            _finished(world, record, "L1")
    for row in world.database.store.rows():
        _ended(world, row)
    for letter in world.database.store.letters():
        if _waits(world, letter):
            raise broken("stuck", f"the letter of {letter.key} is parked: {letter.detail}")
    _upstream_heard(world)
    _alarms_are_true(world)


def _ended(world: World, row: Message) -> None:
    if _is_open(world, row):
        raise broken("stuck", f"{row.key} is {row.status}: {row.error}")
    if _is_untold(world, row):
        raise broken("L6", f"{row.key} is unknown, and no dead letter says so")
    mails = world.ledger.of(row.key)
    if row.status in (Status.FAILED, Status.EXPIRED) and mails:
        raise broken("L6", f"{row.key} is {row.status} ({row.error}), but {mails[0].id} exists")


def _waits(world: World, letter: StoredLetter) -> bool:
    """Say whether something is yet to become of a letter; a deploy that cannot read it may last."""
    return letter.status is LetterStatus.PARKED and world.read(letter.record) is not None


def _shown(world: World, row: Message, but: tuple[Reason, ...] = ()) -> bool:
    return any(letter.reason not in but for letter in _showing(world, row))


def _showing(world: World, row: Message) -> list[StoredLetter]:
    """Return letters of its own record, open, or parked until a deploy can read it again."""
    return [
        letter
        for letter in world.database.store.letters()
        if letter.at == row.at
        and letter.status in OPEN_LETTER
        and letter.reason not in REFUSED
        and not _waits(world, letter)
    ]


def _upstream_heard(world: World) -> None:
    if not world.setting.outcomes:
        return
    told = [json.loads(value) for _, value in world.outcomes]
    for row in world.database.store.rows():
        words = _WORDS.get(row.status)
        if words is None or _set_aside(world, row):
            continue
        heard = [one for one in told if one["idempotency_key"] == row.key]
        if not any(one["status"] in words for one in heard):
            raise broken("told", f"{row.key} is {row.status}; upstream heard {heard}")


def _set_aside(world: World, row: Message) -> bool:
    """A deploy could not read the record of this row any more: that was told, and is shown.

    A letter that it had before keeps its key; a mail made again takes the record with it.
    """
    letters = world.database.store.letters()
    unread = [one for one in letters if one.key is None or one.reason is Reason.INVALID]
    return any(row.at in (letter.at, None) for letter in unread)


_WORDS = {
    Status.SENT: ("sent",),
    Status.FAILED: ("failed", "dead_letter"),
    Status.EXPIRED: ("expired",),
    Status.DISCARDED: ("discarded",),
}


def _alarms_are_true(world: World) -> None:
    for alarmed, _ in world.database.store.doubles:
        if len(world.ledger.of(alarmed.key)) < 2:
            raise broken("alarm", f"{alarmed.key} was alarmed as a double, and is none")
    for row in world.database.store.rows():
        twice = row.second_message_id is not None
        if twice and len(world.ledger.of(row.key)) < 2:
            raise broken("alarm", f"{row.key} names a second mail, and there is none")


def _at(record: Record) -> str:
    return f"{record.partition}/{record.offset}"


def policy_allows(on_unknown: OnUnknown, attempts: int) -> int:
    """How often a key may be accepted: once, or as often as its type's policy sends again."""
    return attempts if on_unknown is OnUnknown.RESEND else 1
