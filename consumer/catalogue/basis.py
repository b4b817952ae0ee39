"""What a fingerprint depends on beside the event: two editions that agree in it can be compared.

A deploy that changes any of it gives the same event another fingerprint. Those of the two sides say
nothing about each other, or redelivered mail would turn into conflicts.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from consumer.catalogue.blocks import AttachmentRule, KeyRule
from consumer.catalogue.canonical import canonical
from consumer.catalogue.paths import MISSING, Path, Source
from consumer.model import Json

if TYPE_CHECKING:
    from consumer.catalogue.mailing import Rules

WAY: Final = 1  # raised when the service itself makes fingerprints in another way


def basis(rules: Rules) -> str:
    """Return a digest over key rules, context and whatever else a fingerprint is made of."""
    says = rules.declaration
    named: list[Json] = [
        WAY,
        rules.type.name,
        keyed_by(rules.fingerprint_key) if rules.fingerprint_key else None,
        [_rule(rule) for rule in says.key_rules],
        _text(says.time) if says.key else None,  # decides which of the rules an event is under
        {name: _source(source) for name, source in says.context.items()},
        _source(says.locale),
        _source(says.timezone),
        [_attachment(rule) for rule in says.attachments],
        _source(says.unsubscribe.url if says.unsubscribe else None),
    ]
    return hashlib.sha256(canonical(named)).hexdigest()


def keyed_by(key: bytes) -> str:
    """Tell one key of the configuration from another, without telling either."""
    return hmac.new(key, b"fingerprints", hashlib.sha256).hexdigest()


def _rule(rule: KeyRule) -> Json:
    entity = [path.text for path in rule.entity_id]
    since = rule.since.timestamp() if rule.since else None
    return [since, entity, rule.recipient.text, rule.version, rule.case_sensitive_entity]


def _source(source: Source | None) -> Json:
    if source is None:
        return None
    default = [] if source.default is MISSING else [source.default]
    return [_text(source.path), default, list(source.pick)]


def _attachment(rule: AttachmentRule) -> Json:
    return [rule.url.text, rule.sha256.text, rule.optional]


def _text(path: Path | None) -> str | None:
    return None if path is None else path.text
