"""What an event brings to its mail beside the context: files to attach, a link to unsubscribe.

Links must be `https://`; of this machine itself `http://` will do, for tests and local runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from consumer.catalogue.blocks import AttachmentRule, Unsubscribe
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.paths import MISSING
from consumer.catalogue.unfit import UnfitError, demanded
from consumer.model import Attachment, Event, Json, Reason

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_URL = re.compile(r"[\x21-\x7e]{1,2000}")


def attachments_of(says: Declaration, event: Event) -> tuple[Attachment, ...]:
    """Return the files in the order of `[[attachments]]`."""
    named = [_attachment(rule, event) for rule in says.attachments]
    return tuple(one for one in named if one is not None)


def unsubscribe_of(rule: Unsubscribe | None, event: Event) -> str | None:
    """Return the link by which this reader leaves the list; None: there is none, or no need."""
    if rule is None or rule.url is None:
        return None
    found = rule.url.read(event)
    where = f"unsubscribe.url: {rule.url.path.pointer if rule.url.path else 'value'}"
    if found is MISSING:
        raise UnfitError(Reason.INVALID, f"{where}: is absent")
    return None if found == "" else _link(found, where)[0]


def _attachment(rule: AttachmentRule, event: Event) -> Attachment | None:
    if rule.optional and rule.url.read(event) in (MISSING, None):
        return None
    url, parts = _link(demanded(rule.url, event), rule.url.pointer)
    _expect_host(rule.hosts, parts, rule.url.pointer)
    digest = demanded(rule.sha256, event)
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest.lower()):
        raise UnfitError(Reason.INVALID, f"{rule.sha256.pointer}: is no SHA-256 in 64 hex digits")
    return Attachment(
        rule.name,
        rule.content_type,
        digest.lower(),
        url,
        rule.max_size,
        tuple(rule.hosts),
    )


def _link(found: Json, where: str) -> tuple[str, SplitResult]:
    """A person's name or a password in a link would be seen by whoever sees the link."""
    if isinstance(found, str) and _URL.fullmatch(found):
        try:
            parts = urlsplit(found)
            secure = parts.scheme == "https" or parts.hostname in _LOOPBACK
            if secure and parts.scheme in ("http", "https") and parts.hostname and _bare(parts):
                return found, parts
        except ValueError:
            pass  # a port or an IPv6 address that is none
    raise UnfitError(Reason.INVALID, f"{where}: is not a link that begins with https://")


def _bare(parts: SplitResult) -> bool:
    _ = parts.port
    return parts.username is None and parts.password is None


def _expect_host(hosts: Collection[str], parts: SplitResult, where: str) -> None:
    """A host that is listed without a port is listed for the usual one."""
    usual = 443 if parts.scheme == "https" else 80
    port = parts.port or usual
    names = {f"{parts.hostname}:{port}", *([parts.hostname] if port == usual else ())}
    if names.isdisjoint(hosts):
        raise UnfitError(Reason.INVALID, f"{where}: leads to none of the hosts of [[attachments]]")
