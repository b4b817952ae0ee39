"""Postgres's address as one URL: refused here, with a reason, if the client could not read it.

    postgresql://user:password@host:port,host:port/database?sslmode=verify-full

No reason repeats a part of it but options of a fixed list: a password with an unescaped sign lands
in any part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_SCHEMES: Final = ("postgresql", "postgres")
_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_ESCAPE: Final = "; write @ : / ? # [ ] of a user or password as %40 %3A %2F %3F %23 %5B %5D"
_HIGHEST_PORT: Final = 65535
_FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
# Options of libpq that asyncpg does not know: it would send them on, and no server takes them.
# https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
_LIBPQ_ONLY: Final = frozenset(
    {
        "channel_binding", "connect_timeout", "fallback_application_name", "gssdelegation",
        "gssencmode", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle",
        "keepalives_interval", "load_balance_hosts", "max_protocol_version", "min_protocol_version",
        "oauth_client_id", "oauth_client_secret", "oauth_issuer", "oauth_scope", "require_auth",
        "requirepeer", "requiressl", "scram_client_key", "scram_server_key", "servicefile",
        "sslcertmode", "sslcompression", "sslcrldir", "sslkeylogfile", "sslsni", "tcp_user_timeout",
    }
)  # fmt: skip


def check_dsn(text: str) -> None:
    """Raise ValueError, with what is wrong and nothing of the text."""
    if not text.startswith(tuple(f"{scheme}://" for scheme in _SCHEMES)):
        raise ValueError("must start with postgresql://")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(f"is no URL{_ESCAPE}") from None
    _check_hosts(parts)
    _check_options(parts)


def is_dsn(text: str) -> bool:
    try:
        check_dsn(text)
    except ValueError:
        return False
    return True


def same_place(one: str, other: str) -> bool:
    """Tell whether both lead to one database in the same way, whoever signs in there."""
    return _without_login(one) == _without_login(other)


def _without_login(text: str) -> tuple[object, ...]:
    parts = urlsplit(text)
    login, at, hosts = parts.netloc.partition("@")  # as the client does
    options = parse_qs(parts.query)
    for name in ("user", "password"):
        options.pop(name, None)
    return parts.scheme, hosts if at else login, parts.path, options


def _check_hosts(parts: SplitResult) -> None:
    if not parts.netloc:
        return
    # As the client does: the first @ ends the login.
    login, at, hosts = parts.netloc.partition("@")
    for host in (hosts if at else login).split(","):
        _check_host(host)


def _check_host(host: str) -> None:
    if host.startswith("["):
        address, closed, rest = host[1:].partition("]")
        if not address or not closed or rest[:1] not in ("", ":"):
            raise ValueError(f"has no address between [ and ]{_ESCAPE}")
        port = rest.removeprefix(":")
    else:
        name, _, port = host.partition(":")
        if not name:
            raise ValueError(f"names no host before its port{_ESCAPE}")
    if port:
        _check_port(unquote(port))


def _check_port(port: str) -> None:
    """The only part that has to be a number."""
    if not (port.isascii() and port.isdigit() and 0 < int(port[:9]) <= _HIGHEST_PORT):
        raise ValueError(f"has a port that is no number from 1 to {_HIGHEST_PORT}{_ESCAPE}")


def _check_options(parts: SplitResult) -> None:
    if not parts.query:
        return
    try:
        options = parse_qs(parts.query, strict_parsing=True)
    except ValueError:
        raise ValueError("has options after ? that are not name=value&name=value") from None
    for port in options.get("port", [""])[-1].split(","):
        if port:
            _check_port(port)
    if options.get("sslmode", ["prefer"])[-1] not in _MODES:
        raise ValueError(f"has an sslmode that is none of {', '.join(_MODES)}")
    if unknown := sorted(_LIBPQ_ONLY & options.keys()):
        raise ValueError(f"has an option that asyncpg does not know: take out {unknown[0]}")
    _check_files(options)


def _check_files(options: Mapping[str, Sequence[str]]) -> None:
    for name in _FILES:
        if name in options and not Path(options[name][-1]).is_file():
            raise ValueError(f"names a file that is not there, as its {name}")
