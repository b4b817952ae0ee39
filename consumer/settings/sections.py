"""All sections but [kafka], and the whole. Durations are seconds here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from consumer.model import Address
from consumer.providers import AnyOptions
from consumer.settings.kafka import Kafka
from consumer.settings.mailboxes import AllowList, Mailbox, Recipient
from consumer.settings.private import Privacy
from consumer.settings.values import (
    Dsn,
    Duration,
    ExistingFile,
    Folder,
    HttpUrl,
    Names,
    Port,
    Secret,
    Section,
    Text,
    Truth,
    Whole,
)

PRODUCTION: Final = "production"


class Topic(Section):
    """[topics.X]: what of a topic is passed over without a dead letter."""

    ignore: Names = ()
    only_listed: Truth = False  # True: every type that no folder of the catalogue listens to
    format: Literal["auto", "confluent", "debezium"] = "auto"
    fuse: Truth = True  # False: bad records are set aside, however many


class Registry(Section):
    """[registry]: where the schemas of Confluent's wire format are asked for. Absent: nowhere."""

    url: HttpUrl
    username: Text | None = None  # Confluent Cloud: the API key, and its secret as the password
    password: Secret | None = None
    ssl_cafile: ExistingFile | None = None  # default: the system's authorities
    timeout: Duration = 10.0


class Postgres(Section):
    """`migrate_dsn`: the direct way, as the owner of the tables; default: `dsn`.

    `password`: of `dsn`, where it stands apart from it; it wins over one that stands in it.
    `pool_size`: connections of a worker for all that is not claim, outcome or renewal, which
    have theirs.
    """

    dsn: Dsn
    password: Secret | None = None
    migrate_dsn: Dsn | None = None
    pool_size: Annotated[Whole, Field(ge=1, le=100)] = 2
    pgbouncer: Truth = False  # True: transaction pooling stands in between
    start_timeout: Duration = 60.0  # how long `run` waits for Kafka and Postgres at the start

    @property
    def password_text(self) -> str | None:
        return None if self.password is None else self.password.get_secret_value()


class Catalogue(Section):
    path: Folder = Path("schemas")


class Guard(Section):
    """`fingerprint_key` is needed where a type has `sensitive` paths; the catalogue says so."""

    lease: Duration = 30.0
    retention: Duration = 30 * 86400.0
    fingerprint_key: Secret | None = None


class Retry(Section):
    """Attempts of a round; waits grow from `base` to `cap`, with full jitter."""

    max_attempts: Annotated[Whole, Field(ge=1, le=20)] = 4
    base: Duration = 0.5
    cap: Duration = 30.0


class Outcomes(Section):
    topic: Text | None = None  # None: not published


class Safety(Section):
    """Outside production only `allow` is sent to. `environment` has no default: say it.

    `mode`: in shadow everything is done but claiming and sending, under a group of its own.
    """

    environment: Text
    allow: AllowList = ()
    redirect_to: Recipient | None = None
    mode: Literal["live", "shadow"] = "live"

    @property
    def production(self) -> bool:
        return self.environment == PRODUCTION


class Admin(Section):
    """Without a token there is health and metrics, and nothing else."""

    host: Text = "127.0.0.1"
    port: Port = 8080  # 0: any free one
    token: Secret | None = None


class Webhooks(Section):
    host: Text = "0.0.0.0"  # noqa: S104 - providers call from outside; the section is off by default
    port: Port = 8081


class Sender(Section):
    address: Annotated[Mailbox, Field(alias="from")]


class Settings(Section):
    """The whole configuration, checked. No secret shows in its repr."""

    kafka: Kafka
    topics: Mapping[str, Topic]
    postgres: Postgres
    catalogue: Catalogue
    guard: Guard
    retry: Retry
    outcomes: Outcomes
    safety: Safety
    privacy: Privacy
    admin: Admin
    webhooks: Webhooks | None
    registry: Registry | None
    senders: Mapping[str, Sender]
    providers: Mapping[str, AnyOptions]

    @property
    def addresses(self) -> Mapping[str, Address]:
        """The senders by name, as the catalogue wants them."""
        return {name: sender.address for name, sender in self.senders.items()}

    @property
    def longest_attempt(self) -> float:
        """Seconds: the longest attempt timeout of any provider."""
        return max((options.timeout for options in self.providers.values()), default=0.0)
