"""The admin port: liveness, readiness, metrics, and the JSON API of pauses."""

from consumer.admin.health import Check, Health, Heartbeat
from consumer.admin.listener import CannotListenError, Listener
from consumer.admin.pauses import PauseDesk
from consumer.admin.server import AdminPages

__all__ = [
    "AdminPages",
    "CannotListenError",
    "Check",
    "Health",
    "Heartbeat",
    "Listener",
    "PauseDesk",
]
