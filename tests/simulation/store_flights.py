"""What a flight asks for that holds its row: another attempt, and more time."""

from __future__ import annotations

from collections.abc import Sequence

from consumer.guard.terms import Terms
from consumer.model import Fenced, Lease, Status
from tests.simulation.store_columns import IN_FLIGHT, Message
from tests.simulation.store_tables import Database


def next_attempt(
    db: Database, lease: Lease, provider: str, account: str, body_hash: bytes, terms: Terms
) -> Lease | Fenced:
    row = db.rows.get(lease.key)
    if row is None or row.token != lease.token:
        return Fenced(None if row is None else row.read(db.now))
    stands = (row.status, row.epoch, row.attempts)
    if stands == (Status.WAITING, lease.epoch, lease.attempts):
        _start(db, row, provider, account, body_hash, terms)
    elif (row.status, row.epoch) != (Status.SENDING, lease.epoch + 1):
        return Fenced(row.read(db.now))
    lease.attempts += 1
    lease.epoch += 1
    lease.ends_at = max(lease.ends_at, terms.ends_at)
    return lease


def _start(
    db: Database, row: Message, provider: str, account: str, body_hash: bytes, terms: Terms
) -> None:
    until = db.now + terms.lease
    same_account = (row.provider, row.account) == (provider, account)
    db.update(
        row, status=Status.SENDING, attempts=row.attempts + 1, epoch=row.epoch + 1,
        lease_until=until,
        attempt_deadline=until, provider=provider, account=account, body_hash=body_hash,
        first_attempt_at=row.first_attempt_at if same_account else db.now,
    )  # fmt: skip


def renew(db: Database, leases: Sequence[Lease], terms: Terms) -> None:
    until = db.now + terms.lease
    for lease in leases:
        row = db.rows.get(lease.key)
        if row is None or not _may_renew(row, lease):
            lease.ends_at = 0.0
            continue
        row.lease_until = until
        if row.status is Status.SENDING:
            row.attempt_deadline = until
        lease.ends_at = max(lease.ends_at, terms.ends_at)


def _may_renew(row: Message, lease: Lease) -> bool:
    ours = (row.epoch, row.token) == (lease.epoch, lease.token)
    return ours and row.status in IN_FLIGHT and row.lease_until is not None
