"""A mail type as a former edition of its folder had it, read back from the snapshot.

The bytes are the former folder's: mapping, words, layouts, sender. What is done with them (how old
they may get, through whom, what if nobody knows) is for today's folder to say, while there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from consumer.catalogue.checks import House
from consumer.catalogue.folder import Findings, Folder, folder_of, text_of
from consumer.catalogue.mailing import Rules, mail_for
from consumer.catalogue.press import Press
from consumer.catalogue.ruling import rules_of
from consumer.catalogue.snapshot import unpack
from consumer.catalogue.templates import templates_of
from consumer.model import Bad, Edition, Event, Mail, MailType, Message, Record

TEMPLATE: Final = ".j2"


@dataclass(frozen=True, slots=True)
class Former:
    rules: Rules
    press: Press

    def read(self, record: Record, event: Event) -> Mail | Bad:
        """Say what mail the event became then."""
        return mail_for(self.rules, record, event)

    def render(self, mail: Mail) -> Message | Bad:
        return self.press.render(self.rules, mail)


def former(edition: Edition, house: House, today: Mapping[str, MailType]) -> Former | None:
    """Make an edition's mails again. None: this release or its configuration cannot.

    That is so after a roll-back, of a folder with members that this release does not know.
    """
    try:
        files = unpack(edition.snapshot)
        sources = {n: text_of(text) for n, text in files.items() if n.endswith(TEMPLATE)}
    except ValueError:
        return None
    folder = _folder(edition.mail_type, files)
    if folder is None or folder.declaration.sender not in house.senders:
        return None
    rules = rules_of(folder, house, edition.digest)
    now = today.get(edition.mail_type)
    if now is not None:
        kind = replace(now, digest=edition.digest, sender=rules.type.sender)
        rules = replace(rules, type=kind)
    elif not set(rules.type.providers) <= set(house.providers):
        return None
    return Former(rules, Press(templates_of(sources)))


def _folder(name: str, files: Mapping[str, bytes]) -> Folder | None:
    """Read it as it was found good once: what a newer release would object to is no matter."""
    own = f"{name}/"
    inside = {n.removeprefix(own): content for n, content in files.items() if n.startswith(own)}
    return folder_of(name, inside, Findings())
