"""How a cluster is reached, which clocks govern a group, and the ways in which it says no."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SecurityProtocol: TypeAlias = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism: TypeAlias = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


class KafkaUnreachableError(Exception):
    """No broker answers. Waiting may help."""


class KafkaRefusedError(Exception):
    """The cluster answers, and says no: login, rights, topics. Waiting does not help."""


class TopicsMissingError(KafkaRefusedError):
    """Topics do not exist; nothing else is wrong."""

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = frozenset(topics)
        told = "; ".join(f"topic {topic} does not exist" for topic in topics)
        super().__init__(f"{told}: create {'it' if len(topics) == 1 else 'them'}")


class OffsetsLostError(Exception):
    """A partition's next offset is no longer (or not yet) in its log: a person must decide."""

    def __init__(self, topic: str, partition: int, position: int, first: int, end: int) -> None:
        self.missing = max(0, first - position)  # records that retention took before we read them
        super().__init__(
            f"{topic}/{partition}: offset {position} is out of range, the log holds "
            f"{first} to {end}; {self.missing} records were never read"
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the brokers are and how we show who we are.

    `sasl_password` is asked at each use, so a rotated secret is picked up without a restart.
    OAUTHBEARER means Amazon MSK's IAM: it needs `aws_region` and the extra `msk`.
    """

    bootstrap_servers: str  # "host:port", several separated by commas
    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: SaslMechanism = "PLAIN"
    sasl_username: str | None = None
    sasl_password: Callable[[], str] | None = field(default=None, repr=False)
    ssl_cafile: str | None = None  # default: the system's authorities
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    aws_region: str | None = None

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol in {"SSL", "SASL_SSL"}

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol in {"SASL_PLAINTEXT", "SASL_SSL"}

    def password(self) -> str | None:
        return None if self.sasl_password is None else self.sasl_password()

    def tls(self) -> ssl.SSLContext | None:
        """Return a context for a new client; raises OSError (unreadable or wrong file)."""
        if not self.uses_tls:
            return None
        context = ssl.create_default_context(cafile=self.ssl_cafile)
        if self.ssl_certfile is not None:
            context.load_cert_chain(self.ssl_certfile, self.ssl_keyfile)
        return context


COMMIT_DEADLINE = 5.0  # one commit, whatever the brokers do
LAST_WORDS = 2.0  # from the hard recall to the last commit of a drain
_SLACK = 8.0


@dataclass(frozen=True, slots=True)
class Timing:
    """The clocks of a group member, in seconds; what is derived keeps their order.

    Drain, last words and the last commit fit the rebalance timeout (else the broker evicts us in
    the middle of them); it fits the request timeout (a join may wait that long for its answer).
    """

    session: float = 30.0
    heartbeat: float = 3.0
    drain: float = 20.0  # for records in hand, when their partitions are taken
    metadata_age: float = 60.0  # new partitions are seen within it
    poll_interval: float = 300.0  # the client leaves the group by itself when not polled

    @property
    def rebalance(self) -> float:
        return self.drain + LAST_WORDS + COMMIT_DEADLINE + _SLACK

    @property
    def request(self) -> float:
        return self.rebalance + 10.0
