"""`[unsubscribe]` becomes the headers that mail clients make their button of (RFC 2369, 8058)."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.model import Bad
from tests.unit.catalogue.shop import MAIL, mail_of, message_of, mistakes, note, open_shop

URL = 'url = { path = "nick", default = "" }\n'
POST = ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")


def headers(root: Path, rules: str, nick: str | None) -> list[tuple[str, str]]:
    catalogue = open_shop(root, {"note/mail.toml": f"{MAIL}[unsubscribe]\n{rules}"})
    return list(message_of(catalogue, note(nick=nick)).headers[1:])


LINK = "https://shop.example/leave?id=a,b&x=%20"
TO = 'mailto = "Leave us <leave+news@shop.example>"\n'


@pytest.mark.parametrize(
    ("rules", "nick", "expected"),
    [
        (URL, LINK, [("List-Unsubscribe", f"<{LINK}>")]),
        (URL + "one_click = true", LINK, [("List-Unsubscribe", f"<{LINK}>"), POST]),
        (TO, None, [("List-Unsubscribe", "<mailto:leave+news@shop.example>")]),
        (
            URL + TO + "one_click = true",
            LINK,
            [("List-Unsubscribe", f"<{LINK}>, <mailto:leave+news@shop.example>"), POST],
        ),
        # A reader without a link of their own can still write.
        (
            URL + TO + "one_click = true",
            None,
            [("List-Unsubscribe", "<mailto:leave+news@shop.example>")],
        ),
        (URL, None, []),
        # Nothing in a link ends it before its end.
        (
            URL,
            'https://shop.example/a>,<b"',
            [("List-Unsubscribe", "<https://shop.example/a%3E,%3Cb%22>")],
        ),
    ],
)
def test_headers(
    tmp_path: Path, rules: str, nick: str | None, expected: list[tuple[str, str]]
) -> None:
    assert headers(tmp_path, rules, nick) == expected


def test_a_mail_that_says_nothing_of_it_has_none(tmp_path: Path) -> None:
    assert message_of(open_shop(tmp_path), note()).headers == (
        ("Auto-Submitted", "auto-generated"),
    )


def test_a_link_too_long_for_a_header_makes_no_mail(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path, {"note/mail.toml": f"{MAIL}[unsubscribe]\n{URL}"})
    bad = catalogue.render(mail_of(catalogue, note(nick=f"https://shop.example/{'x' * 900}")))
    assert isinstance(bad, Bad)
    assert bad.detail == "note: the link to unsubscribe is longer than 900 characters"


def test_it_is_said_once(tmp_path: Path) -> None:
    text = f'{MAIL}[headers]\nList-Unsubscribe = "<mailto:a@b.example>"\n[unsubscribe]\n{TO}'
    [line] = mistakes(tmp_path, {"note/mail.toml": text})
    assert line == "note/mail.toml:10: headers.List-Unsubscribe: is written by [unsubscribe]"
