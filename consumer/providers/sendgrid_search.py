"""Email Activity: https://www.twilio.com/docs/sendgrid/api-reference/email-activity.

An add-on that has to be bought, with a right of its own on the key; six requests a minute, so that
most questions of a bad hour are answered with 429, which says nothing and is asked again. It holds
30 days. For EU subusers it holds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from consumer.model import KEY_FIELD, Message
from consumer.providers.lookups import Absent, Found, Question, Sighting, Unasked
from consumer.providers.sendgrid_answers import base_id
from consumer.providers.statuses import members, named

# Not documented. One customer saw an empty list for close to a minute
# (https://github.com/sendgrid/sendgrid-java/issues/674); ten minutes is our caution, and since it
# is no promise of theirs, absence never proves anything.
VISIBLE_AFTER: Final = 600.0  # seconds
PAGE: Final = 10  # a key has one mail; more than one is a double, and the oldest is the first


class SendGridSearch:
    visible_after = VISIBLE_AFTER
    absence_proves = False

    def __init__(self, base_url: str, credentials: Mapping[str, str]) -> None:
        self._url = base_url + "/v3/messages"
        self._headers = {"Accept": "application/json", **credentials}

    def question(self, message: Message) -> Question:
        """Ask for the custom argument, which is called `unique_args` here, as it was in version 2.

        Syntax: .../for-developers/sending-email/getting-started-email-activity-api
        """
        query = f"(unique_args['{KEY_FIELD}']=\"{message.key}\")"
        return Question(f"{self._url}?{urlencode({'limit': PAGE, 'query': query})}", self._headers)

    def sighting(self, message: Message, status: int, body: bytes) -> Sighting:
        """A 400, 401, 403, 404: not bought, or no right to it; 429: too often. No news in any."""
        found = members(body).get("messages")
        if status != 200 or not isinstance(found, list):  # noqa: PLR2004 - as documented
            return Unasked(named("sendgrid", status))
        if not found:
            return Absent()
        return _oldest([each for each in found if _is_to(message, each)])


def _is_to(message: Message, found: object) -> bool:
    """Our argument is not shown, the recipient is: another one's mail is not ours for certain."""
    to = found.get("to_email") if isinstance(found, dict) else None
    return isinstance(to, str) and to.casefold() == message.to.email.casefold()


def _oldest(ours: Sequence[Mapping[str, object]]) -> Sighting:
    """Return the last of the list: newest first (unconfirmed for a search)."""
    message_id = ours[-1].get("msg_id") if ours else None
    shared = base_id(message_id) if isinstance(message_id, str) else ""
    return Found(shared) if shared else Unasked("sendgrid: found, but not recognised")
