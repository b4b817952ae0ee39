"""What a folder decides, ready to be applied; and its edition, for those who come later."""

from __future__ import annotations

from collections.abc import Mapping

from consumer.catalogue.basis import basis, keyed_by
from consumer.catalogue.checks import House, reply_address
from consumer.catalogue.folder import LAYOUTS, Folder, digest
from consumer.catalogue.mailing import Rules
from consumer.catalogue.snapshot import pack
from consumer.model import Address, Edition, MailType


def rules_of(folder: Folder, house: House, named: str) -> Rules:
    """`named`: the digest of the folder and of all that it draws in."""
    says = folder.declaration
    reply_to = reply_address(folder, house)
    kind = MailType(
        name=folder.name,
        topic=says.topic,
        providers=tuple(says.providers or house.providers),
        sender=says.sender,
        max_age=says.max_age,
        priority=says.priority,
        on_unknown=says.on_unknown,
        digest=named,
        sensitive=_entity_is_sensitive(folder),
        private=bool(says.sensitive),
    )
    return Rules(
        type=kind,
        declaration=says,
        schemas=folder.schemas,
        sender=house.senders.get(says.sender, Address("")),
        reply_to=reply_to if isinstance(reply_to, Address) else None,
        fingerprint_key=house.fingerprint_key if says.sensitive else None,
    )


def digest_of(
    folder: Folder, sources: Mapping[str, str], used: frozenset[str], key: bytes | None
) -> str:
    """Return the digest of an edition: of the folder's files, and of those that it draws in.

    `key`: of its fingerprints, where it has sensitive paths. Another key makes another edition, or
    the change would turn every duplicate into a conflict.
    """
    keyed = (
        {"/fingerprint key": keyed_by(key).encode()} if key and folder.declaration.sensitive else {}
    )
    return digest(folder.name, {**folder.files, **_elsewhere(folder, sources, used), **keyed})


def edition_of(
    folder: Folder, rules: Rules, sources: Mapping[str, str], used: frozenset[str]
) -> Edition:
    """Return what has to be kept, to make the same bytes again. Examples are not part of it."""
    files = {
        f"{folder.name}/{name}": content
        for name, content in folder.files.items()
        if not name.startswith("examples/")
    }
    drawn = {
        name: source.encode()
        for name, source in sources.items()
        if name in used or name.startswith(f"{LAYOUTS}/")
    }
    return Edition(rules.type.digest, folder.name, basis(rules), pack({**drawn, **files}))


def _elsewhere(
    folder: Folder, sources: Mapping[str, str], used: frozenset[str]
) -> dict[str, bytes]:
    """Names outside the folder begin with a slash, so that they are none inside it."""
    own = f"{folder.name}/"
    return {f"/{name}": sources[name].encode() for name in used if not name.startswith(own)}


def _entity_is_sensitive(folder: Folder) -> bool:
    secret = [path.steps for path in folder.declaration.sensitive]
    rules = folder.declaration.key_rules
    entity = [path.steps for rule in rules for path in rule.entity_id]
    return any(e[: len(s)] == s for e in entity for s in secret)
