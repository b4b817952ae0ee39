"""What an SMTP server's reply proves, by the place in the dialogue where it came.

RFC 5321: every 4xx and 5xx, also the one after the final dot, says that the mail was not taken
(section 4.2.1); only silence after the dot leaves it open (section 6.1). Enhanced codes: RFC 3463,
authentication: RFC 4954.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)


class Place(StrEnum):
    GREETING = "greeting"
    HELLO = "EHLO"
    TLS = "STARTTLS"
    LOGIN = "AUTH"
    SENDER = "MAIL"
    RECIPIENT = "RCPT"
    DATA = "DATA"
    END = "end of data"


_BEFORE_ANY_MAIL: Final = {Place.GREETING, Place.HELLO, Place.TLS, Place.LOGIN}
_LOGIN_WANTED: Final = {530, 534, 535, 538}  # RFC 4954, section 6
_PASSWORD_EXPIRED: Final = 432  # a 4xx that waiting does not mend (RFC 4954, section 4.7.12)
_THROTTLED: Final = 454  # SES: "454 Throttling failure: ..." (dg/manage-sending-quotas-errors.html)
_TOO_LARGE: Final = {552, 555}  # of MAIL: the size, or a parameter that this mail needs
_ENHANCED: Final = re.compile(r"([245]\.\d{1,3}\.\d{1,3})\b")

_QUEUE_ID: Final = re.compile(
    r"""queued\ as\ (?P<postfix>[\w-]{5,100})\b
      | \bid=(?P<exim>[\w-]{5,100})\b
      | ^ok\ (?P<ses>[0-9a-f-]{20,100})$""",
    re.IGNORECASE | re.VERBOSE,
)


def refusal(place: Place, code: int, text: str) -> Answer:
    """Read a reply that is not the one hoped for."""
    enhanced = _ENHANCED.match(text)
    error = f"smtp {code}{' ' + enhanced[1] if enhanced else ''} at {place}"
    if code // 100 == 4:  # noqa: PLR2004 - the reply's first digit
        return _for_now(place, code, text.casefold(), error)
    if code // 100 == 5:  # noqa: PLR2004 - the reply's first digit
        return _for_good(place, code, text.casefold(), error)
    return Unclear(error) if place is Place.END else Transient(error)


def acceptance(text: str, message_id: str) -> Accepted:
    """Name the mail by the server's queue id where it can be read, else by our Message-ID."""
    said = _ENHANCED.sub("", text, count=1).strip()
    found = _QUEUE_ID.search(said)
    return Accepted(found[found.lastgroup or 0] if found else message_id)


def _for_now(place: Place, code: int, text: str, error: str) -> Answer:
    if code == _PASSWORD_EXPIRED:
        return Blocked(error)
    if code == _THROTTLED and place not in _BEFORE_ANY_MAIL:
        return Blocked(error) if "quota exceeded" in text else SlowDown(error)
    return Transient(error)


def _for_good(place: Place, code: int, text: str, error: str) -> Answer:
    if place in _BEFORE_ANY_MAIL or code in _LOGIN_WANTED:
        return Blocked(error)
    if place is Place.SENDER:
        return Rejected(error) if code in _TOO_LARGE else Blocked(error, Scope.SENDER)
    if place is Place.RECIPIENT and not _is_policy(text):
        return Refused(error)
    return Rejected(error)


def _is_policy(text: str) -> bool:
    """Tell "we do not take your mail" from "there is no such mailbox".

    A relay that is not open to us must be seen by a person, not end as fifty silent refusals. It
    does not stop the account either: a strange address of one recipient can bring it about.
    """
    return text.startswith("5.7.") or "relay" in text
