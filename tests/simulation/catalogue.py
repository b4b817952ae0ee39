"""A catalogue small enough to be read by a thousand worlds a second, and its deploys.

A record is `{"type": ..., "k": entity, "c": content}`. Each deploy has its own digest; some change
what is rendered, some the fingerprint, some cannot read what others could.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from consumer.model import (
    Address,
    Bad,
    Event,
    Mail,
    MailType,
    Message,
    Reason,
    Record,
    Skipped,
)

SHOP = Address("shop@example.com")


@dataclass(frozen=True, slots=True)
class Kept:
    """An edition of a mail type; its snapshot is the deploy itself."""

    digest: str
    mail_type: str
    fingerprints: str
    snapshot: Deploy


@dataclass(frozen=True, slots=True)
class Deploy:
    """One release of the catalogue."""

    number: int
    types: dict[str, MailType]
    body: str = "hello"  # of the template
    variables: str = ""  # what the mapping adds to the context
    unreadable: frozenset[str] = frozenset()  # entities it cannot map
    keys: str = ""  # drifts: what it puts before every key
    unrenderable: frozenset[str] = frozenset()
    account: str = "acme"  # at the providers

    def mended(self) -> Deploy:
        """The release after it, in which everything can be read and rendered again."""
        return replace(self, unreadable=frozenset(), unrenderable=frozenset())

    def basis(self, digest: str) -> str | None:
        """What the context is made of, by which two deploys' fingerprints can be compared."""
        ours = {one.digest for one in self.types.values()}
        return f"{self.keys}|{self.variables}" if digest in ours else None

    def editions(self) -> list[Kept]:
        """What a worker keeps of this deploy before it sends with it."""
        return [
            Kept(one.digest, name, self.basis(one.digest) or "", self)
            for name, one in self.types.items()
        ]

    def former(self, edition: Kept) -> Deploy:
        return edition.snapshot

    def read(self, record: Record, event: Event) -> Mail | Skipped | Bad:
        mail_type = self.types.get(event.type)
        if mail_type is None:
            return Bad(Reason.UNKNOWN_TYPE, "no such folder", event.type)
        entity, content = event.data.get("k"), event.data.get("c")
        if not isinstance(entity, str) or not isinstance(content, str):
            return Bad(Reason.INVALID, "k and c are strings", event.type)
        if entity in self.unreadable:
            return Bad(Reason.INVALID, "this deploy cannot map it", event.type)
        return Mail(
            type=mail_type,
            key=f"{self.keys}{event.type}:{entity}",
            entity_id=entity,
            recipient=f"{entity}@example.com",
            fingerprint=f"{content}{self.variables}",
            context={"c": content},
            occurred_at=datetime.fromtimestamp(record.timestamp / 1000, UTC),
        )

    def render(self, mail: Mail) -> Message | Bad:
        if mail.entity_id in self.unrenderable:
            return Bad(Reason.INVALID, "body.txt.j2 line 1", mail.type.name, mail.key)
        return Message(
            key=mail.key,
            mail_type=mail.type.name,
            sender=SHOP,
            to=Address(mail.recipient),
            subject="",
            text=f"{self.body} {mail.context['c']}",
            html="",
            message_id=f"<{mail.key}@example.com>",
        )
