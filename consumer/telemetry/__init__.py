"""What the service says about itself: log lines (`logs`) and numbers (`metrics`)."""

from consumer.telemetry.logs import Logs, configure_logging
from consumer.telemetry.metrics import BreakerState, Metrics

__all__ = ["BreakerState", "Logs", "Metrics", "configure_logging"]
