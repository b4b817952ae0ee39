"""The laws that every adapter keeps, at the wire, against a strict double that counts."""

from __future__ import annotations

import asyncio

import pytest

from consumer.model import (
    Accepted,
    Address,
    Answer,
    Prepared,
    Rejected,
    TooLate,
    Unclear,
)
from tests.doubles.mails import KEY, MAIL, lease, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage
from tests.integration.providers.kinds import KINDS

EVERY_ERROR = [(kind, answer) for kind in KINDS for answer in kind.errors]


async def test_an_accepted_mail_is_named_and_counted_under_our_key(stage: Stage) -> None:
    answer = await stage.send()
    assert isinstance(answer, Accepted)
    assert stage.double.ledger.accepted == {KEY: [answer.provider_message_id]}


@pytest.mark.parametrize(
    ("stage", "expected"),
    EVERY_ERROR,
    indirect=["stage"],
    ids=[f"{kind.name}-{answer.__name__}" for kind, answer in EVERY_ERROR],
)
async def test_an_error_is_read_as_what_it_proves(stage: Stage, expected: type[Answer]) -> None:
    """And no sentence of the provider gets into `error`: it may quote an address."""
    stage.double.script.then(stage.kind.errors[expected])
    answer = await stage.send()
    assert type(answer) is expected
    assert "@" not in repr(answer)
    assert stage.double.ledger.total == 0


@pytest.mark.parametrize("word", ["drop", "garbage", "cut", "blank"])
async def test_accepted_and_no_readable_answer_is_unclear(stage: Stage, word: str) -> None:
    stage.double.script.then(Fault(word))
    answer = await stage.send()
    assert isinstance(answer, Unclear)
    assert stage.double.ledger.total == 1


@pytest.mark.parametrize("word", ["timeout", "slow"])
async def test_accepted_and_an_answer_that_takes_too_long_is_unclear(
    stage: Stage, word: str
) -> None:
    """The body of an answer counts too: it is read inside the same timeout."""
    stage.double.script.then(Fault(word))
    async with stage.impatient() as hasty:
        started = asyncio.get_running_loop().time()
        assert isinstance(await hasty.send(), Unclear)
        assert asyncio.get_running_loop().time() - started < 5
    assert stage.double.ledger.total == 1


async def test_a_slow_answer_within_the_timeout_is_an_answer(stage: Stage) -> None:
    stage.double.script.then(Fault("slow", seconds=0.001))
    assert isinstance(await stage.send(), Accepted)


async def test_past_the_deadline_the_server_sees_nothing(stage: Stage) -> None:
    """The lease must outlive the longest attempt; one second less, and no byte leaves."""
    assert await stage.send(seconds=stage.provider.timeout - 1) == TooLate()
    assert stage.double.ledger.requests == 0


async def test_the_end_of_a_native_window_is_a_deadline_too(stage: Stage) -> None:
    ready = stage.provider.prepare(MAIL)
    assert isinstance(ready, Prepared)
    assert await stage.provider.attempt(ready, lease(), until=0.0) == TooLate()
    assert stage.double.ledger.requests == 0


async def test_called_back_after_the_bytes_left_is_unclear(stage: Stage) -> None:
    """And the cancellation is answered: the task goes on, to write down what it knows."""
    stage.double.script.then(Fault("timeout"))
    sending = asyncio.create_task(stage.send())
    await stage.double.took.wait()
    sending.cancel()
    assert isinstance(await sending, Unclear)
    assert sending.cancelling() == 0
    assert stage.double.ledger.total == 1


async def test_called_back_before_the_first_byte_sent_nothing(stage: Stage) -> None:
    sending = asyncio.create_task(stage.send())
    await asyncio.sleep(0)
    sending.cancel()
    assert await sending == TooLate(called_back=True)
    assert stage.double.ledger.requests == 0


@pytest.mark.parametrize(
    "name",
    [
        "Byte, Ada",
        "Ada; Bob",
        'Ada "A\\B" Byte',
        "Ada <bob@example.com>",
        "=?utf-8?q?Ada?=",
        "Zoë 🐙 Ångström",
        "(Ada)",
        "Ada Byte " * 12,
    ],
)
async def test_a_name_never_makes_a_second_recipient(stage: Stage, name: str) -> None:
    to, sender = Address("ada@example.com", name), Address("receipts@shop.example", name)
    assert isinstance(await stage.send(mail(to=to, sender=sender, reply_to=sender)), Accepted)
    assert stage.double.ledger.total == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "Hi\r\nBcc: eve@evil.example"},
        {"subject": "Hi\0"},
        {"subject": "Hi\rthere"},
        {"to": Address("ada@example.com", "Ada\nBcc: eve@evil.example")},
        {"to": Address("ada@example.com\r\nBcc: eve@evil.example")},
        {"to": Address("ada@example.com,eve@evil.example")},
        {"to": Address('"eve@evil.example x"@shop.example')},
        {"to": Address("Ada <ada@example.com>")},
        {"sender": Address("a b@shop.example")},
        {"reply_to": Address("help@shop.example", "Help\n")},
        {"headers": (("X-A", "b\nBcc: eve@evil.example"),)},
        {"headers": (("X-A\nBcc", "eve@evil.example"),)},
        {"headers": (("X A", "b"),)},
        {"headers": (("Bcc", "eve@evil.example"),)},
        {"tags": ("a\nb",)},
        {"options": {"stream": "out\n"}},
        {"message_id": "<a@b>\r\nBcc: eve@evil.example"},
    ],
    ids=str,
)
async def test_what_could_smuggle_a_header_is_refused(
    stage: Stage, changes: dict[str, object]
) -> None:
    answer = stage.provider.prepare(mail(**changes))
    assert isinstance(answer, Rejected)
    assert "@" not in answer.error


async def test_a_local_part_outside_ascii_is_sent_as_it_is_or_refused(stage: Stage) -> None:
    """Never rewritten: without its accents it may be another person's address."""
    foreign = mail(to=Address("j\u00f6rg@example.com"))
    if stage.kind.takes_utf8_local:
        assert isinstance(await stage.send(foreign), Accepted)
    else:
        assert isinstance(stage.provider.prepare(foreign), Rejected)


async def test_a_very_long_line_is_no_obstacle(stage: Stage) -> None:
    assert isinstance(await stage.send(mail(text="x" * 5000, html="ü" * 5000)), Accepted)


async def test_the_same_message_is_the_same_bytes(stage: Stage) -> None:
    first, second = stage.provider.prepare(mail()), stage.provider.prepare(mail())
    assert first == second
    assert isinstance(first, Prepared)
    assert len(first.body_hash) == 32


async def test_what_is_too_large_is_refused_before_the_claim(stage: Stage) -> None:
    assert isinstance(stage.provider.prepare(mail(html="x" * (2 << 20))), Rejected)


def test_every_kind_has_its_name_once() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names))
