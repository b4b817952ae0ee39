"""The worked example of `schemas/README.md` works as it stands, and its table is whole."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from consumer.catalogue import Catalogue, load
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.printing import FILTERS
from consumer.events import decode
from consumer.model import Event, Mail, Message
from tests.parts import tutorial
from tests.unit.catalogue.shop import DAY, ROOT, SENDERS, record


def loaded(folder: Path) -> Catalogue:
    return load(
        folder / "schemas",
        senders=SENDERS,
        providers=["file"],
        retention=30 * DAY,
        fingerprint_key=None,
        decode=decode,
    )


def message(catalogue: Catalogue) -> Message:
    [example] = catalogue.examples
    event = decode(record("invoices", value=example.value))
    assert isinstance(event, Event)
    mail = catalogue.read(record("invoices"), event)
    assert isinstance(mail, Mail)
    rendered = catalogue.render(mail)
    assert isinstance(rendered, Message)
    return rendered


def test_the_worked_example_needs_nothing_but_itself(tmp_path: Path) -> None:
    tutorial.write(tmp_path)
    mail = message(loaded(tmp_path))
    assert "over €129.00 was due on 15 February 2026" in mail.text
    assert mail.text.count("\n\n\n") == 0
    assert '<a href="https://shop.example/invoices/INV-2026-0042">' in mail.html


def test_the_finished_layout_takes_the_place_of_the_small_one(tmp_path: Path) -> None:
    """The page says: copy it when you like it."""
    tutorial.write(tmp_path)
    shutil.copytree(ROOT / "schemas/_layouts", tmp_path / "schemas/_layouts", dirs_exist_ok=True)
    mail = message(loaded(tmp_path))
    assert "prefers-color-scheme" in mail.html
    assert "Pay the invoice" in mail.html


@pytest.mark.parametrize("word", ["render", "check", "key", "catalogue", "publish", "show", "run"])
def test_the_page_walks_through_the_commands(word: str) -> None:
    assert word in {words[0] for words in tutorial.commands()}


def test_every_member_and_filter_is_explained() -> None:
    explained = set(re.findall(r"`\[{0,2}(\w+)\]{0,2}`", tutorial.text()))
    assert set(Declaration.model_fields) <= explained
    assert set(FILTERS) <= explained | {"money", "link"}
