"""The first connection: what keeps it from being made, in words that a person can act on.

Neither user nor password is ever said, and no message of the client, which may quote them.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import asyncpg

from consumer.guard.errors import LoginRefusedError, PostgresUnreachableError, SetupError
from consumer.guard.lanes import (
    CLIENT_TIMEOUT,
    CONNECT_TIMEOUT,
    Address,
    connect,
    is_outage,
    name_of,
)

DSN: Final = "postgres.dsn"
_NO_TLS: Final = "rejected SSL upgrade"  # the client has no class of its own for it

# What may pass; the first that fits.
_WORDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (socket.gaierror, "the host's name is not known"),
    (ConnectionRefusedError, "nothing listens there"),
    (TimeoutError, f"no answer within {CONNECT_TIMEOUT:g} s"),
    (ConnectionError, "the connection was closed while it was being made"),
    (asyncpg.ConnectionDoesNotExistError, "the connection was closed while it was being made"),
    (FileNotFoundError, "its socket is not there"),
    (ssl.SSLError, "TLS could not be agreed upon"),
    (asyncpg.CannotConnectNowError, "it is starting or stopping"),
    (asyncpg.TooManyConnectionsError, "it has no connection left"),
    (asyncpg.TargetServerAttributeNotMatched, "no server there takes writes"),
)


async def reach(
    address: Address,
    *,
    setting: str = DSN,
    timeout: float | None = CLIENT_TIMEOUT,  # noqa: ASYNC109 - of each later statement
) -> Any:
    """Connect; raises a `SetupError`, `PostgresUnreachableError` where waiting may help.

    `setting`: where the address was written, for who has to mend it.
    """
    with in_words(address, setting):
        return await connect(address, timeout=timeout)


@contextmanager
def in_words(address: Address, setting: str = DSN) -> Iterator[None]:
    """Raise what goes wrong with the server inside as `reach` does; all else as it is.

    A pooler takes the connection and ends it with the first statement, while its server is away.
    """
    try:
        yield
    except Exception as error:
        if (refusal := _refusal(error, urlsplit(address.dsn), setting)) is None:
            raise
        raise refusal from error


def _refusal(error: Exception, dsn: SplitResult, setting: str) -> SetupError | None:
    where = _where(dsn)
    if isinstance(
        error,
        asyncpg.InvalidAuthorizationSpecificationError | asyncpg.InvalidCatalogNameError,
    ):
        return LoginRefusedError(
            f"Postgres at {where} refuses this login or database ({name_of(error)}):"
            f" look at {setting}"
        )
    if option := _refused_option(error, dsn):
        return SetupError(
            f"Postgres at {where} does not take the option {option} of {setting}: take it out"
        )
    if why := _never(error, dsn):
        return SetupError(f"{setting} cannot be used with Postgres at {where}: {why}")
    if not is_outage(error):
        return None
    return PostgresUnreachableError(
        f"Postgres does not answer at {where}: {_words(error)} ({setting})"
    )


def _where(dsn: SplitResult) -> str:
    """Return host:port, several with commas; nothing where a password may have run into it."""
    login, _, hosts = dsn.netloc.rpartition("@")
    if "@" in login or "@" in dsn.path + dsn.query + dsn.fragment:
        return "its host"
    options = parse_qs(dsn.query)
    if not hosts:
        return options.get("host", ["the default host"])[-1]
    port = options.get("port", ["5432"])[-1]
    return ", ".join(_with_port(unquote(host), port) for host in hosts.split(","))


def _with_port(host: str, port: str) -> str:
    return host if ":" in host.rpartition("]")[2] else f"{host}:{port}"


def _refused_option(error: Exception, dsn: SplitResult) -> str | None:
    """Name what the refusal is about: options unknown to the client go to the server."""
    if not isinstance(error, asyncpg.PostgresError):
        return None
    return next(_named_in(str(error), parse_qs(dsn.query)), None)


def _named_in(text: str, names: Iterable[str]) -> Any:
    return (name for name in names if f'"{name}"' in text or text.endswith(f": {name}"))


def _never(error: Exception, dsn: SplitResult) -> str | None:
    """Say why no waiting will mend it, where that is so."""
    match error:
        case ssl.SSLCertVerificationError():
            return "the server's certificate does not prove it; look at sslrootcert and the host"
        case FileNotFoundError() if dsn.netloc:  # else it may be a socket that is yet to come
            return "a file of its TLS options, or of PGSSL* in the environment, is not there"
        case ConnectionError() if _NO_TLS in str(error):
            return "the server speaks no TLS, which its sslmode asks for"
        case ValueError():  # read by the client before it connects
            return (
                f"{name_of(error)}; look at its options, such as the certificates that its"
                " sslmode wants"
            )
        case asyncpg.PostgresError() if not is_outage(error):
            return f"the server refuses the connection ({name_of(error)}); look at its options"
    return None


def _words(error: Exception) -> str:
    if type(error) is OSError and error.strerror and "(" not in error.strerror:
        return error.strerror.lower()
    return next((words for kind, words in _WORDS if isinstance(error, kind)), name_of(error))
