"""SNS's certificates: fetched over HTTPS, which vouches for them, and kept while they are valid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, TypeAlias

import aiohttp
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import Certificate, load_pem_x509_certificate

PATIENCE: Final = 5.0  # seconds for one answer of SNS; it waits 15 for ours
LIMIT: Final = 64 * 1024  # bytes of an answer; a certificate has two thousand
ROOM: Final = 16  # certificates kept; SNS has one a region, and changes it about once a year


class FetchError(Exception):
    """SNS did not give what was asked for; the text says why and quotes nothing."""


Fetch: TypeAlias = Callable[[str], Awaitable[bytes]]  # raises FetchError


async def fetch(url: str) -> bytes:
    """GET over HTTPS; redirects are not followed. The caller has looked at the address."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != HTTPStatus.OK:
                raise FetchError(f"SNS answered HTTP {response.status}")
            return await _limited(response)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise FetchError(f"SNS cannot be reached: {type(error).__name__}") from error


async def _limited(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(LIMIT):
        body += chunk
        if len(body) > LIMIT:
            raise FetchError("SNS's answer is too long")
    return bytes(body)


class Certificates:
    """Public keys by their certificate's address. One is fetched at a time."""

    def __init__(self, fetched_by: Fetch = fetch) -> None:
        self._fetch = fetched_by
        self._kept: dict[str, Certificate] = {}
        self._turn = asyncio.Lock()

    async def key(self, url: str) -> RSAPublicKey:
        """Return the key behind `url`, which the caller has looked at. Raises FetchError."""
        certificate = self._kept.get(url)
        if certificate is None or not _valid(certificate):
            certificate = await self._fetched(url)
        key = certificate.public_key()
        if not isinstance(key, RSAPublicKey):
            raise FetchError("SNS's certificate holds no RSA key")
        return key

    async def _fetched(self, url: str) -> Certificate:
        async with self._turn:
            certificate = self._kept.get(url)  # somebody before us in the queue may have it by now
            if certificate is None or not _valid(certificate):
                certificate = _read(await self._fetch(url))
                self._keep(url, certificate)
        return certificate

    def _keep(self, url: str, certificate: Certificate) -> None:
        self._kept[url] = certificate
        if len(self._kept) > ROOM:
            del self._kept[next(iter(self._kept))]


def _read(pem: bytes) -> Certificate:
    try:
        certificate = load_pem_x509_certificate(pem)
    except ValueError as error:
        raise FetchError("SNS answered with no certificate") from error
    if not _valid(certificate):
        raise FetchError("SNS's certificate is not valid now")
    return certificate


def _valid(certificate: Certificate) -> bool:
    return certificate.not_valid_before_utc <= datetime.now(UTC) <= certificate.not_valid_after_utc
