"""The real parts, started once a session, and the rule about skips.

A part that this machine cannot bring skips the tests that need it, by name and with the reason;
under SENDONCE_TEST_STRICT=1 (as CI runs) such a test has failed.
"""

from __future__ import annotations

import gc
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

import hypothesis
import pytest

from tests.parts.postgres import NoPostgresError, Postgres, start_postgres

if TYPE_CHECKING:
    from tests.parts.kafka import Kafka

# `make test-fast` looks at fewer examples; `make test` at as many as the tests ask for.
hypothesis.settings.register_profile("fast", max_examples=8, database=None, deadline=None)

STRICT = os.environ.get("SENDONCE_TEST_STRICT") == "1"
NO_HISTORY = "no git history"  # a shallow clone cannot be mended by installing something

SLOW = ("tests/whole/", "tests/chaos/", "tests/simulation/")

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def pytest_configure() -> None:
    """Whoever started parts ends them; also where the shell that started us ignores Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Yield one server for the whole session. A test that breaks a server starts its own."""
    try:
        with start_postgres(fsync=False) as running:
            yield running
    except NoPostgresError as reason:
        pytest.skip(f"no Postgres: {reason}")


@pytest.fixture
async def database(postgres: Postgres) -> AsyncIterator[str]:
    """Yield the DSN of a migrated database of this test's own."""
    dsn = await postgres.database(_migrated)
    yield dsn
    await postgres.drop(dsn)


async def _migrated(dsn: str) -> None:
    from consumer import guard  # noqa: PLC0415 - pure tests need no database driver

    await guard.migrate(dsn, environment="test")


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """Yield one broker for the whole session. A test that breaks a broker starts its own."""
    from tests.parts.kafka import NoKafkaError, start_kafka  # noqa: PLC0415 - pure tests need none

    try:
        with start_kafka() as running:
            yield running
    except NoKafkaError as reason:
        pytest.skip(f"no Kafka: {reason}")


@pytest.fixture
def unique() -> Callable[[str], str]:
    """Return a maker of names (topics, groups) that no other test of this broker has."""
    return lambda stem: f"{stem}.{secrets.token_hex(4)}"


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pytest_collection() -> None:
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones first: side by side, nobody waits for a slow one at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(SLOW))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the collector need not look through it each time."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Whatever is left has been looked through once more by pytest, and may go with the process."""
    gc.freeze()


# ── Skips: never silent, and under STRICT never green


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _strictly((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _strictly((yield))


def _strictly(report: Report) -> Report:
    _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
    expected = hasattr(report, "wasxfail") or NO_HISTORY in reason
    if STRICT and report.skipped and not expected:
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: {reason} (nothing may be skipped here)"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.stats.keys() & {"skipped", "failed", "error"}:
        terminalreporter.write_line("Nothing was skipped.")
