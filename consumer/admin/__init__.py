"""The admin port: liveness, readiness and metrics, for the cluster and for Prometheus."""

from consumer.admin.health import Check, Health, Heartbeat
from consumer.admin.server import AdminServer, CannotListenError

__all__ = ["AdminServer", "CannotListenError", "Check", "Health", "Heartbeat"]
