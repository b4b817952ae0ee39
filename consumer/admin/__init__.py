"""The admin port: liveness, readiness and metrics, for the cluster and for Prometheus."""

from consumer.admin.health import Check, Health, Heartbeat
from consumer.admin.listener import CannotListenError, Listener
from consumer.admin.server import AdminPages

__all__ = ["AdminPages", "CannotListenError", "Check", "Health", "Heartbeat", "Listener"]
