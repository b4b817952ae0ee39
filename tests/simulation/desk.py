"""A person at the dead letters: replays, discards, and asks for one more mail.

What is done was decided on what was read some time before: the rows may have moved on meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from consumer.guard.letters import LetterStatus
from consumer.guard.operators import Turn
from consumer.guard.resends import Resend, Resent
from consumer.making import Making
from consumer.resending import Proposal, propose
from consumer.rules import Rules
from tests.simulation.catalogue import Deploy
from tests.simulation.loop import START

if TYPE_CHECKING:
    from consumer.guard import DeadLetter
    from consumer.model import Record
    from tests.simulation.world import World


class Desk:
    def __init__(self, world: World) -> None:
        self._world, self._random = world, world.random
        self._clicks = 0

    def act(self) -> None:
        self._random.choice((self._replay, self._replay, self._discard, self._resend))()

    def _hesitate(self) -> float:
        return self._random.choice((0.0, 0.1, 5.0, 30.0)) * self._random.random()

    # ── Replay

    def _replay(self) -> None:
        world = self._world
        letters = filter(self._likes, world.database.store.letters())
        chosen = [letter.read(whole=True) for letter in letters]
        world.loop.later(self._hesitate(), self._make_due, chosen)

    def _likes(self, letter: object) -> bool:
        return letter.status is not LetterStatus.SETTLED and self._random.random() < 0.7  # type: ignore[attr-defined] # a StoredLetter

    def _make_due(self, chosen: list[DeadLetter]) -> None:
        turns = [Turn(letter, n * 0.1) for n, letter in enumerate(chosen)]
        self._clicks += 1
        note = f"ada: replayed, {self._clicks}"
        done = self._world.database.write(lambda store: store.make_due(turns, note))
        self._world.replayed |= {letter.idempotency_key for letter in chosen}
        records = [letter.record for letter in chosen if letter.record is not None]
        self._world.replayed |= set(map(self._world.key_of, records))
        self._world.tell("operator", "replays", done)

    # ── Discard

    def _discard(self) -> None:
        letters = self._world.database.store.letters()
        if letters:
            chosen = self._random.choice(letters)
            self._world.loop.later(self._hesitate(), self._give_up, chosen.id)

    def _give_up(self, letter_id: int) -> None:
        self._clicks += 1
        note = f"ada: given up, {self._clicks}"
        done = self._world.database.write(lambda store: store.discard_letter(letter_id, note))
        self._world.tell("operator", "discards", letter_id, done)

    # ── Resend

    def _resend(self) -> None:
        world = self._world
        rows = world.database.store.rows()
        if not rows:
            return
        row = self._random.choice(rows).read(world.loop.now)
        record = self._record_of(row.coordinates)
        if record is None:
            return
        catalogue: Deploy = world.deploy
        proposal = propose(Making(catalogue, _RULES), row, record)  # type: ignore[arg-type] # small
        if isinstance(proposal, Proposal):
            for click in range(self._random.choice((1, 1, 2))):
                world.loop.later(self._hesitate(), self._send_again, proposal, click)

    def _record_of(self, at: object) -> Record | None:
        for log in self._world.broker.logs.values():
            for record in log.records:
                if record.coordinates == at and record.offset >= log.gone:
                    return record
        return None

    def _send_again(self, proposal: Proposal, click: int) -> None:
        self._clicks += 1
        token = f"ada-{self._clicks}"
        wish = Resend(proposal.row, proposal.mail, proposal.record, "ada: once more", token)
        done = self._world.database.write(lambda store: store.resend(wish))
        self._world.tell("operator", "resends", proposal.row.key, done)
        if isinstance(done, Resent):
            self._world.asked_for.add(done.key)


_RULES = Rules(now=lambda: datetime.fromtimestamp(START, UTC))  # a person's wish has no age
