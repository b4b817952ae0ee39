"""Laws of the listener: what each answer means to a provider."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
from structlog.testing import capture_logs

from consumer.model import News
from consumer.webhooks.server import BODY_LIMIT, Bounds
from tests.integration.webhooks.listener import (
    FakeGuard,
    delivery,
    event,
    for_ever,
    listening,
)
from tests.unit.webhooks.signing import KEY, OTHER_KEY, basic, dumped

# ── What a provider is told


async def test_every_provider_is_heard_on_its_own_path() -> None:
    async with listening() as listener:
        resend = {"type": "email.sent", "data": {"email_id": "r1", "tags": {"sendonce_key": KEY}}}
        mailgun = {
            "event": "delivered",
            "user-variables": {"sendonce_key": KEY},
            "message": {"headers": {"message-id": "m1@mail.example"}},
        }
        assert await listener.postmark(delivery()) == 200
        assert await listener.resend(resend) == 200
        assert await listener.mailgun(mailgun, "a" * 50) == 200
        assert await listener.sendgrid([event(1)]) == 200
        told = {(n.provider, n.provider_message_id, n.news) for n in listener.guard.heard}
        assert told == {
            ("postmark", "883953f4", News.DELIVERED),
            ("resend", "r1", News.ACCEPTED),
            ("eu-mailgun", "m1@mail.example", News.DELIVERED),
            ("sendgrid", "id1", News.DELIVERED),
        }
        assert set(listener.counts.results.values()) == {1}
        assert {result for _, result in listener.counts.results} == {"heard"}


async def test_a_bad_signature_is_401_and_a_counter_and_reaches_nobody() -> None:
    async with listening() as listener:
        for _ in range(3):
            status = await listener.post(
                "/webhooks/postmark", dumped(delivery()), basic("hook", "guess")
            )
            assert status == 401
        assert await listener.post("/webhooks/sendgrid", b"[]") == 401
        assert await listener.post("/webhooks/resend", b"{}") == 401
        assert await listener.post("/webhooks/eu-mailgun", b"{}") == 401
        assert listener.guard.heard == []
        assert listener.counts.results["postmark", "forged"] == 3
        assert listener.counts.news.total() == 0


async def test_a_401_of_postmark_says_which_credentials_are_wanted() -> None:
    async with listening() as listener:
        url = f"http://127.0.0.1:{listener.port}/webhooks/postmark"
        async with listener.session.post(url, data=b"{}") as response:
            assert response.headers["WWW-Authenticate"].startswith("Basic ")


async def test_anybody_can_call_and_the_log_does_not_fill_up() -> None:
    with capture_logs() as lines:
        async with listening() as listener:
            for _ in range(20):
                await listener.post("/webhooks/postmark", b"{}", basic("ada@example.org", "x"))
    assert len(lines) == 1
    assert "ada@example.org" not in str(lines)


async def test_an_unknown_key_is_200_and_a_counter() -> None:
    """A repeat would know no more: the mail is not ours, or is forgotten by now."""
    async with listening(FakeGuard(unknown=frozenset({OTHER_KEY}))) as listener:
        assert await listener.postmark(delivery(OTHER_KEY)) == 200
        assert listener.counts.news == {("postmark", "unknown_key"): 1}


async def test_events_of_no_interest_are_200_and_reach_nobody() -> None:
    async with listening() as listener:
        assert await listener.sendgrid([event(1, "open"), event(2, "click")]) == 200
        assert listener.counts.news == {("sendgrid", "no_news"): 2}
        assert listener.guard.heard == []


async def test_what_is_signed_and_unreadable_is_not_asked_for_again() -> None:
    async with listening() as listener:
        assert await listener.postmark([1, 2, 3]) == 200
        assert listener.counts.results == {("postmark", "unreadable"): 1}


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/webhooks", "/webhooks/", "/webhooks/silent", "/webhooks/ses", "/webhooks/x/y"),
        *("/healthz", "/readyz", "/metrics", "/admin", "/webhooks/postmark/", "/webhooks/Postmark"),
    ],
)
async def test_there_is_nothing_else_here(path: str) -> None:
    async with listening() as listener:
        assert await listener.post(path, dumped(delivery()), basic("hook", "secret")) == 404
        assert listener.counts.results.total() == 0


async def test_only_post_is_answered() -> None:
    async with listening() as listener:
        url = f"http://127.0.0.1:{listener.port}/webhooks/postmark"
        async with listener.session.get(url) as response:
            assert response.status == 405


async def _chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 65536):
        yield b" " * 65536


async def test_a_body_over_the_limit_is_413_however_it_comes() -> None:
    """With its length told, in chunks, or small and growing when it is unpacked."""
    async with listening() as listener:
        path, headers = "/webhooks/postmark", basic("hook", "secret")
        assert await listener.post(path, BytesIO(b" " * (BODY_LIMIT + 1)), headers) == 413
        assert await listener.post(path, _chunks(2 * BODY_LIMIT), headers) == 413
        packed = gzip.compress(b" " * (8 * BODY_LIMIT))
        encoded = headers | {"Content-Encoding": "gzip"}
        assert await listener.post(path, packed, encoded) == 413
        assert listener.counts.results == {("postmark", "too_large"): 3}
        assert await listener.postmark(delivery()) == 200


# ── When the database is away


async def broken() -> None:
    raise ConnectionRefusedError("postgresql://user:password@host")


async def test_a_database_that_refuses_is_503_so_that_the_provider_repeats() -> None:
    with capture_logs() as lines:
        async with listening(FakeGuard(before=broken)) as listener:
            assert await listener.postmark(delivery()) == 503
            listener.guard.before = None
            assert await listener.postmark(delivery()) == 200
            results = listener.counts.results
            assert results == {("postmark", "away"): 1, ("postmark", "heard"): 1}
    assert "password" not in str(lines)


async def test_a_database_that_does_not_answer_is_503_in_time() -> None:
    """The guard itself waits for ever: a provider does not."""
    bounds = Bounds(seconds=0.2)
    async with listening(FakeGuard(before=for_ever), bounds) as listener:
        assert await listener.postmark(delivery()) == 503
        assert listener.guard.at_once == 0  # nothing is left waiting behind the answer
        assert listener.counts.results == {("postmark", "away"): 1}


async def test_if_one_event_of_many_cannot_be_written_all_come_again() -> None:
    """What was written is written again then: repeats are harmless to the guard."""
    guard = FakeGuard()

    async def every_fourth() -> None:
        if len(guard.heard) == 3:
            raise ConnectionResetError

    guard.before = every_fourth
    async with listening(guard) as listener:
        events = [event(number) for number in range(10)]
        assert await listener.sendgrid(events) == 503
        guard.before = None
        assert await listener.sendgrid(events) == 200
        assert {notice.key for notice in guard.heard} == {e["sendonce_key"] for e in events}


# ── Order and repeats


async def test_repeated_events_and_events_out_of_order_are_passed_on_as_they_come() -> None:
    """A bounce before its delivery, a delivery before "processed": each says what it says."""
    async with listening() as listener:
        kinds = ["bounce", "delivered", "processed", "delivered", "bounce", "processed"]
        for kind in kinds:
            assert await listener.sendgrid([event(1, kind)]) == 200
        words = {"bounce": "bounced", "delivered": "delivered", "processed": "accepted"}
        assert [notice.news.value for notice in listener.guard.heard] == [words[k] for k in kinds]


async def test_a_token_of_mailgun_is_good_for_its_own_words_only() -> None:
    async with listening() as listener:
        mail = {"message": {"headers": {"message-id": "m1"}}}
        mine = {"event": "delivered", "user-variables": {"sendonce_key": KEY}, **mail}
        other = {"event": "delivered", "user-variables": {"sendonce_key": OTHER_KEY}, **mail}
        assert await listener.mailgun(mine, "a" * 50) == 200
        assert await listener.mailgun(other, "a" * 50) == 401
        assert await listener.mailgun(mine, "a" * 50) == 200
        assert {notice.key for notice in listener.guard.heard} == {KEY}
