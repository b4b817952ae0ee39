"""Plain JSON: the whole object is the data.

The event type is the header `type`, else the member `type`, else the default (the topic's name).
"""

from __future__ import annotations

from collections.abc import Mapping

from consumer.events.headers import Headers, type_problem
from consumer.model import Bad, Event, Json, Reason


def event(body: Mapping[str, Json], headers: Headers, default_type: str) -> Event | Bad:
    named = headers.type or body.get("type")
    event_type = default_type if named is None else named
    if not isinstance(event_type, str):
        return Bad(Reason.MALFORMED, "value.type is not a string")
    if problem := type_problem(event_type):
        return Bad(Reason.MALFORMED, f"value.type {problem}")
    return Event(event_type, body, carried_key=headers.key, carried_id=headers.id)
