"""The benchmark's side of its double: start it, change its latency, read what arrived."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def double() -> Iterator[str]:
    """Yield the base URL of a double in its own process; it ends with its stdin."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.double"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()


def restart(url: str, latency: float) -> None:
    """Have it forget everything, and answer after `latency` seconds from now on."""
    _ask(url, json.dumps({"latency": latency}).encode())


def accepted(url: str) -> tuple[int, int]:
    """Return how many mails it took, and how many different ones."""
    told = _ask(url)
    return told["accepted"], told["distinct"]


def arrivals(url: str) -> Mapping[str, float]:
    """Return the Unix time at which each mark arrived first."""
    times: Mapping[str, float] = _ask(url)["arrivals"]
    return times


def _ask(url: str, body: bytes | None = None) -> Any:
    with urllib.request.urlopen(f"{url}/control", body, timeout=10) as answer:
        return json.load(answer)
