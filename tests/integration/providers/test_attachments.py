"""The laws of files that every adapter keeps, at the wire, against a strict double."""

from __future__ import annotations

import pytest

from consumer.model import Accepted, Prepared, Rejected
from tests.doubles.mails import KEY
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.conftest import OPTIONS, Stage, on_stage
from tests.integration.providers.enclosures import PDF, arrived, enclosed, with_files
from tests.integration.providers.kinds import SMTP


async def test_files_arrive_whole_and_in_order_under_our_key(stage: Stage) -> None:
    two = enclosed(), enclosed("terms and conditions.txt", b"Be kind.\n", content_type="text/plain")
    assert isinstance(await stage.send(with_files(*two), enclosed=two), Accepted)
    assert stage.double.ledger.brought[KEY].files == arrived(*two)


NAMES = ["Rechnung Größe 7.pdf", "請求書.pdf", "🐙" * 40 + ".pdf", "a;b=c'd%.pdf"]


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_arrives_as_it_is(stage: Stage, name: str) -> None:
    file = enclosed(name)
    assert isinstance(await stage.send(with_files(file), enclosed=(file,)), Accepted)
    assert stage.double.ledger.brought[KEY].files == arrived(file)


async def test_a_large_file_arrives_whole(stage: Stage) -> None:
    file = enclosed("scan.pdf", PDF * 8000)  # 2 MB, in a dozen pieces
    assert isinstance(await stage.send(with_files(file), enclosed=(file,)), Accepted)
    assert stage.double.ledger.brought[KEY].files == arrived(file)


async def test_a_mail_never_goes_without_a_file_of_its_own(stage: Stage) -> None:
    file, other = enclosed(), enclosed("other.pdf")
    for given in ((), (other,), (file, other)):
        assert isinstance(stage.provider.prepare(with_files(file), given), Rejected)


async def test_what_a_provider_does_not_take_is_refused_before_the_claim(http: Stage) -> None:
    limit = OPTIONS.validate_python(http.double.options).files_limit
    assert limit is not None
    size = limit // 2 + 1
    half = enclosed(content=bytes(size))
    answer = http.provider.prepare(with_files(half, half), (half, half))
    assert answer == Rejected(f"attachments of {2 * size} bytes, the provider takes {limit}")


async def test_an_smtp_server_says_what_it_takes() -> None:
    """Before anything of the mail is sent, and the connection goes on."""
    file = enclosed(content=PDF * 1000)
    async with SmtpDouble(size=100_000) as double, on_stage(SMTP, double) as stage:
        answer = await stage.send(with_files(file), enclosed=(file,))
        assert isinstance(answer, Rejected)
        assert answer.error.endswith("bytes, the server takes 100000")
        assert isinstance(await stage.send(), Accepted)
        assert double.connections == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"name": 'a".pdf'},
        {"name": "a\r\nBcc: eve@evil.example"},
        {"name": "../a.pdf"},
        {"content_type": "application/pdf\r\nX: y"},
        {"content_type": 'text/plain; name="a"'},
        {"content": b""},
    ],
    ids=str,
)
async def test_what_no_header_can_hold_is_refused(stage: Stage, changes: dict[str, str]) -> None:
    file = enclosed(**changes)  # type: ignore[arg-type]  # one of its members each
    answer = stage.provider.prepare(with_files(file), (file,))
    assert isinstance(answer, Rejected)
    assert "@" not in answer.error


async def test_the_same_files_are_the_same_bytes(stage: Stage) -> None:
    """A repeat that fetches them again compares by this alone."""
    first = stage.provider.prepare(with_files(enclosed()), (enclosed(),))
    assert first == stage.provider.prepare(with_files(enclosed()), (enclosed(),))
    other = enclosed(content=PDF + b"\n")
    second = stage.provider.prepare(with_files(other), (other,))
    assert isinstance(first, Prepared)
    assert isinstance(second, Prepared)
    assert first.body_hash != second.body_hash
