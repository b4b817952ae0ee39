"""A key is the same wherever it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from consumer.keys import send_key


def test_keys_are_the_same_in_every_process() -> None:
    """Another process, another hash seed: the same keys, in the same order."""
    program = (
        "from consumer.keys import send_key\n"
        "print(*(send_key('t', ['shop', n], 'Ada@B\\u00fccher.example') for n in range(20)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    here = " ".join(send_key("t", ["shop", n], "Ada@B\u00fccher.example") for n in range(20))
    assert printed == {here + "\n"}
