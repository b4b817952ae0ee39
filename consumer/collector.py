"""Python's search for cycles of garbage, set for a process that does one thing for weeks.

What the start made stays for good, and a mail leaves hardly a cycle behind. With the thresholds
that Python comes with, a fifth of the service's CPU went into looking through all of it again.
"""

from __future__ import annotations

import gc
from typing import Final

# New containers before the youngest are looked through, and rounds before the elder are: a few
# megabytes may lie about in between.
THRESHOLDS: Final = (20_000, 50, 50)


def settle() -> None:
    """Collect once, and never look at what is there now again. Called when the start is over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
