"""The section [kafka]."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from consumer.settings.values import (
    Duration,
    ExistingFile,
    Secret,
    Section,
    Servers,
    StartFrom,
    Text,
    Whole,
)


class Kafka(Section):
    """Where the events are, as whom we read them, and how much is in hand.

    `start_from` decides once, where the group has no offset yet; guessing it would lose or repeat
    a topic, so it has no default. OAUTHBEARER is Amazon MSK with IAM: it needs `sasl_region`, and
    takes its credentials from the usual AWS chain.
    """

    bootstrap_servers: Servers
    group_id: Text = "sendonce"
    start_from: StartFrom

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_username: Text | None = None
    sasl_password: Secret | None = None
    sasl_region: Text | None = None
    ssl_cafile: ExistingFile | None = None  # default: the system's authorities
    ssl_certfile: ExistingFile | None = None
    ssl_keyfile: ExistingFile | None = None

    session_timeout: Duration = 45.0
    # How long a revoke, or a stop, waits for what is in hand; the rebalance and request timeouts
    # follow from it, so that they are always in order.
    drain_timeout: Duration = 20.0
    commit_interval: Duration = 1.0
    # Records in hand, per worker: about as many as a provider gives permits (its concurrency + 64).
    # More of them only wait for one another (SENDONCE_KAFKA__MAX_IN_FLIGHT=512 make bench tells).
    max_in_flight: Annotated[Whole, Field(ge=1)] = 128

    @property
    def heartbeat_interval(self) -> float:
        """Seconds: a third of the session, at most 3."""
        return min(3.0, self.session_timeout / 3)

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL")

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")
