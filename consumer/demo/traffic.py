"""What upstream publishes in the demo: two kinds of mail, as CloudEvents and as plain JSON.

Among them: the same event again, the same key with other content, records that no reader should
guess at, tombstones, and events that are too old to be mailed.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ORDERS, ACCOUNTS, PREVIEWS = "orders", "accounts", "previews"
TOPICS = (ORDERS, ACCOUNTS, PREVIEWS)

TOTAL = 2000
REPEATS = TOTAL // 10
DRIFTED = 20
BROKEN_OF_A_KIND = 3
PREVIEWED_OF_A_KIND = 3

PEOPLE = (
    ("Ada Lovelace", "en-GB", "EUR"),
    ("Grace Hopper", "en-US", "USD"),
    ("Lise Meitner", "de-AT", "EUR"),
    ("Sofja Kowalewskaja", "sv-SE", "SEK"),
    ("湯川 秀樹", "ja-JP", "JPY"),
    ("Émilie du Châtelet", "fr-FR", "EUR"),
)


@dataclass(frozen=True, slots=True)
class Publication:
    topic: str
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def traffic(schemas: Path) -> list[Publication]:
    """Make the demo's 2,000 publications; the same ones each time, but for their times."""
    chance = random.Random(2000)  # noqa: S311 - a fixed seed, nothing secret
    order, reset = (_example(schemas, kind) for kind in ("order.receipt", "password.reset"))
    special = [*_drifted(order), *_broken(order), *_passed_over(order), *_previews(order, reset)]
    fresh = [
        _receipt(order, n) if n % 4 else _reset(reset, n)
        for n in range(TOTAL - REPEATS - len(special))
    ]
    everything = [*fresh, *chance.sample(fresh, REPEATS), *special]
    chance.shuffle(everything)
    return everything


def _example(schemas: Path, kind: str) -> dict[str, Any]:
    """Take the data of a folder's own example."""
    event = json.loads((schemas / kind / "examples" / "cloudevent.json").read_text())
    data: dict[str, Any] = event["data"]
    return data


def _receipt(example: dict[str, Any], n: int, topic: str = ORDERS, **changes: Any) -> Publication:
    data = copy.deepcopy(example)
    name, locale, currency = PEOPLE[n % len(PEOPLE)]
    data["order"] |= {"id": f"A-{n:05}", "number": f"A-{n:05}", "currency": currency, **changes}
    data["customer"] |= {"email": f"customer{n}@example.com", "name": name, "locale": locale}
    return _cloud_event(topic, "order.receipt", f"A-{n:05}", data)


def _reset(example: dict[str, Any], n: int, topic: str = ACCOUNTS) -> Publication:
    """Make a reset as plain JSON, its type in a header."""
    data = copy.deepcopy(example)
    name, locale, _ = PEOPLE[n % len(PEOPLE)]
    now = datetime.now(UTC)
    data["reset"] |= {
        "id": f"r{n:05}",
        "requested_at": now.isoformat(),
        "expires_at": (now + timedelta(minutes=30)).isoformat(),
    }
    data["account"] |= {"email": f"customer{n}@example.com", "name": name, "locale": locale}
    value = json.dumps(data).encode()
    return Publication(topic, f"r{n:05}".encode(), value, (("type", b"password.reset"),))


def _cloud_event(
    topic: str, kind: str, entity: str, data: dict[str, Any], **attributes: str
) -> Publication:
    event = {
        "specversion": "1.0",
        "id": f"{kind}/{entity}",
        "source": "https://shop.example/demo",
        "type": kind,
        **attributes,
        "data": data,
    }
    return Publication(topic, entity.encode(), json.dumps(event).encode())


def _drifted(order: dict[str, Any]) -> Iterator[Publication]:
    """Two events that claim to be the same receipt and disagree about its total."""
    for n in range(70_000, 70_000 + DRIFTED):
        yield _receipt(order, n)
        yield _receipt(order, n, total=1)


def _broken(order: dict[str, Any]) -> Iterator[Publication]:
    later = (datetime.now(UTC) + timedelta(days=400)).isoformat()
    for n in range(80_000, 80_000 + BROKEN_OF_A_KIND):
        key = f"A-{n}".encode()
        yield Publication(ORDERS, key, b'{"order": {"id": "cut o')
        yield Publication(ORDERS, key, b'{"type": "order.receipt", "order": 1, "order": 2}')
        yield Publication(ORDERS, key, b"\x00\x00\x00\x00\x07a registry's format")
        yield _cloud_event(ORDERS, "order.viewed", f"A-{n}", order)
        yield _receipt(order, n, total="about ten")
        yield _cloud_event(ORDERS, "order.receipt", f"A-{n}", order, time=later)


def _passed_over(order: dict[str, Any]) -> Iterator[Publication]:
    """What a written rule skips: a deleted key, and an event from a year ago."""
    long_ago = (datetime.now(UTC) - timedelta(days=365)).isoformat()
    for n in range(90_000, 90_000 + BROKEN_OF_A_KIND):
        yield Publication(ORDERS, f"A-{n}".encode(), None)
        yield _cloud_event(ORDERS, "order.receipt", f"A-{n}", order, time=long_ago)


def _previews(order: dict[str, Any], reset: dict[str, Any]) -> Iterator[Publication]:
    for n in range(PREVIEWED_OF_A_KIND):
        yield _receipt(order, n, PREVIEWS)
        yield _reset(reset, n, PREVIEWS)
