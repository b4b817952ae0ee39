"""Files to send in tests."""

from __future__ import annotations

import hashlib
from typing import Any

from consumer.model import Attachment, Enclosed, Message
from tests.doubles.brought import File
from tests.doubles.mails import mail

PDF = b"%PDF-1.7\r\n" + bytes(range(256)) + b"\n.\r\n..\n%%EOF"


def enclosed(name: str = "invoice.pdf", content: bytes = PDF, **changes: Any) -> Enclosed:
    digest = hashlib.sha256(content).hexdigest()
    given: dict[str, Any] = {
        "content_type": "application/pdf",
        "url": "https://files.example/1",
        "max_size": len(content),
        "hosts": ("files.example",),
    }
    return Enclosed(Attachment(name, sha256=digest, **given | changes), content)


def with_files(*files: Enclosed, **changes: Any) -> Message:
    return mail(attachments=tuple(each.attachment for each in files), **changes)


def arrived(*files: Enclosed) -> tuple[File, ...]:
    """Return the files as a double notes them."""
    return tuple(
        File(
            each.attachment.name,
            each.attachment.content_type,
            len(each.content),
            each.attachment.sha256,
        )
        for each in files
    )
