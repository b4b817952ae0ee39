"""Providers: the ways out. How to add one is in README.md beside this file."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from consumer.model import Carrier
from consumer.providers.base import Adapter, Provider
from consumer.providers.file import FileOptions, FileProvider
from consumer.providers.lookups import Absent, Found, Lookup, Sighting, Unasked
from consumer.providers.mailgun import Mailgun, MailgunOptions
from consumer.providers.options import Duration, Options, Secrets, seconds
from consumer.providers.postmark import Postmark, PostmarkOptions
from consumer.providers.resend import Resend, ResendOptions
from consumer.providers.sendgrid import SendGrid, SendGridOptions
from consumer.providers.ses import Ses, SesOptions
from consumer.providers.smtp import SmtpOptions, SmtpProvider
from consumer.providers.transport import HttpProvider

AnyOptions: TypeAlias = Annotated[
    MailgunOptions
    | PostmarkOptions
    | ResendOptions
    | SendGridOptions
    | SesOptions
    | SmtpOptions
    | FileOptions,
    Field(discriminator="type"),
]
OPTIONS: dict[str, type[Options]] = {
    "mailgun": MailgunOptions,
    "postmark": PostmarkOptions,
    "resend": ResendOptions,
    "sendgrid": SendGridOptions,
    "ses": SesOptions,
    "smtp": SmtpOptions,
    "file": FileOptions,
}


def build(name: str, options: Options) -> Provider:
    """Make the provider `name` of the configuration. It is opened, and closed, by its owner."""
    match options:
        case FileOptions():
            return FileProvider(name, options)
        case SmtpOptions():
            return SmtpProvider(name, options)
        case _:
            return HttpProvider(name, options, adapter(options))


def carrier(options: Options) -> Carrier:
    """Say what a provider of these options takes along: mail types are held against it."""
    return Carrier(options.files_limit, options.template_id)


def adapter(options: Options) -> Adapter:
    """Make what an `HttpProvider` speaks through; made anew when credentials change."""
    match options:
        case MailgunOptions():
            return Mailgun(options)
        case PostmarkOptions():
            return Postmark(options)
        case ResendOptions():
            return Resend(options)
        case SendGridOptions():
            return SendGrid(options)
        case SesOptions():
            return Ses(options)
        case _:
            raise TypeError(f"no adapter for {type(options).__name__}")


async def renew(provider: Provider, options: Options) -> None:
    """Have it go on with other credentials. Raises OSError where a file of theirs is unreadable."""
    match provider:
        case HttpProvider():
            provider.renew(adapter(options))
        case SmtpProvider() if isinstance(options, SmtpOptions):
            await provider.renew(options)
        case _:
            pass  # it has none


__all__ = [
    "OPTIONS",
    "Absent",
    "Adapter",
    "AnyOptions",
    "Duration",
    "FileOptions",
    "FileProvider",
    "Found",
    "HttpProvider",
    "Lookup",
    "MailgunOptions",
    "Options",
    "PostmarkOptions",
    "Provider",
    "ResendOptions",
    "Secrets",
    "SendGridOptions",
    "SesOptions",
    "Sighting",
    "SmtpOptions",
    "SmtpProvider",
    "Unasked",
    "adapter",
    "build",
    "carrier",
    "renew",
    "seconds",
]
