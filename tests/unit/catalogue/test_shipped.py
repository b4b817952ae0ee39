"""The two mails that the repository ships: their promises, and what real life puts into them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from consumer.catalogue import Example
from consumer.events import decode
from consumer.model import Bad, Event, Mail, Message, OnUnknown, Priority
from tests.unit.catalogue.shop import LEFT_OUT, mail_of, message_of, real_catalogue, record

SHIPPED = ("order.receipt", "password.reset")  # folders that somebody adds owe nothing to this file
EXAMPLES = [one for one in real_catalogue().examples if one.mail_type in SHIPPED]


def event_of(example: Example) -> Event:
    event = decode(record(example.topic, value=example.value))
    assert isinstance(event, Event)
    return event


def example(mail_type: str, name: str = "cloudevent") -> Event:
    [found] = [one for one in EXAMPLES if (one.mail_type, one.name) == (mail_type, name)]
    return event_of(found)


def data_of(event: Event) -> dict[str, Any]:
    """Return a copy of the data, to be changed at will."""
    copy: dict[str, Any] = json.loads(json.dumps(event.data))
    return copy


def changed(event: Event, **changes: Any) -> Event:
    """Change members of the event's first-level objects: order__total=5."""
    data = data_of(event)
    for name, value in changes.items():
        group, _, member = name.partition("__")
        if value is LEFT_OUT:
            data[group].pop(member, None)
        else:
            data[group][member] = value
    return Event(event.type, data, event.attributes)


def mail_at(event: Event, topic: str) -> Mail | Bad:
    outcome = real_catalogue().read(record(topic), event)
    assert isinstance(outcome, Mail | Bad)
    return outcome


def reset(event: Event) -> Message:
    mail = mail_at(event, "accounts")
    assert isinstance(mail, Mail)
    message = real_catalogue().render(mail)
    assert isinstance(message, Message)
    return message


def test_both_wire_forms_are_shown() -> None:
    """The docs and the demo show a CloudEvent and plain JSON of each type."""
    forms = {(e.mail_type, b'"specversion"' in e.value) for e in EXAMPLES}
    assert forms == {(kind, ce) for kind in SHIPPED for ce in (True, False)}


def test_the_policies() -> None:
    receipt, password = (real_catalogue().types[n] for n in ("order.receipt", "password.reset"))
    assert receipt.on_unknown is OnUnknown.HOLD
    assert password.on_unknown is OnUnknown.RESEND
    assert password.priority is Priority.HIGH
    assert password.max_age <= 3600 / 2
    assert real_catalogue().high_topics & {receipt.topic, password.topic} == {"accounts"}


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: f"{one.mail_type}/{one.name}")
def test_no_mail_says_none_or_shows_a_brace(one: Example) -> None:
    catalogue = real_catalogue()
    mail = mail_at(event_of(one), one.topic)
    assert isinstance(mail, Mail)
    message = catalogue.render(mail)
    assert isinstance(message, Message)
    for part in (message.subject, message.text, message.html.partition("<body")[2]):
        for word in ("None", "null", "undefined", "{{", "{%", "True", "False"):
            assert word not in part
    assert len(message.html) < 100_000  # what a large mailbox provider shows before it clips


def test_the_number_of_the_order_is_in_the_subject() -> None:
    """Two orders of a second are two mails in the inbox, not one thread."""
    message = message_of(real_catalogue(), example("order.receipt"))
    assert message.subject == "Your receipt for order A-1001"


@pytest.mark.parametrize("name", [None, "", "  ", LEFT_OUT])
def test_nobody_is_greeted_by_nothing(name: Any) -> None:
    event = changed(example("order.receipt"), customer__name=name)
    message = message_of(real_catalogue(), event)
    assert "Thank you for your order.\n" in message.text
    assert ">Thank you.</h1>" in message.html
    text = reset(changed(example("password.reset"), account__name=name)).text
    assert text.startswith("Hello,\n")


def test_amounts_are_printed_as_they_are() -> None:
    """No sum is worked out anew: what does not add up upstream does not add up here."""
    event = changed(example("order.receipt"), order__total=1, order__subtotal=-500)
    message = message_of(real_catalogue(), event)
    for part in (message.text, message.html):
        assert "€0.01" in part
        assert "-€5.00" in part


@pytest.mark.parametrize(
    ("currency", "written"),
    [("EUR", "€19.99"), ("JPY", "JP¥1,999"), ("KWD", "KWD\xa01.999")],
)
def test_currencies(currency: str, written: str) -> None:
    event = changed(example("order.receipt"), order__currency=currency, order__total=1999)
    message = message_of(real_catalogue(), event)
    assert written in message.text
    assert written in message.html


@pytest.mark.parametrize("total", [10.285, "19,99", None, 1e400, True, 10**18])
def test_what_is_no_amount_is_a_dead_letter(total: Any) -> None:
    data = data_of(example("order.receipt"))
    data["order"]["total"] = total
    bad = mail_at(Event("order.receipt", data), "orders")
    assert isinstance(bad, Bad)
    assert bad.detail.startswith("/order/total: ")


def test_an_unknown_currency_is_a_dead_letter() -> None:
    mail = mail_of(real_catalogue(), changed(example("order.receipt"), order__currency="XXX"))
    bad = real_catalogue().render(mail)
    assert isinstance(bad, Bad)
    assert bad.detail.endswith("the currency is not a current ISO 4217 code")


def test_a_receipt_of_two_hundred_items() -> None:
    event = example("order.receipt", "large-order")
    items = data_of(event)["order"]["items"]
    message = message_of(real_catalogue(), changed(event, order__items=items * 5))
    assert message.html.count("No. 40") == 5


def test_the_token_stays_in_the_mail() -> None:
    """It is in both bodies and nowhere else: no key, no entity, no subject, no refusal."""
    event = example("password.reset")
    token = "EXAMPLE-0l5mZ3wq9Yt7VtK2bN8sR4xD6cH1jP0a"
    mail = mail_at(event, "accounts")
    assert isinstance(mail, Mail)
    message = reset(event)
    assert token in message.text
    assert token in message.html
    assert token not in message.subject
    assert token not in f"{mail.entity_id} {mail.key} {mail.fingerprint} {message.message_id}"
    for url in (f"http://accounts.shop.example/{token}", f"https://evil.example/{token}", token):
        bad = mail_at(changed(event, reset__url=url), "accounts")
        assert isinstance(bad, Bad)
        assert token not in bad.detail


def test_ids_of_resets_are_told_apart_by_case() -> None:
    event = example("password.reset")
    upper, lower = (
        mail_at(changed(event, reset__id=name), "accounts") for name in ("rst_A", "rst_a")
    )
    assert isinstance(upper, Mail)
    assert isinstance(lower, Mail)
    assert upper.key != lower.key


def test_the_link_says_until_when_and_in_which_zone() -> None:
    text = reset(example("password.reset")).text.replace("\xa0", " ")
    assert "It works once, until 1 March 2026, 13:30 CET." in text


def test_what_upstream_adds_unprinted_is_no_conflict() -> None:
    """A producer that adds a member to its items does not turn repeats into conflicts."""
    event = example("order.receipt")
    items = data_of(event)["order"]["items"]
    more = [{**item, "warehouse": "B7"} for item in items]
    first = mail_of(real_catalogue(), event)
    assert mail_of(real_catalogue(), changed(event, order__items=more)).fingerprint == (
        first.fingerprint
    )
    fewer = mail_of(real_catalogue(), changed(event, order__items=items[:1]))
    assert fewer.fingerprint != first.fingerprint


CANARY = "CANARY"
ODD: list[Any] = [
    None,
    CANARY,
    f"{CANARY}@example.com",
    [CANARY],
    {CANARY: CANARY},
    f"a\n{CANARY}",
    f"\u202e{CANARY}",
    f"\x00{CANARY}",
    f"javascript:{CANARY}",
    f"https://{CANARY}/",
    "x" * 400 + CANARY,
    10**30,
    1.5,
    True,
    "",
]


def spoiled(value: Any, chance: random.Random) -> Any:
    """Return the event with some of its values exchanged, removed or added."""
    if isinstance(value, dict):
        kept = {k: spoiled(v, chance) for k, v in value.items() if chance.random() > 0.03}
        return {**kept, CANARY: CANARY} if chance.random() < 0.05 else kept
    if isinstance(value, list):
        return [spoiled(one, chance) for one in value]
    return chance.choice(ODD) if chance.random() < 0.06 else value


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_nothing_breaks_and_no_refusal_repeats_a_value(seed: int) -> None:
    chance, catalogue = random.Random(seed), real_catalogue()
    ends = {"mail": 0, "refused": 0}
    for _ in range(300):
        one = chance.choice(EXAMPLES)
        event = event_of(one)
        outcome = catalogue.read(
            record(one.topic), Event(event.type, spoiled(event.data, chance), event.attributes)
        )
        rendered = catalogue.render(outcome) if isinstance(outcome, Mail) else outcome
        if isinstance(rendered, Bad):
            ends["refused"] += 1
            assert CANARY not in rendered.detail
        else:
            assert isinstance(rendered, Message)
            ends["mail"] += 1
            assert "\n" not in rendered.subject
            assert 'href="javascript' not in rendered.html
    assert min(ends.values()) > 20
