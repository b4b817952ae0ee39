"""The handbook: one page a mail, and an index. Files that need no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import orjson

from consumer.contract.asyncapi import House, document
from consumer.contract.fields import fields
from consumer.contract.messages import forms
from consumer.contract.outcomes import MEANINGS
from consumer.model import OnUnknown
from consumer.pages.paper import printed
from consumer.pages.proofs import hosted

if TYPE_CHECKING:
    from consumer.catalogue.blocks import KeyRule
    from consumer.contract.kinds import Kind, Sample

INDEX: Final = "index.html"
PAGES: Final = "mails"
DOCUMENT: Final = "asyncapi.json"

_UNKNOWN: Final = {
    OnUnknown.HOLD: "a person decides: nothing is sent a second time on a guess",
    OnUnknown.RESEND: "it is sent again: a second copy does less harm here than none",
}


def handbook(kinds: Sequence[Kind], house: House) -> dict[str, str]:
    """Return every file by name; the same catalogue gives the same files."""
    pages = {f"{PAGES}/{kind.name}.html": _page(kind, house) for kind in kinds}
    written = orjson.dumps(document(kinds, house), option=orjson.OPT_INDENT_2).decode()
    index = printed(
        "index.html.j2", kinds=[_line(kind) for kind in kinds], **_shared(house), document=DOCUMENT
    )
    return {INDEX: index, **pages, DOCUMENT: f"{written}\n"}


def _shared(house: House) -> dict[str, object]:
    told = [{"status": status.value, "meaning": text} for status, text in MEANINGS.items()]
    return {"outcomes": told, "outcomes_topic": house.outcomes}


def _line(kind: Kind) -> dict[str, object]:
    return {
        "name": kind.name,
        "page": f"{PAGES}/{kind.name}.html",
        "summary": kind.summary,
        "topic": kind.topic,
        "event": kind.event,
        "key": [*kind.entity, kind.recipient],
        "waits": kind.waits,
    }


def _page(kind: Kind, house: House) -> str:
    says = kind.rules.declaration
    return printed(
        "mail.html.j2",
        **_line(kind),
        **_shared(house),
        index=f"../{INDEX}",
        sender=_sender(kind) if house.known else None,
        sender_name=says.sender,
        wrapped=house.wrapped(kind.topic),
        since=[_key_rule(rule) for rule in says.key_rules[1:]],
        case=says.case_sensitive_entity,
        time=says.time.text if says.time else None,
        active_from=says.active_from,
        high=says.priority == "high",
        unknown=_UNKNOWN[says.on_unknown],
        attributes=kind.attributes,
        versions=[_version(kind, number) for number in kind.versions],
        samples=[_sample(sample) for sample in kind.samples],
    )


def _sender(kind: Kind) -> str:
    sender = kind.rules.sender
    return f"{sender.name} <{sender.email}>" if sender.name else sender.email


def _key_rule(rule: KeyRule) -> dict[str, object]:
    assert rule.since is not None, "only the first rule holds since ever"
    return {"since": rule.since.isoformat(), "key": [path.text for path in rule.entity_id]}


def _version(kind: Kind, number: int) -> dict[str, object]:
    schema = kind.rules.schemas[number]
    listed = [
        {
            "path": field.path,
            "type": field.type,
            "required": field.required,
            "limits": field.limits,
            "meaning": field.meaning,
            "example": field.example,
            "uses": field.uses,
        }
        for field in fields(kind, number)
    ]
    return {
        "number": number,
        "file": schema.file,
        "fields": listed,
        "forms": [form.message()["title"] for form in forms(kind) if form.version == number],
        "schema": orjson.dumps(schema.document, option=orjson.OPT_INDENT_2).decode(),
    }


def _sample(sample: Sample) -> dict[str, object]:
    message = sample.message
    return {
        "name": sample.name,
        "event": sample.value.decode(),
        "enveloped": sample.enveloped,
        "key": message.key,
        "to": message.to.email,
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "templates": hosted(message),
        "attachments": [one.name for one in message.attachments],
    }
