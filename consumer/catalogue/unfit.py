"""How one event ends that no mail can come of."""

from __future__ import annotations

from consumer.catalogue.paths import MISSING, Path
from consumer.model import Event, Json, Reason


class UnfitError(Exception):
    """No mail can come of the event. `detail` holds no value from it."""

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail


def demanded(path: Path, event: Event) -> Json:
    """Return what lies at a path that must lead somewhere."""
    found = path.read(event)
    if found is MISSING:
        raise UnfitError(Reason.INVALID, f"{path.pointer}: is absent")
    return found
