"""Who cannot connect is told where to, what is the matter and which setting says so."""

from __future__ import annotations

import socket

import asyncpg
import pytest

from consumer.guard import Address, PostgresUnreachableError, SetupError, reaching

DSN = "postgresql://ada:s3cret@db.internal/d"


async def _refused(
    monkeypatch: pytest.MonkeyPatch, error: Exception, dsn: str = DSN, setting: str = "postgres.dsn"
) -> SetupError:
    async def connect(_address: Address, **_options: object) -> None:
        raise error

    monkeypatch.setattr(reaching, "connect", connect)
    with pytest.raises(SetupError) as refused:
        await reaching.reach(Address(dsn), setting=setting)
    return refused.value


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (socket.gaierror(-2, "s3cret"), "the host's name is not known"),
        (ConnectionRefusedError(111, "s3cret"), "nothing listens there"),
        (TimeoutError(), "no answer within 5 s"),
        (ConnectionResetError(), "the connection was closed while it was being made"),
        (OSError(113, "No route to host"), "no route to host"),
        (asyncpg.CannotConnectNowError("s3cret"), "it is starting or stopping"),
        (asyncpg.TooManyConnectionsError("s3cret"), "it has no connection left"),
    ],
)
async def test_what_may_come_yet(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    refusal = await _refused(monkeypatch, error, setting="postgres.migrate_dsn")
    assert isinstance(refusal, PostgresUnreachableError)
    told = f"Postgres does not answer at db.internal:5432: {words} (postgres.migrate_dsn)"
    assert str(refusal) == told


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "s3cret"), "a file of its TLS options"),
        (ConnectionError("PostgreSQL server at x rejected SSL upgrade"), "speaks no TLS"),
        (asyncpg.InvalidParameterValueError("s3cret"), "InvalidParameterValueError 22023"),
    ],
)
async def test_what_no_waiting_mends(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    refusal = await _refused(monkeypatch, error)
    assert not isinstance(refusal, PostgresUnreachableError)
    assert words in str(refusal)
    assert "s3cret" not in str(refusal)


@pytest.mark.parametrize(
    ("dsn", "where"),
    [
        ("postgresql://a:b@one:1,two/d", "one:1, two:5432"),
        ("postgresql://a:b@[::1]/d?port=6", "[::1]:6"),
        ("postgresql://a:s3c@ret@one/d", "its host"),
        ("postgresql://a:12/s3c@one/d", "its host"),
        ("postgresql:///d?host=/run/pg", "/run/pg"),
        ("postgresql:///d", "the default host"),
    ],
)
async def test_the_place_is_named_and_no_part_of_a_login(
    monkeypatch: pytest.MonkeyPatch, dsn: str, where: str
) -> None:
    refusal = await _refused(monkeypatch, ConnectionRefusedError(), dsn)
    assert str(refusal).startswith(f"Postgres does not answer at {where}: ")


def test_a_pooler_whose_server_is_away_ends_a_connection_later() -> None:
    """Found by a storm: the start ended in a trace instead of waiting for Postgres."""
    lost = asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
    with pytest.raises(PostgresUnreachableError), reaching.in_words(Address(DSN)):
        raise lost
    with pytest.raises(KeyError), reaching.in_words(Address(DSN)):
        raise KeyError
