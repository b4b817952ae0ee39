"""From bytes to the message that may leave: all of the line that is pure.

    record ─▶ event ─▶ mail ─▶ (rules) ─▶ message

What needs a schema that is not known yet says so, and is read again by whoever can ask (`reading`).

Walked by the line when it sends, and by a forecast that says what the line would do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from consumer.events import Decoder
from consumer.model import Bad, Event, Reason, SkipRule

if TYPE_CHECKING:
    from consumer.catalogue import Catalogue, Former
    from consumer.model import Mail, Message, NeedsSchema, Record, Skipped
    from consumer.rules import Rules


@dataclass(frozen=True, slots=True)
class Making:
    catalogue: Catalogue
    rules: Rules
    decoder: Decoder = field(default_factory=Decoder)
    formers: dict[str, Former | None] = field(default_factory=dict)  # by digest, see `editions`

    def read(self, record: Record) -> Mail | Skipped | Bad | NeedsSchema:
        """Decode and map. A bug met on one record must not stop its neighbours."""
        try:
            event = self.decoder.decode(record)
            return self.catalogue.read(record, event) if isinstance(event, Event) else event
        except Exception as bug:  # noqa: BLE001 - any bug in pure code is this record's dead letter
            return Bad(Reason.INVALID, f"a defect of the service: {type(bug).__name__}")

    def read_as(self, former: Former, record: Record) -> Mail | Skipped | Bad | NeedsSchema:
        """Decode, and map as a former edition of the catalogue did."""
        try:
            event = self.decoder.decode(record)
            return former.read(record, event) if isinstance(event, Event) else event
        except Exception as bug:  # noqa: BLE001 - as in `read`
            return Bad(Reason.INVALID, f"a defect of the service: {type(bug).__name__}")

    def message(self, mail: Mail) -> Message | Bad:
        """Render, for whom the rules let it go to; the same bytes each time."""
        message = (self.formers.get(mail.type.digest) or self.catalogue).render(mail)
        return message if isinstance(message, Bad) else self.rules.addressed(message)

    def ready(self, mail: Mail, *, replay: bool, claimed: bool) -> Message | Bad | SkipRule:
        """Ask the rules, then render; a failing template is this record's own trouble."""
        rule = self.rules.holds_back(mail, replay=replay, claimed=claimed)
        return rule if rule is not None else self.message(mail)
