"""What upstream publishes in these tests: receipts and resets made of the catalogue's examples."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

SCHEMAS = Path(__file__).parents[2] / "schemas"
_RECEIPT = orjson.loads((SCHEMAS / "order.receipt/examples/cloudevent.json").read_bytes())
_RESET = orjson.loads((SCHEMAS / "password.reset/examples/cloudevent.json").read_bytes())


def receipt(order: str, to: str | None = None, **changes: Any) -> bytes:
    """One order's receipt; `changes` are members of `data.order`."""
    event = copy.deepcopy(_RECEIPT)
    event["id"] = f"ev-{order}"
    event["data"]["order"] |= {"id": order, "number": order, **changes}
    event["data"]["customer"]["email"] = to or f"{order.lower()}@example.com"
    return orjson.dumps(event)


def receipts(count: int, stem: str = "A") -> list[bytes]:
    return [receipt(f"{stem}-{number}") for number in range(count)]


def reset(request: str, to: str | None = None, *, age: timedelta = timedelta()) -> bytes:
    """One request for a new password, made `age` ago."""
    event = copy.deepcopy(_RESET)
    now = datetime.now(UTC) - age
    event["id"] = f"ev-{request}"
    event["time"] = now.isoformat()
    event["data"]["reset"] |= {
        "id": request,
        "requested_at": now.isoformat(),
        "expires_at": (now + timedelta(minutes=30)).isoformat(),
    }
    event["data"]["account"]["email"] = to or f"{request.lower()}@example.com"
    return orjson.dumps(event)
