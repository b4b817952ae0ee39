"""Laws of the handbook: whole, self-contained, and nothing of an event can act in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from consumer.contract import kinds
from consumer.contract.asyncapi import House
from consumer.contract.outcomes import MEANINGS
from consumer.pages.handbook import DOCUMENT, INDEX, handbook
from tests.unit.catalogue.shop import EXAMPLE, MAIL, open_shop, real_catalogue

HOUSE = House(outcomes="email.outcomes")
EVIL = "<script>alert(1)</script>"


class Elements(HTMLParser):
    """Collects every element with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_every_mail_has_a_page_that_the_index_leads_to() -> None:
    known = kinds(real_catalogue())
    files = handbook(known, HOUSE)
    pages = {f"mails/{kind.name}.html" for kind in known}
    assert set(files) == {INDEX, DOCUMENT, *pages}
    links = {link["href"] for link in Elements(files[INDEX]).all("a")}
    assert links == {DOCUMENT, *pages}
    assert json.loads(files[DOCUMENT])["asyncapi"] == "3.0.0"
    assert files == handbook(known, HOUSE)


def test_a_page_needs_no_network_and_no_script() -> None:
    for name, page in handbook(kinds(real_catalogue()), HOUSE).items():
        if name != DOCUMENT:
            elements = Elements(page)
            assert not elements.all("script")
            assert not elements.all("link")
            assert not elements.all("img")
            assert all(frame["sandbox"] == "" for frame in elements.all("iframe"))
            assert re.search(r"@import|url\(", page.partition("</style>")[0]) is None


def test_a_page_says_what_upstream_asks(tmp_path: Path) -> None:
    rules = 'active_from = 2026-03-01T00:00:00Z\non_unknown = "resend"\n' + MAIL
    events = {"note/examples/one.json": json.dumps(EXAMPLE)}
    files = handbook(kinds(open_shop(tmp_path, {"note/mail.toml": rules, **events})), HOUSE)
    page = files["mails/note.html"]
    for said in (
        "<code>orders</code>", "<code>id</code> + <code>to</code>", "may be absent", "required",
        "duplicate", "conflict", "key drift", "7 days", "2026-03-01", "it is sent again",
        "Hello Ada", "Dear Ada", "email.outcomes", "CloudEvents 1.0", "v1.schema.json",
    ):  # fmt: skip
        assert said in page, said
    for status in MEANINGS:
        assert f"<code>{status}</code>" in page


def test_what_an_example_holds_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    event = {"note/examples/one.json": json.dumps({**EXAMPLE, "name": EVIL})}
    page = handbook(kinds(open_shop(tmp_path, event)), HOUSE)["mails/note.html"]
    elements = Elements(page)
    assert not elements.all("script")
    [first, _] = elements.all("iframe")
    assert first["srcdoc"] == "<p>Dear &lt;script&gt;alert(1)&lt;/script&gt;</p>"


def test_a_mail_of_the_providers_own_template_shows_what_that_is_given(tmp_path: Path) -> None:
    rules = f'{MAIL}\n[template]\npostmark = "receipt-2"\nfile = "f"\n'
    files: dict[str, str | None] = {"note/mail.toml": rules, "note/body.html.j2": None}
    shop = open_shop(tmp_path, {**files, "note/body.txt.j2": None})
    page = handbook(kinds(shop), HOUSE)["mails/note.html"]
    assert "postmark: receipt-2" in page
    assert "&#34;name&#34;: &#34;Ada&#34;" in page
    assert not Elements(page).all("iframe")


def test_without_a_configuration_a_sender_has_only_a_name(tmp_path: Path) -> None:
    known = kinds(open_shop(tmp_path))
    assert "hello@shop.example" not in handbook(known, House())["mails/note.html"]
    page = handbook(known, House(["kafka:9092"]))["mails/note.html"]
    assert "Shop &lt;hello@shop.example&gt;" in page


def test_a_deployment_without_outcomes_says_so(tmp_path: Path) -> None:
    page = handbook(kinds(open_shop(tmp_path)), House(outcomes=None))["mails/note.html"]
    assert "publishes no outcomes" in page
