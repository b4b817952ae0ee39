"""What an answer proves by its status alone, and every form of Retry-After."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consumer.model import Answer, Blocked, Rejected, SlowDown, Unclear
from consumer.providers.postmark import read as postmark
from consumer.providers.resend import read as resend
from consumer.providers.statuses import RETRY_AFTER_CAP, by_status, named, retry_after

DATE = "Mon, 30 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, Unclear) for status in (200, 202, 204, 301, 302, 307, 308, 408, 409, 499)),
        *((status, Unclear) for status in (500, 502, 503, 504, 520, 599)),
        *((status, SlowDown) for status in (420, 429)),
        *((status, Blocked) for status in (401, 402, 403, 404, 405, 407, 410)),
        *((status, Rejected) for status in (400, 406, 413, 415, 418, 422, 451)),
    ],
)
def test_a_bare_status_is_read_conservatively(status: int, expected: type[Answer]) -> None:
    assert type(by_status("any", status, {})) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("1.5", 1.5),
        (" 7 ", 7.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("9" * 400, None),
        ("999999999", RETRY_AFTER_CAP),
        ("Mon, 30 Nov 2026 10:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 09:00:00 GMT", 0.0),
        ("Mon, 30 Nov 99999 10:00:30 GMT", None),
        ("Fri, 30 Feb 2026 10:00:00 GMT", None),
    ],
)
def test_retry_after_is_relative_to_the_answers_own_date(said: str, expected: float | None) -> None:
    """Our clock may be ten minutes off, and is never asked."""
    assert retry_after({"Retry-After": said, "Date": DATE}) == expected


def test_a_date_without_a_date_to_compare_it_with_says_nothing() -> None:
    assert retry_after({"Retry-After": DATE}) is None


@given(st.text(), st.text())
@example("٣", DATE)
@example("Mon, 30 Nov 2026 10:00:30 -9999", DATE)
def test_whatever_retry_after_holds_the_wait_is_bounded(said: str, date: str) -> None:
    wait = retry_after({"Retry-After": said, "Date": date})
    assert wait is None or 0 <= wait <= RETRY_AFTER_CAP


@given(st.integers(100, 999), st.binary())
@example(200, b'{"ErrorCode": [], "Message": {}}')
@example(422, b'{"name": {}}')
@example(422, b'{"ErrorCode": true}')
def test_no_answer_breaks_its_reader(status: int, body: bytes) -> None:
    for read in (postmark, resend):
        read(status, {}, body)


@given(
    st.integers(100, 999),
    st.dictionaries(
        st.sampled_from(["ErrorCode", "Message", "MessageID", "name", "id"]),
        st.one_of(st.integers(), st.text(), st.none(), st.booleans(), st.lists(st.integers())),
    ),
)
def test_only_a_200_accepts(status: int, body: dict[str, object]) -> None:
    import orjson  # noqa: PLC0415 - hypothesis makes integers that it cannot write

    try:
        written = orjson.dumps(body)
    except TypeError:
        return
    for read in (postmark, resend):
        if type(read(status, {}, written)).__name__ == "Accepted":
            assert status == 200


@pytest.mark.parametrize("code", ["ada@example.com", "two words", "", None, 1.5, ["a"], "x" * 65])
def test_a_code_that_is_none_is_not_repeated(code: object) -> None:
    assert named("postmark", 422, code) == "postmark HTTP 422"
