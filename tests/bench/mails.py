"""What is mailed in the benchmark: receipts as a shop sends them, the folder's own examples.

They take turns: one with everything that a receipt can show, and a short one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from consumer.catalogue import Catalogue, load
from consumer.events import decode
from consumer.model import Address, Record

SCHEMAS = Path(__file__).parents[2] / "schemas"
EXAMPLES = ("cloudevent", "plain")
SENDER = "Shop <receipts@shop.example>"
PROVIDER = "postmark"
LOCALES = (("en-GB", "EUR"), ("en-US", "USD"), ("de-DE", "EUR"))


def mark(number: int) -> str:
    """Name a mail; the double finds it in the subject (`double.MARK`)."""
    return f"BENCH-{number:07}"


def values(first: int, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values of so many distinct orders."""
    folder = SCHEMAS / "order.receipt" / "examples"
    events = [json.loads((folder / f"{name}.json").read_text()) for name in EXAMPLES]
    for number in range(first, first + count):
        event = events[number % len(events)]
        yield mark(number).encode(), json.dumps(_varied(event, number)).encode()


def _varied(event: dict[str, Any], number: int) -> dict[str, Any]:
    """Make it another order of another customer, in a locale of its own."""
    if "data" in event:  # a CloudEvent
        return event | {"data": _varied(event["data"], number)}
    locale, currency = LOCALES[number % len(LOCALES)]
    order = event["order"]
    items = [item | {"total": item["total"] + number} for item in order["items"]]
    changed = {"id": mark(number), "number": mark(number), "currency": currency, "items": items}
    customer = {"email": f"customer{number}@example.com", "locale": locale}
    return event | {"order": order | changed, "customer": event["customer"] | customer}


def records(count: int) -> list[Record]:
    """Return orders as records that no Kafka has seen, for the loops that need none."""
    now = int(time.time() * 1000)
    made = enumerate(values(0, count))
    return [Record("orders", n % 4, n // 4, now, key, value) for n, (key, value) in made]


def catalogue() -> Catalogue:
    return load(
        SCHEMAS,
        senders={"shop": Address("receipts@shop.example", "Shop")},
        providers=[PROVIDER],
        retention=30 * 86400.0,
        fingerprint_key=b"benchmark",
        decode=decode,
    )
