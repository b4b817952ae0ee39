"""On what terms a row is claimed, and a claim as the columns of its statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from consumer.model import Claim, Lease, Row, Status, elapsed

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Terms:
    """On which a batch is claimed. `started`: read from `elapsed` before its first try went out."""

    owner: str
    lease: float
    started: float

    @classmethod
    def from_now(cls, owner: str, lease: float) -> Terms:
        return cls(owner, lease, elapsed())

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=self.lease)

    @property
    def ends_at(self) -> float:
        return self.started + self.lease


def is_ours(row: Row, item: Claim) -> bool:
    """The row is in flight under our own token: the answer to its COMMIT was lost."""
    return row.status is Status.SENDING and row.token == item.token


def lease_of(values: Any, terms: Terms) -> Lease:
    """Return the lease of a row that was just claimed, from what its statement gave back."""
    return Lease(
        values["key"],
        values["epoch"],
        values["token"],
        terms.ends_at,
        values["attempts"],
        values["round"],
    )


def own_lease(row: Row, terms: Terms) -> Lease:
    return Lease(row.key, row.epoch, row.token, terms.ends_at, row.attempts, row.round)


def columns(
    items: Sequence[Item], values: Callable[[Item], tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    return list(zip(*map(values, items), strict=True))


def values_of(item: Claim) -> tuple[Any, ...]:
    mail, record = item.mail, item.record
    return (
        mail.key, mail.type.name, mail.recipient, mail.fingerprint, mail.type.digest,
        item.provider, item.account, item.token, item.body_hash,
        record.topic, record.partition, record.offset, record.timestamp,
    )  # fmt: skip
