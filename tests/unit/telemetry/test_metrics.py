"""Laws of the numbers: every answer has a class, names carry units, and a count is cheap."""

from __future__ import annotations

import time
import timeit
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics, generate_latest

from consumer.endings import Ended, LetGo
from consumer.model import Accepted, Answer, Outcome, OutcomeStatus, Record, Unclear
from consumer.providers.breaker import State
from consumer.telemetry import Metrics
from consumer.telemetry.labels import ANSWERS, BREAKERS, RESULTS
from consumer.telemetry.series import histograms, lag_of


def test_every_answer_has_a_name_of_its_own() -> None:
    assert set(ANSWERS) == set(get_args(Answer))
    assert set(BREAKERS) == set(State)
    assert len(set(ANSWERS.values())) == len(ANSWERS)


RECORD = Record("orders", 0, 7, timestamp=int(time.time() * 1000) + 60_000, key=None, value=b"")


def ended(result: str, status: OutcomeStatus, reason: str | None = None) -> Ended:
    outcome = Outcome(status, RECORD.coordinates, event_type="order.receipt", reason=reason)
    return Ended(outcome, result)


def test_what_was_counted_is_served() -> None:
    metrics = Metrics()
    metrics.record_ended(RECORD, ended("sent", OutcomeStatus.SENT))
    metrics.record_ended(RECORD, ended("dead_letter", OutcomeStatus.DEAD_LETTER, "conflict"))
    metrics.record_ended(RECORD, ended("unknown", OutcomeStatus.UNKNOWN, "reset"))
    metrics.record_ended(RECORD, ended("skipped", OutcomeStatus.SKIPPED, "too_old"))
    metrics.record_ended(RECORD, Ended(None, "parked"))
    metrics.record_ended(RECORD, LetGo())
    metrics.claim("granted")
    metrics.append_to_attempt("order.receipt", -3.0)
    metrics.attempt("postmark", Unclear("reset"), 0.2)
    metrics.breaker("postmark", None, State.OPEN)
    metrics.guard_batch("claim", 32, 0.004)
    metrics.doubles.inc()
    text = _text(metrics)
    for line in (
        'sendonce_records_total{result="sent",topic="orders"} 1.0',
        'sendonce_records_total{result="let_go",topic="orders"} 1.0',
        'sendonce_claims_total{result="granted"} 1.0',
        'sendonce_attempts_total{answer="unclear",provider="postmark"} 1.0',
        'sendonce_append_to_attempt_seconds_sum{mail_type="order.receipt"} 0.0',
        'sendonce_append_to_outcome_seconds_count{mail_type="order.receipt"} 1.0',
        'sendonce_dead_letters_total{reason="conflict",topic="orders"} 1.0',
        'sendonce_dead_letters_total{reason="unknown",topic="orders"} 1.0',
        'sendonce_dead_letters_total{reason="exhausted",topic="orders"} 1.0',
        'sendonce_skipped_total{rule="too_old",topic="orders"} 1.0',
        'sendonce_breaker_state{provider="postmark",sender=""} 2.0',
        'sendonce_guard_batch_rows_sum{statement="claim"} 32.0',
        "sendonce_doubles_total 1.0",
        "sendonce_fenced_writes_total 0.0",
    ):
        assert line in text


def test_what_may_come_stands_at_nought_before_it_comes() -> None:
    """A series that first appears at 1 shows no increase: the first event would alarm nobody."""
    metrics = Metrics()
    metrics.expect(topics=["orders"], providers=["postmark"], mail_types=["order.receipt"])
    before = _series(metrics)
    for result in {*RESULTS} - {"skipped"}:
        metrics.record_ended(RECORD, ended(result, OutcomeStatus.SENT, "conflict"))
    metrics.record_ended(RECORD, ended("skipped", OutcomeStatus.SKIPPED, "too_old"))
    metrics.claim("found")
    metrics.outcome(OutcomeStatus.SENT)
    metrics.append_to_attempt("order.receipt", 0.1)
    metrics.attempt("postmark", Unclear("reset"), 0.2)
    metrics.breaker("postmark", None, State.OPEN)
    assert _series(metrics) == before


def test_every_ending_of_a_record_is_a_known_result() -> None:
    """Whatever `endings` makes; a stored outcome is `duplicate` or `redelivery`."""
    statuses = set(OutcomeStatus) - _LATER
    assert {status.value for status in statuses} | {"duplicate", "redelivery", "parked"} | {
        LetGo().result
    } == set(RESULTS)


_LATER = {OutcomeStatus.BOUNCED, OutcomeStatus.COMPLAINED, OutcomeStatus.DISCARDED}


def test_a_counter_is_one_series() -> None:
    assert "_created" not in _text(Metrics())


def test_a_stored_outcome_is_no_new_dead_letter() -> None:
    metrics = Metrics()
    metrics.record_ended(RECORD, ended("redelivery", OutcomeStatus.UNKNOWN, "unknown"))
    assert "sendonce_dead_letters_total{" not in _text(metrics)


def test_a_partition_that_was_given_up_shows_no_lag_any_more() -> None:
    metrics, lag = Metrics(), {("orders", 0): 7, ("orders", 1): 0}
    metrics.watch(lag=lambda: lag, in_flight=lambda: 3, leases=lambda: 2, kafka_away=lambda: 7.5)
    assert 'sendonce_lag_records{partition="0",topic="orders"} 7.0' in _text(metrics)
    assert "sendonce_in_flight_records 3.0" in _text(metrics)
    assert "sendonce_kafka_unreachable_seconds 7.5" in _text(metrics)
    assert len(lag_of(lambda: lag).samples) == 2
    del lag["orders", 0]
    assert 'partition="0"' not in _text(metrics)


def test_dead_letters_that_were_settled_go_down_to_nought() -> None:
    metrics = Metrics()
    metrics.dead_letters_waiting({("open", "unknown"): 4})
    metrics.dead_letters_waiting({})
    assert 'sendonce_dead_letters_waiting{reason="unknown",status="open"} 0.0' in _text(metrics)


BOUNDS = (0.5, 1, 2.5)


@given(st.lists(st.floats(0, 4) | st.sampled_from(BOUNDS)))
def test_a_histogram_is_read_as_the_librarys_own(values: list[float]) -> None:
    disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    one = histograms(ours, "waits", "Waits.", BOUNDS, "of")["mail",]
    other = Histogram("sendonce_waits", "Waits.", ["of"], buckets=BOUNDS, registry=theirs)
    for value in values:
        one.observe(value)
        other.labels("mail").observe(value)
    other.labels("mail")
    assert generate_latest(ours) == generate_latest(theirs)


def test_two_services_in_one_process_count_apart() -> None:
    assert Metrics().registry is not Metrics().registry


def test_a_count_costs_microseconds() -> None:
    metrics, answer = Metrics(), Accepted("1")
    took = min(
        timeit.repeat(lambda: metrics.attempt("postmark", answer, 0.01), number=2000, repeat=5)
    )
    assert took / 2000 < 20e-6


def _text(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def _series(metrics: Metrics) -> set[str]:
    lines = _text(metrics).splitlines()
    return {line.rpartition(" ")[0] for line in lines if line.startswith("sendonce_")}
