"""What the guard is told of privacy: from the configuration, and from the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from consumer.guard.privacy import Lifetime, Privacy
from consumer.guard.sealing import KeyRing, derived
from consumer.settings.private import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consumer.catalogue import Catalogue
    from consumer.model import MailType
    from consumer.settings import Settings

# The id of the key that stands in where no ring is configured. No id of a ring can be this one.
STAND_IN: Final = "guard.fingerprint_key"


def privacy(settings: Settings, catalogue: Catalogue | None = None) -> Privacy:
    """`catalogue`: for whoever writes letters; without it, all that are written are sealed."""
    secret = settings.guard.fingerprint_key
    types = () if catalogue is None else tuple(catalogue.types.values())
    private_topics = {one.topic for one in types if one.private}
    return Privacy(
        ring=_ring(settings),
        hash_key=secret.get_secret_value().encode() if secret else None,
        plain_types=frozenset(one.name for one in types if not one.private),
        plain_topics=frozenset(one.topic for one in types) - private_topics,
        lifetimes=(*_of_types(types), *_of_topics(types, private_topics)),
        blank_after=settings.privacy.blank_recipients_after,
    )


def _ring(settings: Settings) -> KeyRing:
    """The key that stands in stays in the ring: letters from before a ring was made are read."""
    keys = {name: decoded(key) for name, key in settings.privacy.keys.items()}
    current = settings.privacy.current or next(iter(keys), None)
    if secret := settings.guard.fingerprint_key:
        keys[STAND_IN] = derived(secret.get_secret_value().encode())
        current = current or STAND_IN
    return KeyRing(keys, current)


def _of_types(types: Iterable[MailType]) -> Iterable[Lifetime]:
    return [Lifetime(one.topic, one.name, one.max_age) for one in types if one.private]


def _of_topics(types: Iterable[MailType], private_topics: set[str]) -> Iterable[Lifetime]:
    """What cannot be read may be of any of the topic's types: the longest life counts."""
    longest: dict[str, float] = {}
    for one in types:
        longest[one.topic] = max(one.max_age, longest.get(one.topic, 0.0))
    return [Lifetime(topic, None, longest[topic]) for topic in sorted(private_topics)]
