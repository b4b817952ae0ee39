"""Plain JSON: the whole object is the data.

The event type is the header `type`, else the member `type`, else the default (the topic's name).
What came through Debezium's outbox event router names it in the header, or the envelope's member,
`eventType`.
"""

from __future__ import annotations

from collections.abc import Mapping

from consumer.events.connect import attributes, plain_text
from consumer.events.headers import Headers, type_problem
from consumer.model import Bad, Event, Json, Reason, Record


def event(body: Mapping[str, Json], headers: Headers, default_type: str) -> Event | Bad:
    named = headers.type or body.get("type")
    return _event(body, headers, default_type if named is None else named)


def routed(
    body: Mapping[str, Json],
    headers: Headers,
    default_type: str,
    enveloped_type: str | None,
    record: Record,
) -> Event | Bad:
    """Make an event of what the router sent; it tells the row's id and the aggregate's beside."""
    placed = map(plain_text, headers.outbox_types)
    said = {one for one in (headers.type, *placed, enveloped_type) if one is not None}
    if len(said) > 1:
        return Bad(Reason.MALFORMED, "headers type and eventType, or value.eventType, differ")
    named = said.pop() if said else body.get("type")
    event_type = default_type if named is None else named
    return _event(body, headers, event_type, attributes(record, headers))


def _event(
    body: Mapping[str, Json],
    headers: Headers,
    event_type: Json,
    beside: Mapping[str, str] | None = None,
) -> Event | Bad:
    if not isinstance(event_type, str):
        return Bad(Reason.MALFORMED, "value.type is not a string")
    if problem := type_problem(event_type):
        return Bad(Reason.MALFORMED, f"value.type {problem}")
    return Event(event_type, body, beside or {}, carried_key=headers.key, carried_id=headers.id)
