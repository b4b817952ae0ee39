"""What each transition does to each row: fences, doubt, and what is written already."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.guard.transitions import Decision, Double, Foreign, Stands, Write, decide, proven
from consumer.model import (
    FIRST_LOOK,
    Evidence,
    Lease,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Row,
    Status,
    Transition,
)
from tests.unit.guard.test_verdict import row

LEASE = Lease("k", 1, "t", 0.0)
SENT = MarkSent("file", "id-1")
CERTAIN: tuple[Transition, ...] = (
    MarkFailed("no"), MarkFailed("no", Reason.REJECTED), MarkWaiting("503"),
    MarkWaiting("429", give_back=True), MarkWaiting("stop", release=True),
    MarkParked("503", 300.0), MarkExpired("too old"),
)  # fmt: skip
UNKNOWN = MarkUnknown("reset", "file")
sent_row = replace(row(Status.SENT), provider_message_id="id-1")


def written(decision: Decision) -> Write:
    assert isinstance(decision, Write), decision
    return decision


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.SENT])
def test_proof_of_acceptance_is_taken_in_every_state_and_from_every_epoch(status: Status) -> None:
    late = Lease("k", 0, "somebody", 0.0)
    write = written(decide(row(status), late, SENT))
    assert (write.status, write.provider_message_id) == (Status.SENT, "id-1")
    assert write.by is Evidence.LATE
    assert write.due is (status is not Status.SENDING), "its own flight still tells"


def test_the_same_proof_again_stands_and_another_one_is_a_double() -> None:
    assert decide(sent_row, LEASE, SENT) == Stands(None)
    assert decide(sent_row, LEASE, MarkSent("file", "id-2")) == Double(sent_row)
    assert decide(sent_row, LEASE, MarkSent("other", "id-1")) == Double(sent_row)


@pytest.mark.parametrize("transition", [*CERTAIN, UNKNOWN])
@pytest.mark.parametrize(
    "other", [Lease("k", 2, "t", 0.0), Lease("k", 1, "x", 0.0), Lease("k", 1, "t", 0.0, attempts=2)]
)
def test_another_epoch_flight_or_attempt_writes_nothing(
    transition: Transition, other: Lease
) -> None:
    sending = row(Status.SENDING)
    assert decide(sending, other, transition) == Foreign(sending)


@pytest.mark.parametrize("transition", [*CERTAIN, UNKNOWN, SENT])
def test_no_row_no_write(transition: Transition) -> None:
    assert decide(None, LEASE, transition) == Foreign(None)


@pytest.mark.parametrize("transition", CERTAIN)
def test_in_doubt_no_answer_makes_the_row_certain_again(transition: Transition) -> None:
    doubtful = replace(row(Status.SENDING), in_doubt=True)
    write = written(decide(doubtful, LEASE, transition))
    assert write.status is Status.UNKNOWN
    assert write.letter is not None
    assert (write.letter.reason, write.letter.check_in) == (Reason.UNKNOWN, FIRST_LOOK)


@pytest.mark.parametrize("in_doubt", [False, True])
@pytest.mark.parametrize(
    "back", [MarkUnknown("429", "file", 600.0, give_back=True), MarkWaiting("429", give_back=True)]
)
def test_an_attempt_is_given_back_in_doubt_as_well(
    back: MarkUnknown | MarkWaiting, *, in_doubt: bool
) -> None:
    """GUARD 29: nothing is used up by an outage, also while an earlier attempt is in doubt."""
    sending = replace(row(Status.SENDING, attempts=3), in_doubt=in_doubt)
    lease = replace(LEASE, attempts=3)
    assert written(decide(sending, lease, back)).attempts == 2
    unknown = replace(row(Status.UNKNOWN, attempts=2))
    if isinstance(back, MarkUnknown):
        assert written(decide(unknown, lease, back)).attempts == 2, "once"


def test_the_look_that_was_asked_for_is_the_letters_date() -> None:
    write = written(decide(row(Status.SENDING), LEASE, MarkUnknown("reset", "file", 600.0)))
    assert write.letter is not None
    assert write.letter.check_in == 600.0


def test_the_cap_used_up_in_doubt_is_unknown_and_not_exhausted() -> None:
    """GUARD 34: exhausted would say "certainly not sent", and let another record send it."""
    doubtful = replace(row(Status.SENDING, attempts=4), in_doubt=True)
    lease = replace(LEASE, attempts=4)
    write = written(decide(doubtful, lease, MarkFailed("503", Reason.EXHAUSTED)))
    assert write.status is Status.UNKNOWN
    assert write.letter is not None
    assert write.letter.reason is Reason.UNKNOWN


def test_in_doubt_stays_the_provider_that_was_first_in_doubt() -> None:
    doubtful = replace(row(Status.SENDING), in_doubt=True, doubt_provider="first")
    assert written(decide(doubtful, LEASE, MarkWaiting("503"))).doubts == "first"


@pytest.mark.parametrize("transition", [*CERTAIN, UNKNOWN])
def test_after_a_webhook_was_faster_only_the_same_proof_stands(transition: Transition) -> None:
    """The provider's event comes before our own write: whatever else we write is fenced."""
    assert decide(sent_row, LEASE, transition) == Foreign(sent_row)
    assert decide(sent_row, LEASE, SENT) == Stands(None)


@given(st.sampled_from(Status), st.integers(0, 3), st.sampled_from([None, *Evidence]))
def test_proof_settles_every_row_and_names_its_evidence(
    status: Status, round_: int, by: Evidence | None
) -> None:
    found = replace(row(status), round=round_, provider_message_id="id-0")
    decision = proven(found, MarkSent("file", "id-1", by))
    if status is Status.SENT:
        assert decision == Double(found)
    else:
        assert written(decision).by == (by or Evidence.LATE)
        assert written(decision).due is (status is not Status.SENDING or round_ > 0)


def test_giving_back_counts_once() -> None:
    back = MarkWaiting("429", give_back=True)
    assert written(decide(row(Status.SENDING), LEASE, back)).attempts == 0
    waiting = row(Status.WAITING, attempts=0)
    assert written(decide(waiting, LEASE, back)).attempts == 0


def test_a_waiting_flight_can_be_released_parked_failed_and_expired() -> None:
    waiting = row(Status.WAITING)
    targets = [written(decide(waiting, LEASE, transition)).status for transition in CERTAIN]
    assert Status.UNKNOWN not in targets


def test_releasing_ends_the_lease_and_waiting_keeps_it() -> None:
    assert written(decide(row(Status.SENDING), LEASE, MarkWaiting("503"))).keeps_lease
    released = decide(row(Status.SENDING), LEASE, MarkWaiting("stop", release=True))
    assert not written(released).keeps_lease


def test_unknown_already_still_gives_this_record_its_letter() -> None:
    """Another worker gave the row up under its own record; ours has to be visible as well."""
    write = written(decide(row(Status.UNKNOWN), LEASE, UNKNOWN))
    assert write.letter is not None


@given(
    status=st.sampled_from(Status),
    in_doubt=st.booleans(),
    transition=st.sampled_from([*CERTAIN, UNKNOWN, SENT]),
    lease=st.builds(
        Lease, st.just("k"), st.integers(1, 2), st.sampled_from("tx"), st.just(0.0),
        st.integers(1, 2),
    ),
)  # fmt: skip
def test_closed_rows_are_only_opened_by_proof(
    *, status: Status, in_doubt: bool, transition: Transition, lease: Lease
) -> None:
    found: Row = replace(row(status), in_doubt=in_doubt, provider_message_id="id-0")
    decision = decide(found, lease, transition)
    closed = status in {Status.SENT, Status.DISCARDED, Status.EXPIRED, Status.FAILED}
    if closed and isinstance(decision, Write):
        assert isinstance(transition, MarkSent)
    if isinstance(decision, Write) and in_doubt and not isinstance(transition, MarkSent):
        assert decision.status is Status.UNKNOWN
