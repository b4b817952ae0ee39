"""What a release of before has sent, this one repeats byte for byte: else a deploy loses evidence.

Only where a provider keeps our key: a mail in doubt is repeated there, and other bytes are none.
Whoever changes these on purpose has the mails that are in doubt meanwhile settled by a person.
"""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from consumer.model import Address, Prepared
from consumer.providers import AnyOptions, build
from tests.doubles.mails import mail

OPTIONS: TypeAdapter[AnyOptions] = TypeAdapter(AnyOptions)
GIVEN = mail(
    subject="Your réceipt",
    html="<p>Thank you. ü</p>\n" * 50,
    reply_to=Address("help@shop.example", "Help"),
    tags=("receipt", "b"),
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"type": "resend", "api_key": "k"}, "97dffb6afc4964e4ce4aaa7f"),
        ({"type": "file", "path": "out"}, "2a7c9315c69a86d4c600e1b9"),
    ],
    ids=["resend", "file"],
)
def test_the_bytes_are_those_of_the_release_before(
    options: dict[str, object], expected: str
) -> None:
    ready = build("p", OPTIONS.validate_python(options)).prepare(GIVEN)
    assert isinstance(ready, Prepared)
    assert ready.body_hash.hex()[:24] == expected
