"""One receipt in the shapes in which a producer may publish it, with an address of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from consumer.keys import send_key
from tests.whole.events import receipt

CANARY = "canary"


def address(name: str) -> str:
    """Return this case's own address; the test looks for its first half everywhere."""
    return f"{CANARY}.{name.replace(' ', '-')}@example.com"


def data(order: str | int, to: str, **changes: Any) -> dict[str, Any]:
    """One receipt's data; `changes` are members of `order`."""
    found: dict[str, Any] = orjson.loads(receipt(str(order), to))["data"]
    found["order"] |= {"id": order, **changes}
    return found


def plain(name: str, **members: Any) -> dict[str, Any]:
    return {"type": "order.receipt", **data(f"id-{name}", address(name)), **members}


def event(name: str, **attributes: Any) -> dict[str, Any]:
    """Return a structured CloudEvent; an attribute of None is left out."""
    made = {**orjson.loads(receipt(f"id-{name}", address(name))), **attributes}
    return {key: value for key, value in made.items() if value is not None}


def text(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def key_of(name: str, entity: str | int | None = None) -> str:
    return send_key("order.receipt", entity or f"id-{name}", address(name))
