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


def _none() -> None:
    return None


class Tls:
    """Trust and our own certificate, for every connection of this process.

    One context, which the clients keep: what is loaded into it counts from the next handshake on.
    """

    def __init__(
        self,
        cafile: str | None = None,  # default: the system's authorities
        certfile: str | None = None,
        keyfile: str | None = None,
    ) -> None:
        self.files = tuple(filter(None, (cafile, certfile, keyfile)))
        self._cafile, self._certfile, self._keyfile = cafile, certfile, keyfile
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the context; raises OSError (a file that is unreadable, or wrong)."""
        if self._context is None:
            self._context = self._new()
        return self._context

    def renew(self) -> None:
        """Load the files again. Raises OSError, and then nothing has changed.

        An authority that is gone from its file stays trusted until a restart.
        """
        if self._context is None:
            return
        self._new()  # a certificate and a key that do not go together would break the one in use
        if self._cafile is not None:
            self._context.load_verify_locations(self._cafile)
        if self._certfile is not None:
            self._context.load_cert_chain(self._certfile, self._keyfile)

    def _new(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._cafile)
        if self._certfile is not None:
            context.load_cert_chain(self._certfile, self._keyfile)
        return context


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the brokers are and how we show who we are.

    Name and password are asked at each use, so that they can be rotated without a restart.
    OAUTHBEARER means Amazon MSK's IAM: it needs `aws_region` and the extra `msk`.
    """

    bootstrap_servers: str  # "host:port", several separated by commas
    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: SaslMechanism = "PLAIN"
    sasl_username: Callable[[], str | None] = field(default=_none, repr=False)
    sasl_password: Callable[[], str | None] = field(default=_none, repr=False)
    tls: Tls = field(default_factory=Tls, repr=False)
    aws_region: str | None = None

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol in {"SSL", "SASL_SSL"}

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol in {"SASL_PLAINTEXT", "SASL_SSL"}


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
