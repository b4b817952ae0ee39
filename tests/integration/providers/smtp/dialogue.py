"""An SMTP adapter in front of a double, and one mail through it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from consumer.model import Answer, Lease, Message, Prepared
from consumer.providers.smtp import SmtpOptions, SmtpProvider
from tests.doubles.mails import MAIL, lease
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble

LATE = Fault("status", status=550, body="5.1.1 nobody", headers={"at": "rcpt"})


@asynccontextmanager
async def provider_for(double: SmtpDouble, **options: object) -> AsyncIterator[SmtpProvider]:
    provider = SmtpProvider("smtp", SmtpOptions.model_validate({**double.options, **options}))
    await provider.open()
    try:
        yield provider
    finally:
        await provider.close()


async def send(
    provider: SmtpProvider, message: Message = MAIL, held: Lease | None = None
) -> Answer:
    ready = provider.prepare(message)
    assert isinstance(ready, Prepared)
    return await provider.attempt(ready, held or lease())
