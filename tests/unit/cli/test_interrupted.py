"""Laws of Ctrl-C: a command that is interrupted ends with 130, and shows nobody a traceback."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consumer.cli.codes import STOPPED
from consumer.guard.imports import Past, Stands
from tests.unit.cli.conftest import Sendonce

ROOT = Path(__file__).parents[3]
SLOW = """
import time
print("importing", flush=True)
for _ in range(600):  # a signal that comes just before a sleep begins is heard only when it ends
    time.sleep(0.1)
"""
# A shell that started the tests in its background has it ignored, and so has every child.
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
STARTS = {
    "python -m consumer": "import runpy; runpy.run_module('consumer', run_name='__main__')",
    "sendonce": "from consumer.cli import main; main()",
}


@pytest.mark.parametrize("start", STARTS)
def test_while_it_is_still_being_imported(tmp_path: Path, start: str) -> None:
    """Imports take a second in which a person may change their mind."""
    (tmp_path / "typer.py").write_text(SLOW)
    with subprocess.Popen(
        [sys.executable, "-c", HEARD + STARTS[start], "--help"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"importing\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, b"", b"")


class Desk:
    """Takes the first batch; Ctrl-C comes while it is at the second."""

    def __init__(self) -> None:
        self.batches: list[Sequence[Past]] = []

    async def bring_in(self, batch: Sequence[Past], _token: str) -> dict[str, Stands]:
        self.batches.append(batch)
        if len(self.batches) > 1:
            raise KeyboardInterrupt
        return {}


@pytest.mark.parametrize("as_json", [False, True])
def test_an_import_says_what_is_in_and_that_it_may_run_again(
    configured: Path, sendonce: Sendonce, monkeypatch: pytest.MonkeyPatch, *, as_json: bool
) -> None:
    """Law: a person who stopped it knows where it stands, and that starting anew does no harm."""
    monkeypatch.setattr("consumer.cli.imports._BATCH", 2)
    monkeypatch.setattr(
        "consumer.cli.imports.at_desk", lambda _config, work, **_: asyncio.run(work(Desk()))
    )
    now = datetime.now(UTC).isoformat()
    lines = [f"order.receipt,A-{number},ada@example.org,{now},id-{number}" for number in range(6)]
    head = "mail_type,entity,recipient,time,provider_id"
    (configured / "sent.csv").write_text("\n".join([head, *lines]))
    result = sendonce("import", "sent.csv", *(["--json"] if as_json else []))
    assert result.exit_code == STOPPED
    assert "at least 2 mails are in by this run; run it again" in result.stderr
    if as_json:
        told = json.loads(result.stdout)
        assert (told["interrupted"], told["new"]) == (True, 2)
