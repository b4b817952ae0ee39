"""What the service says about itself: log lines (`logs`) and numbers (`metrics`)."""

from consumer.telemetry.logs import Logs, configure_logging
from consumer.telemetry.metrics import Metrics

__all__ = ["Logs", "Metrics", "configure_logging"]
