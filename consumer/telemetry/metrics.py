"""The numbers of one process, for Prometheus. What each means: deploy/README.md.

Children (one time series each) are made once and kept in dictionaries: a count on the straight line
is a look-up and an addition, less than a microsecond. Labels hold names from the configuration and
the catalogue and members of closed sets only; never a key, an address or a value from an event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import assert_never

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

from consumer import __version__
from consumer.endings import Ended, Ending, LetGo
from consumer.model import Answer, Outcome, OutcomeStatus, Reason, Record, SkipRule
from consumer.providers.breaker import State
from consumer.telemetry.buckets import CALLS, ROWS, STALLS, STATEMENTS, WAITS
from consumer.telemetry.fuses import BlownNow
from consumer.telemetry.labels import ANSWERS, BREAKERS, RESULTS
from consumer.telemetry.logs import dropped_lines
from consumer.telemetry.pauses import PausedNow
from consumer.telemetry.series import (
    Lag,
    Reading,
    counter,
    counters,
    gauges,
    histograms,
    lag_of,
)
from consumer.telemetry.webhooks import WebhookCounts


class Metrics:
    """One registry, and a method for each thing worth counting."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Gauge(
            "sendonce_build_info", "1; the version is the label.", ["version"], registry=registry
        ).labels(__version__).set(1)

        self._count_things(registry)
        self._time_things(registry)
        self._show_things(registry)

    def _count_things(self, registry: CollectorRegistry) -> None:
        self._records = counters(
            registry, "records", "Records finished, by what became of them.", "topic", "result"
        )
        self._claims = counters(registry, "claims", "What a claim or a look came to.", "result")
        self._attempts = counters(
            registry, "attempts", "Requests to providers, by class of answer.", "provider", "answer"
        )
        self._dead_letters = counters(
            registry, "dead_letters", "Dead letters written.", "topic", "reason"
        )
        self._skipped = counters(
            registry, "skipped", "Records that a written rule skipped.", "topic", "rule"
        )
        self._outcomes = counters(registry, "outcomes", "Outcome records published.", "status")
        self.webhooks = WebhookCounts(registry)
        self.paused = PausedNow(registry)
        self.blown = BlownNow(registry)
        self.doubles = counter(registry, "doubles", "Second acceptances seen for one key.")
        self.fenced = counter(registry, "fenced_writes", "Writes that a later epoch kept out.")
        text = "Duplicates whose contexts say nothing about each other: a deploy lies between."
        self.incomparable = counter(registry, "fingerprint_incomparable", text)

    def _time_things(self, registry: CollectorRegistry) -> None:
        self._to_attempt = histograms(
            registry,
            "append_to_attempt_seconds",
            "From the record's timestamp to its first request.",
            WAITS,
            "mail_type",
        )
        self._to_outcome = histograms(
            registry,
            "append_to_outcome_seconds",
            "From the record's timestamp to its recorded outcome.",
            WAITS,
            "mail_type",
        )
        self._durations = histograms(
            registry, "attempt_duration_seconds", "One request to a provider.", CALLS, "provider"
        )
        self._batch_rows = histograms(
            registry, "guard_batch_rows", "Rows in one guard statement.", ROWS, "statement"
        )
        self._batch_seconds = histograms(
            registry, "guard_statement_seconds", "One guard statement.", STATEMENTS, "statement"
        )
        self._loop_lag = Histogram(
            "sendonce_loop_lag_seconds",
            "How late the event loop's own timer was.",
            buckets=STALLS,
            registry=registry,
        )

    def _show_things(self, registry: CollectorRegistry) -> None:
        self._breakers = gauges(
            registry,
            "breaker_state",
            "0 closed, 1 half-open, 2 open; sender empty: the whole provider.",
            "provider",
            "sender",
        )
        self._waiting = gauges(
            registry,
            "dead_letters_waiting",
            "Dead letters in the table that are open or parked.",
            "status",
            "reason",
        )
        self._in_flight = Gauge("sendonce_in_flight_records", "Records in hand.", registry=registry)
        self._leases = Gauge("sendonce_leases_held", "Leases held.", registry=registry)
        self._kafka_away = Gauge(
            "sendonce_kafka_unreachable_seconds",
            "For how long no broker has answered; 0: they do.",
            registry=registry,
        )
        self._registry_away = Gauge(
            "sendonce_registry_unreachable_seconds",
            "For how long the schema registry has not answered; 0: it does, or was not asked.",
            registry=registry,
        )
        lost = Gauge(
            "sendonce_log_lines_dropped", "Log lines nobody read in time.", registry=registry
        )
        lost.set_function(dropped_lines)

    def expect(
        self, *, topics: Iterable[str], providers: Iterable[str], mail_types: Iterable[str]
    ) -> None:
        """Show every series that may come at 0, before anything is counted.

        A series that first appears at 1 never rose, as far as `increase()` can tell: without this,
        the first dead letter after a start would alarm nobody.
        """
        topics, providers = tuple(topics), tuple(providers)
        self._records.expect(product(topics, RESULTS))
        self._dead_letters.expect(product(topics, Reason))
        self._skipped.expect(product(topics, SkipRule))
        self._claims.expect(product(("granted", "found")))
        self._outcomes.expect(product(OutcomeStatus))
        self._attempts.expect(product(providers, ANSWERS.values()))
        self._durations.expect(product(providers))
        self._breakers.expect((provider, "") for provider in providers)
        for waits in (self._to_attempt, self._to_outcome):
            waits.expect(product(mail_types))

    # ── The straight line

    def record_ended(self, record: Record, ending: Ending) -> None:
        """Count one finished record: by its result, its reason, and how long upstream waited."""
        match ending:
            case LetGo():
                self._records[record.topic, "let_go"].inc()
            case Ended(outcome, result):
                self._records[record.topic, result].inc()
                self._count_why(record, result, outcome)
            case _:
                assert_never(ending)

    def _count_why(self, record: Record, result: str, outcome: Outcome | None) -> None:
        reason = (outcome and outcome.reason) or ""
        match result:
            case "sent" if outcome is not None:
                self._to_outcome[(outcome.event_type or "",)].observe(_age(record))
            case "dead_letter":
                self._dead_letters[record.topic, reason].inc()
            case "unknown":
                self._dead_letters[record.topic, Reason.UNKNOWN.value].inc()
            case "parked":
                self._dead_letters[record.topic, Reason.EXHAUSTED.value].inc()
            case "skipped":
                self._skipped[record.topic, reason].inc()
            case _:
                pass  # a stored outcome: counted when it was new

    def claim(self, result: str) -> None:
        self._claims[(result,)].inc()

    def append_to_attempt(self, mail_type: str, seconds: float) -> None:
        self._to_attempt[(mail_type,)].observe(max(seconds, 0.0))

    def attempt(self, provider: str, answer: Answer, seconds: float) -> None:
        self._attempts[provider, ANSWERS[type(answer)]].inc()
        self._durations[(provider,)].observe(seconds)

    def outcome(self, status: OutcomeStatus) -> None:
        """Count an outcome record that the broker has acknowledged."""
        self._outcomes[(status.value,)].inc()

    # ── The parts

    def guard_batch(self, statement: str, rows: int, seconds: float) -> None:
        self._batch_rows[(statement,)].observe(rows)
        self._batch_seconds[(statement,)].observe(seconds)

    def breaker(self, provider: str, sender: str | None, state: State) -> None:
        """`sender` None: the breaker of the provider as a whole."""
        self._breakers[provider, sender or ""].set(BREAKERS[state])

    def loop_lag(self, seconds: float) -> None:
        self._loop_lag.observe(max(seconds, 0.0))

    def dead_letters_waiting(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Replace the last figures by the table's own count, by (status, reason)."""
        for child in self._waiting.values():
            child.set(0)
        for labels, count in counts.items():
            self._waiting[labels].set(count)

    # ── Read when Prometheus asks

    def watch(
        self,
        *,
        lag: Callable[[], Lag],
        in_flight: Callable[[], float],
        leases: Callable[[], float],
        kafka_away: Callable[[], float],
    ) -> None:
        self.registry.register(Reading(lambda: lag_of(lag)))
        self._in_flight.set_function(in_flight)
        self._leases.set_function(leases)
        self._kafka_away.set_function(kafka_away)

    def watch_registry(self, away: Callable[[], float]) -> None:
        self._registry_away.set_function(away)


def _age(record: Record) -> float:
    """Seconds since the record was appended; not below 0, whatever the producer's clock says."""
    return max(time.time() - record.timestamp / 1000, 0.0)
