"""A guard that has something to hide: keys, and a type whose records are sealed."""

from __future__ import annotations

from consumer.guard.privacy import Lifetime, Privacy
from consumer.guard.sealing import KeyRing

MAX_AGE = 1800.0
HASH_KEY = b"of fingerprints"
OLD, NEW = b"o" * 32, b"n" * 32


def privacy(*, current: str = "old", only: str = "", blank_after: float | None = None) -> Privacy:
    """All types of the topic `orders` are private. `only`: the one key that is in the ring."""
    keys = {name: key for name, key in {"old": OLD, "new": NEW}.items() if only in ("", name)}
    lifetimes = (
        Lifetime("orders", "order.receipt", MAX_AGE),
        Lifetime("orders", None, MAX_AGE),
    )
    ring = KeyRing(keys, only or current)
    return Privacy(ring, HASH_KEY, lifetimes=lifetimes, blank_after=blank_after)
