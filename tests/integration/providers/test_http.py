"""The laws of HTTP: what the library must not do behind our back."""

from __future__ import annotations

import pytest

from consumer.model import Accepted, Transient, Unclear
from tests.doubles.engine import Double
from tests.doubles.mails import KEY, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage, on_stage

OTHER = KEY[::-1]


async def test_a_post_is_never_repeated_by_the_library(http: Stage) -> None:
    """Not even on a connection that was kept alive, where aiohttp repeats a GET."""
    await http.send()
    http.double.script.then(Fault("drop"))
    assert isinstance(await http.send(mail(key=OTHER)), Unclear)
    assert http.double.ledger.requests == 2
    assert http.double.ledger.accepted_twice == []


async def test_a_stale_connection_is_unclear_although_nothing_was_read(http: Stage) -> None:
    """From here it looks the same as a provider that read all and then crashed."""
    await http.send()
    http.double.script.then(Fault("reset"))
    assert isinstance(await http.send(mail(key=OTHER)), Unclear)
    assert http.double.ledger.requests == 2
    assert OTHER not in http.double.ledger.accepted


async def test_a_connection_closed_while_idle_costs_nothing_worse_than_a_doubt(
    http: Stage,
) -> None:
    assert isinstance(http.double, Double)
    await http.send()
    http.double.close_idle()
    answer = await http.send(mail(key=OTHER))
    assert isinstance(answer, Accepted | Unclear)
    assert http.double.ledger.requests <= 2


async def test_a_redirect_is_not_followed_and_proves_nothing(http: Stage) -> None:
    http.double.script.then(Fault("redirect"))
    assert isinstance(await http.send(), Unclear)
    assert http.double.ledger.requests == 1


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
async def test_a_bare_failure_of_some_machine_on_the_way_is_unclear(
    http: Stage, status: int
) -> None:
    html = "<html>ada@example.com</html>"
    http.double.script.then(Fault("status", status=status, body=html))
    answer = await http.send()
    assert isinstance(answer, Unclear)
    assert str(status) in answer.error
    assert "@" not in answer.error


async def test_an_answer_without_end_is_cut_and_read_by_its_status(http: Stage) -> None:
    http.double.script.then(Fault("status", status=500, body="x" * (4 << 20)))
    assert isinstance(await http.send(), Unclear)


async def test_nobody_listening_is_certainly_not_sent(http: Stage) -> None:
    async with on_stage(http.kind, http.double, base_url="http://127.0.0.1:1") as nowhere:
        assert isinstance(await nowhere.send(), Transient)


async def test_wrong_credentials_stop_the_account(http: Stage) -> None:
    """Against the double's own check, not a scripted answer."""
    assert isinstance(http.double, Double)
    name = next(iter(http.double.api.credentials))
    async with on_stage(http.kind, http.double, **{name: "wrong"}) as stranger:
        assert type(await stranger.send()).__name__ == "Blocked"
    assert http.double.ledger.total == 0
