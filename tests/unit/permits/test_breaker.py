"""The breakers: when mail stands still, who probes, and who is told."""

from __future__ import annotations

import pytest

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.breaker import CAP, FAILURES, FIRST, FIRST_BLOCKED, State
from consumer.providers.gate import Gate, Pass

ALIVE = [Accepted("id"), Refused("406"), Rejected("300")]
DOWN = [Transient("503"), Unclear("timeout")]
TOLD_NOTHING = [SlowDown("429"), TooLate(), TooLate(called_back=True)]
DARK = Blocked("401")
UNVERIFIED = Blocked("400", Scope.SENDER)


class Guarded:
    """A gate, its clock, and what it told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[tuple[str | None, State, str]] = []
        self.gate = Gate("postmark", lambda _, *change: self.told.append(change))

    def enter(self, sender: str = "shop") -> Pass:
        assert self.gate.admits(sender, self.now)
        return self.gate.let_in(sender)

    def answer(self, *answers: Answer, sender: str = "shop") -> None:
        for answer in answers:
            self.gate.hear(self.enter(sender), answer, self.now)

    def open_time(self, sender: str = "shop") -> float:
        return self.gate.ready_at(sender) - self.now

    def pass_open_time(self, sender: str = "shop") -> None:
        self.now = self.gate.ready_at(sender)


@pytest.fixture
def guarded() -> Guarded:
    return Guarded()


@pytest.mark.parametrize("down", DOWN)
def test_failures_in_a_row_open_it(guarded: Guarded, down: Answer) -> None:
    guarded.answer(*[down] * (FAILURES - 1))
    assert guarded.gate.admits("shop", 0)
    guarded.answer(down)
    assert guarded.open_time() == FIRST
    assert guarded.gate.state(0) is State.OPEN


@pytest.mark.parametrize("alive", ALIVE)
def test_any_sign_of_life_starts_the_count_again(guarded: Guarded, alive: Answer) -> None:
    for _ in range(10):
        guarded.answer(*[Transient("503")] * (FAILURES - 1), alive)
    assert guarded.gate.state(0) is State.CLOSED


@pytest.mark.parametrize("nothing", TOLD_NOTHING)
def test_what_tells_nothing_neither_counts_nor_resets(guarded: Guarded, nothing: Answer) -> None:
    guarded.answer(*[nothing] * 20)
    assert guarded.gate.state(0) is State.CLOSED
    guarded.answer(*[Transient("503"), nothing] * (FAILURES - 1), Transient("503"))
    assert guarded.gate.state(0) is State.OPEN


def test_blocked_opens_at_once_and_for_longer(guarded: Guarded) -> None:
    guarded.answer(DARK)
    assert guarded.open_time() == FIRST_BLOCKED > FIRST


def test_a_blocked_sender_holds_up_nobody_else(guarded: Guarded) -> None:
    guarded.answer(UNVERIFIED)
    assert not guarded.gate.admits("shop", 0)
    assert guarded.gate.admits("accounts", 0)
    assert guarded.gate.senders(0) == {"shop": State.OPEN}


def test_a_blocked_account_holds_up_everybody(guarded: Guarded) -> None:
    guarded.answer(DARK)
    assert not guarded.gate.admits("accounts", 0)


def test_half_open_lets_exactly_one_probe_through(guarded: Guarded) -> None:
    guarded.answer(DARK)
    guarded.pass_open_time()
    assert guarded.gate.state(guarded.now) is State.HALF_OPEN
    assert guarded.enter().probe
    assert not guarded.gate.admits("shop", guarded.now)
    assert not guarded.gate.admits("accounts", guarded.now + 3600)


@pytest.mark.parametrize("alive", ALIVE)
@pytest.mark.parametrize("cause", [DARK, UNVERIFIED])
def test_a_probe_that_shows_life_closes_it(guarded: Guarded, cause: Answer, alive: Answer) -> None:
    guarded.answer(cause)
    guarded.pass_open_time()
    guarded.answer(alive)
    assert not guarded.enter().probe
    assert set(guarded.gate.senders(guarded.now).values()) <= {State.CLOSED}


@pytest.mark.parametrize("nothing", TOLD_NOTHING)
@pytest.mark.parametrize("cause", [DARK, UNVERIFIED])
def test_a_probe_that_tells_nothing_leaves_it_free(
    guarded: Guarded, cause: Answer, nothing: Answer
) -> None:
    guarded.answer(cause)
    guarded.pass_open_time()
    guarded.answer(nothing)
    assert guarded.enter().probe


@pytest.mark.parametrize("down", [*DOWN, DARK, UNVERIFIED])
def test_a_failed_probe_of_a_sender_opens_it_again(guarded: Guarded, down: Answer) -> None:
    guarded.answer(UNVERIFIED)
    guarded.pass_open_time()
    guarded.answer(down)
    assert guarded.open_time() > 0


def test_open_time_doubles_up_to_the_cap_and_starts_anew_after_closing(guarded: Guarded) -> None:
    guarded.answer(*[Transient("503")] * FAILURES)
    times = []
    for _ in range(7):
        times.append(guarded.open_time())
        guarded.pass_open_time()
        guarded.answer(Transient("503"))
    assert times == [1, 2, 4, 8, 16, CAP, CAP]
    guarded.pass_open_time()
    guarded.answer(Accepted("id"), *[Transient("503")] * FAILURES)
    assert guarded.open_time() == FIRST


def test_one_failure_after_closing_does_not_open_it(guarded: Guarded) -> None:
    guarded.answer(*[Transient("503")] * FAILURES)
    guarded.pass_open_time()
    guarded.answer(Accepted("id"), Transient("503"))
    assert guarded.gate.state(guarded.now) is State.CLOSED


@pytest.mark.parametrize("late", [*ALIVE, *DOWN, DARK])
def test_what_was_under_way_when_it_opened_changes_nothing(guarded: Guarded, late: Answer) -> None:
    """A mail accepted before the account was blocked is no sign that it is not blocked now."""
    early = guarded.enter()
    guarded.answer(DARK)
    guarded.gate.hear(early, late, guarded.now)
    assert guarded.open_time() == FIRST_BLOCKED
    guarded.pass_open_time()
    probe = guarded.enter()
    guarded.gate.hear(early, late, guarded.now)
    assert not guarded.gate.admits("shop", guarded.now)
    guarded.gate.hear(probe, Accepted("id"), guarded.now)
    guarded.gate.hear(early, late, guarded.now)
    assert guarded.gate.state(guarded.now) is State.CLOSED


def test_a_late_word_about_a_sender_does_not_open_it_again(guarded: Guarded) -> None:
    early = guarded.enter()
    guarded.answer(UNVERIFIED)
    guarded.pass_open_time()
    guarded.answer(Accepted("id"))
    guarded.gate.hear(early, UNVERIFIED, guarded.now)
    assert guarded.gate.admits("shop", guarded.now)


def test_a_provider_that_blocks_a_sender_is_alive(guarded: Guarded) -> None:
    guarded.answer(*[Transient("503")] * FAILURES)
    guarded.pass_open_time()
    guarded.answer(UNVERIFIED)
    assert guarded.gate.state(guarded.now) is State.CLOSED
    assert not guarded.gate.admits("shop", guarded.now)


def test_an_outage_is_told_once_however_many_probes_it_takes(guarded: Guarded) -> None:
    guarded.answer(*[Transient("503")] * FAILURES)
    for _ in range(5):
        guarded.pass_open_time()
        guarded.answer(Unclear("timeout"))
    guarded.pass_open_time()
    guarded.answer(Accepted("id"), Accepted("id"))
    assert guarded.told == [(None, State.OPEN, "503"), (None, State.CLOSED, "")]


def test_another_reason_for_a_block_is_told(guarded: Guarded) -> None:
    guarded.answer(Blocked("401"))
    guarded.pass_open_time()
    guarded.answer(Blocked("405 no credit"))
    assert [error for _, _, error in guarded.told] == ["401", "405 no credit"]


def test_a_sender_is_told_by_its_name(guarded: Guarded) -> None:
    guarded.answer(UNVERIFIED)
    guarded.pass_open_time()
    guarded.answer(Accepted("id"))
    assert guarded.told == [("shop", State.OPEN, "400"), ("shop", State.CLOSED, "")]
