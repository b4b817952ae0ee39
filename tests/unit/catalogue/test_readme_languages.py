"""What `schemas/README.md` shows of languages, files and lists works as it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from consumer.catalogue.declaration import Declaration
from tests.parts import tutorial
from tests.unit.catalogue.shop import MAIL, message_of, note, open_shop
from tests.unit.catalogue.test_languages import LOCALE


def section(title: str) -> str:
    return tutorial.text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_words_in_two_languages(tmp_path: Path) -> None:
    [block] = re.findall(r"```jinja\n(.*?)```", section("In several languages"), re.DOTALL)
    _, own, arabic = re.split(r"\{# (?:ar/)?_words\.j2 #\}\n", block)
    text = '{% import "./_words.j2" as say %}{{ say.thanks(name) }} {{ say.subtotal(2) }}'
    files: dict[str, str | None] = {
        "note/mail.toml": LOCALE,
        "note/_words.j2": own,
        "note/ar/_words.j2": arabic,
        "note/body.txt.j2": text,
    }
    catalogue = open_shop(tmp_path, files)
    assert message_of(catalogue, note()).text == "Thank you, Ada. Subtotal, 2 items\n"
    assert "منتجان" in message_of(catalogue, note(nick="ar-KW")).text


def test_files_lists_and_templates_elsewhere() -> None:
    page = section("Files, lists and templates elsewhere")
    [block] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    says = Declaration.model_validate(tomllib.loads(MAIL + block))
    assert [one.max_size for one in says.attachments] == [2_000_000]
    assert says.unsubscribe is not None
    assert says.template == {"postmark": "order-receipt"}
