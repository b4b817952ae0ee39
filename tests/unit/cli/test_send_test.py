"""Laws of send-test: a real mail, marked, to an allowed address, that no guard row can be about."""

from __future__ import annotations

import email
import email.policy
import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from consumer.keys import is_key
from tests.unit.cli.conftest import Sendonce

TO = ("--to", "Grace@EXAMPLE.org")


def sent(root: Path) -> list[EmailMessage]:
    return [
        email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        for file in sorted((root / "mails").glob("*.eml"))
    ]


def test_an_example_is_sent_marked_and_to_whom_it_is_asked(
    configured: Path, sendonce: Sendonce
) -> None:
    said = sendonce("send-test", "order.receipt/paid", *TO, "--json")
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    [mail] = sent(configured)
    assert mail["Subject"] == "[test] Your order A-1"
    assert mail["To"] == "Grace@example.org"
    assert mail["Message-ID"] == f"<{told['key']}@shop.example>"
    assert told["accepted"] is True
    assert told["provider_message_id"] == f"{told['key']}.eml"


def test_each_has_a_key_of_its_own_that_no_event_can_have(
    configured: Path, sendonce: Sendonce
) -> None:
    """It is nobody's duplicate, and a webhook that brings it back settles no row."""
    keys = {
        json.loads(sendonce("send-test", "order.receipt", *TO, "--json").stdout)["key"]
        for _ in range(3)
    }
    assert len(keys) == len(sent(configured)) == 3
    assert not any(map(is_key, keys))


def test_outside_production_only_the_allowed_get_it(configured: Path, sendonce: Sendonce) -> None:
    said = sendonce("send-test", "order.receipt/paid", "--to", "eve@elsewhere.example")
    assert said.exit_code == 1
    assert "not_allowed" in said.stderr
    assert "eve@" not in said.stderr
    assert sent(configured) == []


def test_what_is_redirected_goes_to_the_mailbox_of_the_configuration(
    configured: Path, sendonce: Sendonce
) -> None:
    config = configured / "sendonce.toml"
    config.write_text(
        config.read_text().replace("[safety]", '[safety]\nredirect_to = "team@example.org"')
    )
    said = sendonce("send-test", "order.receipt/paid", "--to", "eve@elsewhere.example", "--json")
    assert json.loads(said.stdout)["to"] == "team@example.org"
    assert [mail["To"] for mail in sent(configured)] == ["team@example.org"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("order.receipt/paid", "--to", "nobody"), "--to"),
        (("order.receipt/lost", *TO), "no example"),
        (("order.receipt/paid", *TO, "--provider", "postmark"), "[providers.postmark]"),
        (("event.json", *TO), "no example"),
    ],
)
def test_wrong_usage_is_code_2_and_sends_nothing(
    configured: Path, sendonce: Sendonce, words: tuple[str, ...], why: str
) -> None:
    """A file of a real event is no example: its mail is its recipient's alone."""
    (configured / "event.json").write_text('{"type": "order.receipt"}')
    said = sendonce("send-test", *words)
    assert said.exit_code == 2
    assert why in said.stderr
    assert sent(configured) == []


def test_of_several_examples_one_has_to_be_named(configured: Path, sendonce: Sendonce) -> None:
    examples = configured / "schemas/order.receipt/examples"
    (examples / "other.json").write_bytes((examples / "paid.json").read_bytes())
    said = sendonce("send-test", "order.receipt", *TO)
    assert said.exit_code == 2
    assert "order.receipt/other, order.receipt/paid" in said.stderr


def test_who_keeps_no_template_of_a_mail_without_bodies_is_told_apart(
    configured: Path, sendonce: Sendonce
) -> None:
    kind = configured / "schemas/order.receipt"
    (kind / "mail.toml").write_text(
        f'providers = ["postmark"]\n{(kind / "mail.toml").read_text()}[template]\npostmark = "t"\n'
    )
    for body in ("body.txt.j2", "body.html.j2"):
        (kind / body).unlink()
    config = configured / "sendonce.toml"
    config.write_text(config.read_text() + '[providers.postmark]\ntoken = "x"\n')
    said = sendonce("send-test", "order.receipt/paid", *TO, "--provider", "file")
    assert said.exit_code == 2
    assert "file keeps no template of order.receipt" in said.stderr


def test_what_the_provider_refuses_is_said_and_is_code_1(
    configured: Path, sendonce: Sendonce
) -> None:
    (configured / "mails").write_text("not a folder")
    said = sendonce("send-test", "order.receipt/paid", *TO)
    assert said.exit_code == 1
