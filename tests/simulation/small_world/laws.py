"""What must hold: after every step, and at the ends. From the ledger and the tables only.

L1 every record ends in one visible state      L5 `sent` names a mail that exists
L2 no key accepted twice, unless it may be     L6 unknown ends settled or shown
L3 nothing is committed that is not finished   L7 attempts stay within the cap
L4 offsets only grow                           and nothing is stuck for ever
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumer.model import OnUnknown
from tests.simulation.small_world.parts import State

if TYPE_CHECKING:
    from tests.simulation.small_world.parts import Scenario, Stands, Tables

CLOSED = ("sent", "failed", "expired", "discarded")
VISIBLE = ("open", "parked")
SHOWN = ("rejected", "exhausted", "malformed", "conflict", "key_drift", "orphaned")


def broken(scenario: Scenario, before: State, state: State) -> str | None:
    """Name the law that this step broke."""
    sent = sum(state.accepted)
    allowed = scenario.cap if scenario.policy is OnUnknown.RESEND else 1
    if sent > allowed:
        return f"L2: accepted {sent} times, {allowed} allowed"
    if any(now < then for now, then in zip(state.committed, before.committed, strict=True)):
        return "L4: an offset went back"
    row = state.tables.row
    if row is None:
        return _committed(scenario, state)
    return _of_row(scenario, state, row) or _letters(state, row) or _committed(scenario, state)


def _of_row(scenario: Scenario, state: State, row: Stands) -> str | None:
    if row.status == "sent" and not _exists(scenario, state, row):
        return f"L5: the row names {row.message_id}, which nobody accepted"
    if row.attempts > scenario.cap:
        return f"L7: {row.attempts} attempts on the row"
    if state.counted > scenario.cap * (scenario.rounds + 1):
        return f"L7: {state.counted} requests that count"
    if row.status in ("failed", "waiting", "expired"):
        if sum(state.accepted):
            return f"certainly not sent ({row.status}), and a mail exists"
        if row.lease != 1 and any(one.slot is None for one in state.net):
            return f"certainly not sent ({row.status}), and its request is still under way"
    if row.status == "unknown" and not state.excuse:
        return "unknown, though no byte left and nobody died"
    if state.heard and row.status != "sent":
        return f"a webhook proved it, and the row is {row.status}"
    surely = scenario.counts and not any(provider.documents for provider in scenario.providers)
    if row.kind == "exhausted: " and surely and state.counted < scenario.cap:
        return f"exhausted after {state.counted} attempts"
    return None


def _exists(scenario: Scenario, state: State, row: Stands) -> bool:
    provider = scenario.providers[row.provider]
    ledger = state.accepted[row.provider]
    return row.message_id in {f"{provider.name}{n}" for n in range(1, ledger + 1)}


def _letters(state: State, row: Stands) -> str | None:
    """Each state that needs a dead letter has it, and a settled one has none left open."""
    own = [it for it in state.tables.letters if it.record == row.at or it.keyed]
    needs = row.status == "unknown" or (row.status == "failed" and row.kind is not None)
    if needs and not own:
        return f"L1: {row.status}, and no dead letter of it"
    if row.status == "sent" and any(
        letter.status in VISIBLE and letter.keyed and letter.reason not in SHOWN[3:]
        for letter in state.tables.letters
    ):
        return "L1: sent, and a dead letter of its key is open"
    return None


def _committed(scenario: Scenario, state: State) -> str | None:
    for n, place in enumerate(scenario.records):
        if place.offset < state.committed[place.partition] and not _finished(state, n):
            return f"L3: record {n} is committed, and is in no visible state"
    return None


def _finished(state: State, record: int) -> bool:
    row, letters = state.tables
    if any(letter.record == record for letter in letters):
        return True
    if any(told.startswith(f"{record} ") for told in state.told):
        return True
    return row is not None and row.status in CLOSED


# ── Ends


def is_end(scenario: Scenario, state: State) -> bool:
    """Everything is finished and told, or shown to a person."""
    idle = all(it.line is None and it.resolver is None for it in state.workers)
    return idle and not state.net and _all_committed(scenario, state) and _all_settled(state)


def _all_committed(scenario: Scenario, state: State) -> bool:
    return all(place.offset < state.committed[place.partition] for place in scenario.records)


def _all_settled(state: State) -> bool:
    row, letters = state.tables
    if any(letter.status == "parked" for letter in letters):
        return False
    if row is None:
        return True
    if row.status in CLOSED:
        # Skipped: too old when one worker looked, not yet when the other, slower one did.
        heard = f"{row.at} {row.status}", f"{row.at} skipped"
        return not row.due and (any(it in state.told for it in heard) or _is_shown(state.tables))
    return row.status == "unknown" and _is_shown(state.tables)


def _is_shown(tables: Tables) -> bool:
    assert tables.row is not None
    return any(
        letter.record == tables.row.at and letter.status == "open" for letter in tables.letters
    )
