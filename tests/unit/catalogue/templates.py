"""The small folder with other templates, and with a member `extra` that may hold anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consumer.catalogue import Catalogue
from consumer.model import Bad, Reason
from tests.unit.catalogue.shop import MAIL, mail_of, note, open_shop

EXTRA = MAIL + 'extra = { path = "extra", default = "" }\n'
USES_EXTRA = "{{ name }}{% if false %}{{ extra }}{% endif %}"


def rendering(root: Path, **parts: str) -> Catalogue:
    """Open the small shop with other templates; `extra` is in the context."""
    files: dict[str, str | None] = {
        "note/mail.toml": EXTRA,
        "note/body.txt.j2": USES_EXTRA,
        "note/v1.schema.json": LOOSE,
    }
    names = {"subject": "subject.j2", "text": "body.txt.j2", "html": "body.html.j2"}
    return open_shop(root, {**files, **{f"note/{names[p]}": t for p, t in parts.items()}})


LOOSE = """{
  "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
  "required": ["id", "to", "name"],
  "properties": {"id": {"type": "string"}, "to": {"type": "string"}, "name": {"type": "string"},
                 "extra": {}}
}"""


def failure(catalogue: Catalogue, **changes: Any) -> str:
    mail = mail_of(catalogue, note(**changes))
    bad = catalogue.render(mail)
    assert isinstance(bad, Bad), bad
    assert bad.reason is Reason.INVALID
    assert (bad.event_type, bad.idempotency_key) == ("note", mail.key)
    return bad.detail
