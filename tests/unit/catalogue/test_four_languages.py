"""The shipped mails in German, French, Japanese and Arabic: words, amounts, dates, plurals."""

from __future__ import annotations

import re

import pytest

from consumer.model import Message
from tests.unit.catalogue.shop import message_of, real_catalogue
from tests.unit.catalogue.test_shipped import changed, data_of, example, reset

FSI, PDI, RLM = "\u2068", "\u2069", "\u200f"


def plain(text: str) -> str:
    """Return the text as it is read: without marks of direction, and with one kind of space."""
    return re.sub(r"[\u2066-\u2069\u200e\u200f\u061c]", "", text).translate(SPACES)


SPACES = {0xA0: " ", 0x202F: " "}


def receipt(name: str, **changes: object) -> Message:
    return message_of(real_catalogue(), changed(example("order.receipt", name), **changes))


SUBJECTS = {
    "german": ("Ihr Beleg zur Bestellung DE-2026-004711", "Neues Passwort für Alder & Oak"),
    "french": (
        "Votre reçu pour la commande FR-7731",
        "Votre nouveau mot de passe Alder & Oak",
    ),
    "japanese": ("ご注文 JP-2026-000041 の領収書", "Alder & Oak パスワードの再設定"),
    "arabic": ("إيصال طلبك KW/2026:77", "كلمة مرور جديدة لحسابك في Alder & Oak"),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_subjects(name: str) -> None:
    subjects = (receipt(name).subject, reset(example("password.reset", name)).subject)
    assert tuple(map(plain, subjects)) == SUBJECTS[name]


AMOUNTS = {
    "german": ("1.234,50 €", "Gesamtsumme"),
    "french": ("1 234,50 $ US", "Total"),
    "japanese": ("￥123,450", "合計"),
    "arabic": ("123.450 د.ك", "الإجمالي"),
}
CURRENCY = {"german": "EUR", "french": "USD", "japanese": "JPY", "arabic": "KWD"}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts(name: str) -> None:
    """Cents, yen without any, dinars with three; as each language writes them."""
    amount, label = AMOUNTS[name]
    message = receipt(name, order__total=123450, order__currency=CURRENCY[name])
    assert amount in plain(message.html)
    total = next(line for line in plain(message.text).splitlines() if amount in line)
    assert total.startswith(label.upper())


DATES = {
    "german": "Dies ist Ihr Beleg zur Bestellung DE-2026-004711 vom 1. März 2026, 13:04 MEZ.",
    "french": "Voici votre reçu pour la commande FR-7731, passée le 14 juillet 2026, 15 h 45 HAE.",
    "japanese": "2026年3月1日 15:30 JST にいただいたご注文 JP-2026-000041 の領収書です。",
    "arabic": "هذا إيصال الطلب رقم KW/2026:77 بتاريخ 1 مارس 2026، 12:00 م غرينتش+03:00.",
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_in_the_readers_language_and_zone(name: str) -> None:
    assert DATES[name] in plain(receipt(name).text)


COUNTS = {
    "german": {1: "1 Position", 3: "3 Positionen"},
    "french": {1: "1 article", 3: "3 articles"},
    "japanese": {1: "1点", 200: "200点"},
    "arabic": {1: "منتج واحد", 2: "منتجان", 3: "3 منتجات", 11: "11 منتجًا", 100: "100 منتج"},
}


@pytest.mark.parametrize("name", COUNTS)
def test_plural_forms(name: str) -> None:
    [item, *_] = data_of(example("order.receipt", name))["order"]["items"]
    for count, words in COUNTS[name].items():
        message = receipt(name, order__items=[item] * count)
        subtotal = re.compile(rf"(?<!\d ){re.escape(words)}(?!\w)")
        assert subtotal.search(plain(message.text)), (count, words)


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("mail_type", ["order.receipt", "password.reset"])
def test_no_english_is_left_over(mail_type: str, name: str) -> None:
    """But the shop's address, and what events say."""
    event = example(mail_type, name)
    message = receipt(name) if mail_type == "order.receipt" else reset(event)
    for part in (message.subject, message.text, message.html.partition("<body")[2]):
        for word in ("Thank", "Your", "You ", "Subtotal", "Shipping", "Hello", "Questions", "glad"):
            assert word not in part


@pytest.mark.parametrize("name", SUBJECTS)
def test_language_and_direction_are_told_twice(name: str) -> None:
    """On <html>, and inside, since some clients keep nothing of <html> and <body>."""
    message = receipt(name)
    direction = "rtl" if name == "arabic" else "ltr"
    assert len(re.findall(rf'lang="[a-zA-Z-]+" dir="{direction}"', message.html)) == 2


def test_arabic_is_mirrored() -> None:
    html = receipt("arabic").html
    assert 'align="right"' not in html
    assert 'align="left"' in html
    assert "letter-spacing:.04em" not in html  # spaced letters would not be joined
    english = message_of(real_catalogue(), example("order.receipt")).html
    assert 'align="left"' not in english


def test_arabic_keeps_names_and_numbers_together() -> None:
    message = receipt("arabic")
    for part in (message.text, message.html):
        assert f"{FSI}Field notebook (dotted, A5){PDI}" in part
        assert f"{FSI}KW/2026:77{PDI}" in part
    assert all(line[0] in (RLM, "h") for line in message.text.splitlines() if line)


@pytest.mark.parametrize("locale", ["de-CH", "fr-CH", "ja", "ar-EG", "ar-MA"])
def test_regions_take_the_words_of_their_language(locale: str) -> None:
    message = message_of(
        real_catalogue(), changed(example("order.receipt"), customer__locale=locale)
    )
    assert f'lang="{locale}"' in message.html
    assert "receipt" not in message.subject


def test_who_reads_none_of_these_gets_english_through_and_through() -> None:
    event = changed(example("order.receipt"), customer__locale="pl-PL")
    message = message_of(real_catalogue(), event)
    assert message.subject == "Your receipt for order A-1001"
    assert 'lang="en-GB"' in message.html
    assert "1 March 2026" in message.text


def test_two_hundred_items_are_not_clipped() -> None:
    """Large mailbox providers show the first 102 kB of the HTML."""
    message = receipt("two-hundred-items")
    assert len(message.html.encode()) < 102_000
    assert message.html.count("<tr valign") == 200


def test_emoji_and_long_words_come_through() -> None:
    for part in (receipt("german").html, receipt("german").text):
        assert "🧣" in part
        assert "gesellschaftskalender" in part
    assert "🫖" in receipt("japanese").html


@pytest.mark.parametrize("name", ["german", "arabic"])
def test_an_invoice_is_attached_where_the_event_has_one(name: str) -> None:
    message = receipt(name)
    [invoice] = message.attachments
    assert (invoice.name, invoice.content_type) == ("invoice.pdf", "application/pdf")
    words = {"german": "Die Rechnung liegt bei.", "arabic": "تجد الفاتورة مرفقة"}[name]
    without = receipt(name, order__invoice=None)
    assert without.attachments == ()
    for part, bare in ((message.text, without.text), (message.html, without.html)):
        assert words in part
        assert words not in bare
