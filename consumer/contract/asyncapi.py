"""The whole contract with upstream as one AsyncAPI 3.0 document.

A channel is a topic, an operation a mail type: `receive` is what the service does with an event,
so it is what an upstream team publishes. https://www.asyncapi.com/docs/reference/specification/v3.0.0
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from consumer.contract.kinds import Kind
from consumer.contract.messages import Form, JsonObject, forms
from consumer.contract.outcomes import EXAMPLE, SCHEMA
from consumer.contract.schemas import translated

# Names that no topic and no mail type has: theirs begin with a letter or a digit.
OUTCOMES: Final = "_outcomes"  # the channel, where no configuration names the topic
OUTCOME: Final = "_outcome"  # the operation

_TITLE: Final = "Events that become mail"
_ABOUT: Final = """\
Publish what happened; each event becomes exactly one email, or there is an outcome that says why \
not. Nothing here is written by hand: it is read out of the catalogue that the service runs on.

Keys and outcomes: two events with the same key are one mail. The second is a *duplicate* if \
nothing that reaches the mail differs, and a *conflict*, refused loudly, if something does."""


_WRAPPED: Final = {
    "confluent": "Read here in Confluent's wire format; described is the data in it.",
    "debezium": "Read here as Debezium's outbox router writes it; described is the payload.",
}


@dataclass(frozen=True, slots=True)
class House:
    """What a configuration adds; without one, nobody knows.

    `servers`: "host:port" each. `outcomes`: the topic; "": nobody knows, None: there is none.
    `formats`: topic -> `[topics.X] format`, where one is set.
    """

    servers: Sequence[str] = ()
    encrypted: bool = False
    outcomes: str | None = ""
    formats: Mapping[str, str] = field(default_factory=dict)

    def wrapped(self, topic: str) -> str | None:
        """Say what this deployment expects around the data on a topic; None: nothing."""
        return _WRAPPED.get(self.formats.get(topic, ""))

    @property
    def known(self) -> bool:
        """Tell whether there is a configuration: then senders are addresses, not only names."""
        return bool(self.servers)


def document(kinds: Sequence[Kind], house: House) -> JsonObject:
    """Return the document; the same catalogue gives the same document."""
    written = [form for kind in kinds for form in forms(kind)]
    topics = sorted({kind.topic for kind in kinds})
    channels = {topic: _channel(topic, written, house) for topic in topics}
    operations = {kind.name: _operation(kind) for kind in kinds}
    messages = {form.name: form.message() for form in written}
    whole: JsonObject = {
        "asyncapi": "3.0.0",
        "info": {"title": _TITLE, "version": _version(kinds), "description": _ABOUT},
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": _schemas(kinds)},
    }
    _add_servers(whole, house)
    _add_outcomes(whole, house)
    return whole


def _version(kinds: Sequence[Kind]) -> str:
    """A name for the catalogue's content: it changes when the content does."""
    total = hashlib.sha256("".join(kind.rules.type.digest for kind in kinds).encode())
    return total.hexdigest()[:12]


def _channel(topic: str, written: Sequence[Form], house: House) -> JsonObject:
    here = [form.name for form in written if form.kind.topic == topic]
    around = house.wrapped(topic)
    return {
        **({"description": around} if around else {}),
        "address": topic,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in here},
        "bindings": {"kafka": {"topic": topic, "bindingVersion": "0.5.0"}},
    }


def _operation(kind: Kind) -> JsonObject:
    at = f"#/channels/{kind.topic}"
    return {
        "action": "receive",
        "channel": {"$ref": at},
        "title": kind.name,
        "summary": kind.summary,
        "description": _described(kind),
        "messages": [{"$ref": f"{at}/messages/{form.name}"} for form in forms(kind)],
    }


def _described(kind: Kind) -> str:
    key = " + ".join(f"`{path}`" for path in (*kind.entity, kind.recipient))
    return "\n".join(
        (
            f"* One mail for each {key}.",
            "* The same key and the same content: a duplicate, nothing is sent.",
            "* The same key and other content: a conflict, refused.",
            f"* An event older than {kind.waits} is skipped.",
        )
    )


def _schemas(kinds: Sequence[Kind]) -> JsonObject:
    found: JsonObject = {}
    for kind in kinds:
        for version in kind.versions:
            name = f"{kind.name}.v{version}"
            schema = kind.rules.schemas[version].document
            found[name] = translated(schema, f"#/components/schemas/{name}")
    return found


def _add_servers(whole: JsonObject, house: House) -> None:
    if house.servers:
        protocol = "kafka-secure" if house.encrypted else "kafka"
        whole["servers"] = {
            f"kafka-{number}": {"host": host, "protocol": protocol}
            for number, host in enumerate(house.servers, start=1)
        }


def _add_outcomes(whole: JsonObject, house: House) -> None:
    """Say what comes back; `address` is null where only the deployment knows the topic."""
    if house.outcomes is None:
        return
    name = house.outcomes or OUTCOMES
    channel = whole["channels"].setdefault(name, {"address": house.outcomes or None})
    channel.setdefault("messages", {})["outcome"] = {"$ref": "#/components/messages/outcome"}
    whole["operations"][OUTCOME] = _outcome(name)
    whole["components"]["schemas"]["outcome"] = SCHEMA
    whole["components"]["messages"]["outcome"] = {
        "title": "What became of an event",
        "contentType": "application/json",
        "payload": {"$ref": "#/components/schemas/outcome"},
        "examples": [{"name": "sent", "payload": EXAMPLE}],
    }


def _outcome(channel: str) -> JsonObject:
    at = f"#/channels/{channel}"
    return {
        "action": "send",
        "channel": {"$ref": at},
        "summary": "What became of an event: published when it is finished.",
        "messages": [{"$ref": f"{at}/messages/outcome"}],
    }
