"""What is sent in a chaos: mail types for each class of evidence, like the two shipped ones."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.whole.events import SCHEMAS, receipt, reset

RECEIPT, RESET = "order.receipt", "password.reset"


@dataclass(frozen=True, slots=True)
class Kind:
    """One mail type. `providers`: the first, then for failover."""

    name: str
    like: str
    providers: tuple[str, ...]
    on_unknown: str = "hold"

    def event(self, entity: str) -> bytes:
        made = receipt(entity) if self.like == RECEIPT else reset(entity)
        event = orjson.loads(made)
        event["type"] = self.name
        return orjson.dumps(event)


# By what an outcome that nobody knows can be settled. SES tells only through Amazon, so here it has
# nothing; SendGrid has not bought its Email Activity.
CLASSES: Mapping[str, str] = {
    "resend": "native key",
    "postmark": "lookup",
    "mailgun": "lookup",
    "sendgrid": "webhook",
    "smtp": "nothing",
    "ses": "nothing",
}
KINDS: Sequence[Kind] = (
    Kind("order.receipt", RECEIPT, ("resend",)),
    Kind("order.shipped", RECEIPT, ("postmark",)),
    Kind("order.invoice", RECEIPT, ("mailgun",)),
    Kind("order.refunded", RECEIPT, ("sendgrid",)),
    Kind("order.reminder", RECEIPT, ("smtp",)),
    Kind("order.review", RECEIPT, ("postmark", "resend")),
    Kind("password.reset", RESET, ("smtp",), "resend"),
    Kind("login.code", RESET, ("ses",), "resend"),
    Kind("login.alert", RESET, ("sendgrid", "mailgun"), "resend"),
    Kind("login.new", RESET, ("resend",), "resend"),
)


def write_catalogue(folder: Path, topics: Mapping[str, str]) -> None:
    """Write a folder for each kind; `topics`: by the shipped type that it is like."""
    shutil.copytree(SCHEMAS / "_layouts", folder / "_layouts", dirs_exist_ok=True)
    for kind in KINDS:
        _write(kind, folder / kind.name, topics[kind.like])


def _write(kind: Kind, folder: Path, topic: str) -> None:
    shutil.copytree(SCHEMAS / kind.like, folder, dirs_exist_ok=True)
    for example in (folder / "examples").iterdir():
        example.unlink()
    (folder / "examples/one.json").write_bytes(kind.event("example"))
    file = folder / "mail.toml"
    ours = ("topic", "on_unknown", "providers")
    lines = [line for line in file.read_text().splitlines() if not line.startswith(ours)]
    head = [
        f'topic = "{topic}"',
        f'on_unknown = "{kind.on_unknown}"',
        f"providers = {orjson.dumps(list(kind.providers)).decode()}",
    ]
    file.write_text("\n".join([*head, *lines]) + "\n")
