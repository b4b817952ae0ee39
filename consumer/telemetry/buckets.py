"""Bounds of the histograms, in seconds or rows."""

from __future__ import annotations

from typing import Final

# From a quiet evening (milliseconds) to the far side of an outage (hours).
WAITS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200)
CALLS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 10, 20, 30, 60)
STATEMENTS: Final = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.25, 1, 4, 15)
ROWS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
STALLS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10)
