"""A mail to send in tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from consumer.model import Address, Lease, Message, elapsed

KEY: Final = "3f786850e387550fdab836ed7e6dc881de23001b3f786850"

MAIL: Final = Message(
    key=KEY,
    mail_type="order.receipt",
    sender=Address("receipts@shop.example", "Shop"),
    to=Address("ada@example.com", "Ada Byte"),
    subject="Your receipt",
    text="Thank you.\n",
    html="<p>Thank you.</p>\n",
    message_id=f"<{KEY}@shop.example>",
    headers=(("Auto-Submitted", "auto-generated"),),
    tags=("receipt",),
)


def mail(**changes: Any) -> Message:
    return replace(MAIL, **changes)


def lease(seconds: float = 60) -> Lease:
    """Return a lease that ends `seconds` from now (negative: that has ended)."""
    return Lease(key=KEY, epoch=1, token="token", ends_at=elapsed() + seconds)
