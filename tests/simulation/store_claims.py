"""Looks, claims, takeovers, further attempts and renewals, on dicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from consumer.guard.history import Entry
from consumer.guard.terms import Terms, is_ours, own_lease
from consumer.model import (
    Claim,
    ClaimResult,
    Coordinates,
    Evidence,
    Found,
    Granted,
    Lease,
    Row,
    Status,
)
from tests.simulation.store_columns import Message
from tests.simulation.store_tables import Database, UniqueViolationError


@dataclass(slots=True)
class Standing:
    """What a claim meets, as read: under its key, and under another key at its coordinates."""

    by_key: Row | None
    elsewhere: Row | None

    @property
    def row(self) -> Row | None:
        """The key's row, unless it failed and the coordinates are spoken for elsewhere."""
        key, place = self.by_key, self.elsewhere
        spoken_for = place is not None and not _gives_way(place)
        if key is None or (key.status is Status.FAILED and spoken_for):
            return place
        return key


def _gives_way(row: Row | Message) -> bool:
    """Certainly not sent, and nobody asked for it again."""
    return row.status is Status.FAILED and row.version == 1


def look(db: Database, key: str, mail_type: str, at: Coordinates) -> Row | None:
    return _find(db, key, mail_type, at).row


def _find(db: Database, key: str, mail_type: str, at: Coordinates) -> Standing:
    by_key, elsewhere = db.rows.get(key), db.at_place(mail_type, at)
    if elsewhere is not None and elsewhere.key == key:
        elsewhere = None
    return Standing(
        None if by_key is None else by_key.read(db.now),
        None if elsewhere is None else elsewhere.read(db.now),
    )


def _find_for(db: Database, item: Claim) -> Standing:
    return _find(db, item.mail.key, item.mail.type.name, item.record.coordinates)


# ── Claims


def claim(db: Database, claims: Sequence[Claim], terms: Terms) -> list[ClaimResult]:
    results = _round(db, dict(enumerate(claims)), terms)
    while len(results) < len(claims):  # a row that was to be taken over is gone: claim it as new
        gone = {n: item for n, item in enumerate(claims) if n not in results}
        results |= _round(db, {n: replace(item, takes=None) for n, item in gone.items()}, terms)
    return [results[n] for n in range(len(claims))]


def _round(db: Database, claims: dict[int, Claim], terms: Terms) -> dict[int, ClaimResult]:
    won = _write(db, list(claims.values()), terms)
    results: dict[int, ClaimResult] = {
        n: Granted(won[item.token]) for n, item in claims.items() if item.token in won
    }
    losers = {n: _find_for(db, item) for n, item in claims.items() if n not in results}
    for n, standing in losers.items():  # read for all, before the first robs anybody
        result = _lost(db, claims[n], standing, terms)
        if result is not None:
            results[n] = result
    return results


def _write(db: Database, claims: list[Claim], terms: Terms) -> dict[str, Lease]:
    claims.sort(key=lambda item: item.mail.key)
    new = [item for item in claims if not _takes(item)]
    taken = [item for item in claims if _takes(item) and not _moves(item)]
    new.sort(key=lambda item: item.late)  # a statement of their own, after the others'
    done = [item for item in new if _insert(db, item, terms)]
    done += [item for item in taken if _take_over(db, item, terms)]
    return {item.token: _own(db.rows[item.mail.key], terms) for item in done}


def _insert(db: Database, item: Claim, terms: Terms) -> bool:
    until = db.now + terms.lease
    return db.insert(
        Message(
            item.mail.key, item.mail.type.name, item.mail.recipient, Status.SENDING,
            item.mail.fingerprint, item.mail.type.digest, item.provider, item.account, 1, 0, 1,
            terms.owner, item.token, until, db.now, until, item.body_hash,
            item.record.coordinates, db.now, outcome_due=item.late,
        )
    )  # fmt: skip


def _take_over(db: Database, item: Claim, terms: Terms, *, new_round: bool = False) -> bool:
    row, takes = db.rows.get(item.mail.key), item.takes
    if row is None or takes is None:
        return False
    read = takes.epoch, takes.status, takes.attempts
    if (row.epoch, row.status, row.attempts) != read:
        return False
    if not _may_be_taken(row, item, db.now):
        return False
    why = _why(row.status, item, new_round=new_round)
    db.update(row, **_as_taken(db, row, item, terms, new_round=new_round))
    db.write_line(
        Entry(row.key, "taken over", row.provider, row.account, row.epoch, row.attempts, detail=why)
    )
    return True


def _may_be_taken(row: Message, item: Claim, now: float) -> bool:
    if row.status is Status.WAITING:
        return not row.lease_live(now)
    if row.status is Status.UNKNOWN:  # in doubt: by the account that sent, and no other
        same_account = (row.provider, row.account) == (item.provider, item.account)
        return item.clears_doubt or same_account
    return row.status is Status.FAILED


def _why(status: Status, item: Claim, *, new_round: bool) -> str:
    if status is Status.UNKNOWN:
        return "never sent, by absence" if item.clears_doubt else "once more, in doubt"
    if status is Status.FAILED:
        return "failed before"
    return "the next round" if new_round else "its attempts go on"


def _as_taken(
    db: Database, row: Message, item: Claim, terms: Terms, *, new_round: bool
) -> dict[str, Any]:
    """A `failed` row starts anew, for the record at hand; the others go on where they stand."""
    failed, until = row.status is Status.FAILED, db.now + terms.lease
    same_account = (row.provider, row.account) == (item.provider, item.account)
    doubt = {"doubt_since": None, "doubt_provider": None} if item.clears_doubt else {}
    return {
        "status": Status.SENDING,
        "epoch": row.epoch + 1,
        "owner": terms.owner,
        "token": item.token,
        "lease_until": until,
        "attempt_deadline": until,
        "attempts": 1 if failed or new_round else row.attempts + 1,
        "round": 0 if failed else row.round + new_round,
        "fingerprint": item.mail.fingerprint,
        "catalogue": item.mail.type.digest,
        "recipient": item.mail.recipient,
        "body_hash": item.body_hash,
        "first_attempt_at": (same_account and not failed and row.first_attempt_at) or db.now,
        "provider": item.provider,
        "account": item.account,
        "error": None,
        "claimed_at": db.now,
        "at": item.record.coordinates if failed else row.at,
        "settled_by": None if failed else _settled_by(row, item),
        "outcome_due": row.outcome_due or item.late or row.status is Status.UNKNOWN,
        **doubt,
    }


def _settled_by(row: Message, item: Claim) -> str | None:
    absent = row.status is Status.UNKNOWN and item.clears_doubt
    return Evidence.ABSENCE if absent else row.settled_by


def start_round(db: Database, item: Claim, terms: Terms) -> ClaimResult:
    row = db.rows.get(item.mail.key)
    if _take_over(db, item, terms, new_round=True):
        return Granted(_own(db.rows[item.mail.key], terms))
    if row is None:
        raise LookupError("the row of a parked record is gone")
    read = row.read(db.now)
    return Granted(own_lease(read, terms)) if is_ours(read, item) else Found(read)


def _lost(db: Database, item: Claim, standing: Standing, terms: Terms) -> ClaimResult | None:
    by_key, elsewhere = standing.by_key, standing.elsewhere
    if by_key is not None and is_ours(by_key, item):
        return Granted(own_lease(by_key, terms))
    robbed = by_key is None and elsewhere is not None and _gives_way(elsewhere)
    if _moves(item) or robbed:
        return _claim_with_coordinates(db, item, terms)
    row = standing.row
    return None if row is None else Found(row)


def _claim_with_coordinates(db: Database, item: Claim, terms: Terms) -> ClaimResult | None:
    """In one transaction: a `failed` row elsewhere gives up the coordinates, and we claim."""
    robbed = db.at_place(item.mail.type.name, item.record.coordinates)
    if robbed is None or robbed.key == item.mail.key or not _gives_way(robbed):
        return _claim_alone(db, item, terms) or _what_stands(db, item, terms)
    at, epoch = robbed.at, robbed.epoch
    db.update(robbed, at=None, epoch=epoch + 1)
    granted = _claim_alone(db, item, terms)
    if granted is None:  # rolled back
        db.update(robbed, at=at, epoch=epoch)
    return granted or _what_stands(db, item, terms)


def _claim_alone(db: Database, item: Claim, terms: Terms) -> Granted | None:
    try:
        done = (_take_over if _takes(item) else _insert)(db, item, terms)
    except UniqueViolationError:
        return None
    return Granted(_own(db.rows[item.mail.key], terms)) if done else None


def _what_stands(db: Database, item: Claim, terms: Terms) -> ClaimResult | None:
    standing = _find_for(db, item)
    by_key, elsewhere = standing.by_key, standing.elsewhere
    if by_key is not None and is_ours(by_key, item):
        return Granted(own_lease(by_key, terms))
    if elsewhere is not None and not _gives_way(elsewhere):
        return Found(elsewhere)
    return None if by_key is None else Found(by_key)


def _takes(item: Claim) -> bool:
    return item.takes is not None and item.takes.key == item.mail.key


def _moves(item: Claim) -> bool:
    row = item.takes
    if row is None or row.key != item.mail.key or row.status is not Status.FAILED:
        return False
    return row.coordinates != item.record.coordinates


def _own(row: Message, terms: Terms) -> Lease:
    return Lease(row.key, row.epoch, row.token, terms.ends_at, row.attempts, row.round)
