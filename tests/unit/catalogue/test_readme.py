"""The worked example of `schemas/README.md` works as it stands, and its table is whole."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from consumer.catalogue import load
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.printing import FILTERS
from consumer.events import decode
from consumer.model import Event
from tests.unit.catalogue.shop import DAY, ROOT, SENDERS, record

TEXT = (ROOT / "schemas" / "README.md").read_text()


def test_the_worked_example(tmp_path: Path) -> None:
    files = re.findall(
        r"^`(invoice\.overdue/\S+)`\n\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
    )
    assert len(files) == 6
    for name, content in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    shutil.copytree(ROOT / "schemas" / "_layouts", tmp_path / "_layouts")
    catalogue = load(
        tmp_path,
        senders=SENDERS,
        providers=["file"],
        retention=30 * DAY,
        fingerprint_key=None,
        decode=decode,
    )
    [example] = catalogue.examples
    event = decode(record("invoices", value=example.value))
    assert isinstance(event, Event)
    mail = catalogue.read(record("invoices"), event)
    message = catalogue.render(mail)  # type: ignore[arg-type] # load has rendered it already
    assert "over €129.00 was due on 15 February 2026" in message.text  # type: ignore[union-attr] # load has rendered it already


def test_every_member_and_filter_is_explained() -> None:
    explained = set(re.findall(r"`\[?(\w+)\]?`", TEXT))
    assert set(Declaration.model_fields) <= explained
    assert set(FILTERS) <= explained | {"money", "link"}
