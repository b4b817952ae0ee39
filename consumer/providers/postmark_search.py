"""Postmark's message search: https://postmarkapp.com/developer/api/messages-api.

The server token that sent must ask: a server sees its own mails only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from consumer.model import KEY_FIELD, Message
from consumer.providers.lookups import Absent, Found, Question, Sighting, Unasked
from consumer.providers.statuses import members, named

# Not documented. Searches have been seen to trail sending by seconds; ten minutes is our caution,
# and since it is no promise of theirs, absence never proves anything.
VISIBLE_AFTER: Final = 600.0  # seconds
PAGE: Final = 10  # a key has one mail; more than one is a double, and the oldest is the first


class PostmarkSearch:
    visible_after = VISIBLE_AFTER
    absence_proves = False

    def __init__(self, base_url: str, credentials: Mapping[str, str], stream: str) -> None:
        self._url = base_url.rstrip("/") + "/messages/outbound"
        self._headers = {"Accept": "application/json", **credentials}
        self._stream = stream

    def question(self, message: Message) -> Question:
        """Ask for one metadata field: the API takes no more.

        The stream is always named: a search without one looks into the default stream alone
        (unconfirmed), where a mail of another stream would seem absent.
        """
        query = {
            "count": PAGE,
            "offset": 0,
            f"metadata_{KEY_FIELD}": message.key,
            "messagestream": message.options.get("stream", self._stream),
        }
        return Question(f"{self._url}?{urlencode(query)}", self._headers)

    def sighting(
        self,
        message: Message,  # noqa: ARG002 - the search found it by our key
        status: int,
        body: bytes,
    ) -> Sighting:
        answer = members(body)
        found = answer.get("Messages")
        if status != 200 or not isinstance(found, list):  # noqa: PLR2004 - as documented
            return Unasked(named("postmark", status, answer.get("ErrorCode")))
        if not found:
            return Absent()
        oldest = found[-1]  # newest first
        message_id = oldest.get("MessageID") if isinstance(oldest, dict) else None
        return Found(message_id) if isinstance(message_id, str) else Unasked("postmark: no id")
