"""Mailgun's events: https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events.

They are kept for three days at least (one, says another page). The API is marked deprecated in
favour of Logs, of which no page says that a mail can be found there by its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from consumer.model import Message
from consumer.providers.lookups import Absent, Found, Question, Sighting, Unasked
from consumer.providers.mailgun_answers import bare
from consumer.providers.statuses import members, named

# .../user-manual/events/event-polling: events arrive out of order, and a page of them is to be
# trusted when it is older than a threshold, "e.g. half an hour". That is an example, not a promise,
# and there are ids that were never found (mailgun/mailgun-php issues 720 and 737): absence proves
# nothing.
VISIBLE_AFTER: Final = 1800.0  # seconds
PAGE: Final = 10  # any one event of a mail will do, and an answer is read up to 64 KiB


class MailgunEvents:
    visible_after = VISIBLE_AFTER
    absence_proves = False

    def __init__(self, url: str, credentials: Mapping[str, str]) -> None:
        self._url = url
        self._headers = credentials

    def question(self, message: Message) -> Question:
        """Ask by our Message-ID without its brackets: with them, the filter is ignored.

        Backwards from now, which needs `ascending` to be said. Not for one kind of event: whichever
        comes first, "accepted" or "delivered", Mailgun has the mail.
        """
        query = {"message-id": bare(message.message_id), "ascending": "no", "limit": PAGE}
        return Question(f"{self._url}?{urlencode(query)}", self._headers)

    def sighting(self, message: Message, status: int, body: bytes) -> Sighting:
        """Read the events.

        Those of other mails come when the filter was ignored (mailgun/mailgun.js issue 296), and
        then nothing was learned. A key that may only send gets a 401 or a 403.
        """
        items = members(body).get("items")
        if status != 200 or not isinstance(items, list):  # noqa: PLR2004 - as documented
            return Unasked(named("mailgun", status))
        ours = bare(message.message_id)
        events = [_event(item) for item in items if _message_id(item) == ours]
        if any(event != "rejected" for event in events):  # rejected: asked for, and not sent
            return Found(ours)
        return Absent() if events or not items else Unasked("mailgun: events of other mails")


def _event(item: Mapping[str, Any]) -> object:
    return item.get("event")


def _message_id(item: object) -> str:
    """Look for `message.headers.message-id`; "" where there is none."""
    for name in ("message", "headers", "message-id"):
        item = item.get(name) if isinstance(item, dict) else None
    return bare(item) if isinstance(item, str) else ""
