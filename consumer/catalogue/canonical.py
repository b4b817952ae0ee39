"""One way to write a JSON value, and the fingerprint over it.

Members sorted, array order kept, no space, UTF-8 as it is: an accent composed and one decomposed
are two texts, and 1 and 1.0 two numbers. Rewritten by a producer in another spelling of the same
members, an event keeps its fingerprint; with anything else that can reach the mail, it does not.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

import orjson

from consumer.model import Json


def canonical(value: Json | Sequence[Json] | Mapping[str, Json]) -> bytes:
    """Return the canonical bytes; integers of any size."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer beyond 64 bits, which orjson leaves to others
        plain = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return plain.encode()


def fingerprint(value: Sequence[Json], key: bytes | None) -> str:
    """Return SHA-256 in hex; HMAC with the key, where what is hashed could be guessed."""
    if key is None:
        return hashlib.sha256(canonical(value)).hexdigest()
    return hmac.new(key, canonical(value), hashlib.sha256).hexdigest()
