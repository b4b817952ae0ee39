"""Settings that every provider has, and the types that they are written in."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def seconds(value: object) -> object:
    """Read "500ms", "30s", "10m", "24h", "30d" as seconds; anything else is left as it is."""
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise ValueError('a duration is written "500ms", "30s", "10m", "24h" or "30d"')
    return float(match[1]) * _UNITS[match[2]]


def listed(value: object) -> object:
    """A text holds one a line: secrets are lists while they are rotated, and may be in a file."""
    if isinstance(value, str):
        return tuple(filter(str.strip, value.splitlines())) or (value,)
    return (value,) if isinstance(value, SecretStr) else value


def http_url(value: str) -> str:
    """Refuse what no request can be sent to. Nothing of it is repeated: it may hold a login."""
    try:
        parts = urlsplit(value)
        possible = parts.port != 0 and parts.hostname and not parts.query + parts.fragment
    except ValueError:
        possible = False
    if not possible or parts.scheme not in ("http", "https"):
        raise ValueError('must be a URL like "https://api.example.com"')
    return value


BaseUrl = Annotated[str, AfterValidator(http_url)]
Duration = Annotated[float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False)]
Secrets = Annotated[tuple[SecretStr, ...], BeforeValidator(listed)]
Texts = Annotated[tuple[str, ...], BeforeValidator(listed)]


class Options(BaseModel):
    """What every [providers.X] section may hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What mail types are held against at the start: bytes of a mail's files, all of them and before
    # they are encoded (None: no limit is known), and what the id of a template looks like that the
    # provider keeps (None: it keeps none).
    files_limit: ClassVar[int | None] = None
    template_id: ClassVar[str | None] = None

    timeout: Annotated[Duration, Field(gt=0)] = 10.0  # of a whole attempt
    connect_timeout: Annotated[Duration, Field(gt=0)] = 3.0  # of reaching the provider, inside it
    concurrency: Annotated[int, Field(ge=1)] = 50  # requests on the wire, per worker
    rate: Annotated[float, Field(gt=0)] | None = None  # mails a second, whole fleet
    account: str | None = None  # names the account, where its credentials are rotated
    # What the provider's webhooks are verified with, several while it is rotated. postmark:
    # "user:password"; mailgun: the signing key; resend: "whsec_..."; sendgrid: its public key.
    webhook_secret: Secrets = ()

    @model_validator(mode="after")
    def connecting_is_a_part_of_the_attempt(self) -> Self:
        if self.connect_timeout >= self.timeout:
            raise ValueError("connect_timeout must be shorter than timeout")
        return self
