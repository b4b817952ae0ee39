"""Laws of Ctrl-C: a command that is interrupted ends with 130, and shows nobody a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SLOW = """
import time
print("importing", flush=True)
time.sleep(60)
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
