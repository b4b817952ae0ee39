"""Whether a record or a text mentions an address: in every encoding known, and no longer one."""

from __future__ import annotations

import json
import re

import pytest

from consumer.guard.mentions import mentions_of
from consumer.keys import AddressError
from consumer.model import Record

ADA = mentions_of(" Ada@Example.COM ")


def _record(value: bytes | None, key: bytes | None = None, **headers: bytes) -> Record:
    return Record("t", 0, 0, 0, key, value, tuple(headers.items()))


@pytest.mark.parametrize(
    "value",
    [
        b'{"email": "ada@example.com"}',
        b"ADA@EXAMPLE.COM",
        b"<ada@example.com>,b@example.com",
        b"mail to ada@example.com.",
        b"https://shop.example/?to=ada@example.com",
        b"https://shop.example/?to=ada%40example.com",
        rb'{"email": "\u0061da@example\u002ecom"}',
        '{"email": "ada@example.com"}'.encode("utf-16"),
        b"\x00\x00\x00\x00\x07\x1eada@example.com\x02",
        json.dumps({"payload": json.dumps({"to": "ada@example.com"})}).encode(),
    ],
)
def test_a_record_that_mentions_it(value: bytes) -> None:
    assert ADA.in_record(_record(value))
    assert ADA.in_record(_record(None, key=value))
    assert ADA.in_record(_record(None, to=value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"nada@example.com",
        b"x.ada@example.com",
        b"x+ada@example.com",
        b"ada@example.com.evil.example",
        b"ada@example.community",
        b"ada@example",
        b"\xff\xfe\x00",
    ],
)
def test_another_address_is_another_persons(value: bytes | None) -> None:
    assert not ADA.in_record(_record(value))


def test_a_domain_is_found_as_people_write_it() -> None:
    both = mentions_of("ada@münchen.example")
    assert both.forms == ("ada@xn--mnchen-3ya.example", "ada@münchen.example")
    assert both.in_record(_record('"ada@MÜNCHEN.example"'.encode()))
    assert both.in_record(_record(b"ada@xn--mnchen-3ya.example"))


def test_it_is_cut_out_of_a_text() -> None:
    assert ADA.cut_from("for Ada@example.com, by x") == "for (forgotten), by x"


@pytest.mark.parametrize("text", ["", "ada", "a@b@c", "Ada <ada@example.com>"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AddressError) as refused:
        mentions_of(text)
    assert not re.search("ada|b@", str(refused.value))
