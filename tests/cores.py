"""A plugin for tests of a millisecond (`-p tests.cores`): collected once, then run on every core.

Workers are forks of the process that has collected, so none of them imports and collects again,
which for the pure tests takes as long as running them. A worker takes the next file whenever it is
through with one, and its reports are told when all are through, as if one process had made them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO

import pytest

Files = list[list[pytest.Item]]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    if session.testsfailed or session.config.option.collectonly:
        return None  # nothing is to be run: pytest's own loop says so
    files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    queue = _queue(len(files))
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
    others = min(os.cpu_count() or 1, len(files)) - 1
    workers = [_forked(session, _taken(files, queue)) for _ in range(others)]
    try:
        _run(session, _taken(files, queue))
    finally:
        os.read(queue, 1 << 16)  # whoever stopped at a failure: nobody begins another file
        os.close(queue)
        died = [worker for worker in workers if _joined(session.config, *worker)]
    if died:
        pytest.exit("a worker died: what it had not told is not known", returncode=3)
    return True


def _queue(length: int) -> int:
    """Return a pipe that holds 0, 1, 2, ... in two bytes each; who reads one has it alone."""
    queue, end = os.pipe()
    os.write(end, b"".join(n.to_bytes(2) for n in range(length)))
    os.close(end)
    return queue


def _taken(files: Files, queue: int) -> Iterator[pytest.Item]:
    while number := os.read(queue, 2):
        yield from files[int.from_bytes(number)]


def _run(session: pytest.Session, items: Iterator[pytest.Item]) -> None:
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following


# ── A worker, and what it tells


class Teller:
    """Stands where the terminal was, and writes each report down."""

    def __init__(self, config: pytest.Config, reports: IO[bytes]) -> None:
        self._config = config
        self._reports = reports

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        data = hook.pytest_report_to_serializable(config=self._config, report=report)
        pickle.dump(data, self._reports)


def _forked(session: pytest.Session, items: Iterator[pytest.Item]) -> tuple[int, IO[bytes]]:
    reports = TemporaryFile()  # noqa: SIM115 - both sides hold it
    if process := os.fork():
        return process, reports
    status = 1
    try:
        _set_apart(session.config, reports)
        _run(session, items)
        status = 0
    except session.Failed:
        status = 0  # --maxfail: its reports say why
    finally:
        reports.flush()
        os._exit(status)


def _set_apart(config: pytest.Config, reports: IO[bytes]) -> None:
    """What tests print goes to files of the worker's own, and what it reports to `reports`."""
    plugins = config.pluginmanager
    capture = plugins.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()
    capture.start_global_capturing()
    plugins.unregister(name="terminalreporter")
    plugins.register(Teller(config, reports))


def _joined(config: pytest.Config, process: int, reports: IO[bytes]) -> int:
    """Wait for a worker, tell what it found, and return how it ended."""
    _, status = os.waitpid(process, 0)
    _tell(config, reports)
    return status


def _tell(config: pytest.Config, reports: IO[bytes]) -> None:
    with reports:
        for report in _read(config, reports):
            if report.when == "setup":
                config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            config.hook.pytest_runtest_logreport(report=report)


def _read(config: pytest.Config, reports: IO[bytes]) -> Iterator[pytest.TestReport]:
    reports.seek(0)
    with suppress(EOFError):
        while True:
            data = pickle.load(reports)
            yield config.hook.pytest_report_from_serializable(config=config, data=data)
