"""An adapter that was refused for its old credentials sends with the new ones."""

from __future__ import annotations

import asyncio

import pytest

from consumer.model import Accepted, Blocked, Transient
from consumer.providers import renew
from consumer.providers.smtp import SmtpOptions
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.conftest import OPTIONS, on_stage
from tests.integration.providers.kinds import KINDS, Kind
from tests.integration.providers.smtp.dialogue import provider_for, send

OLD = "old"
SECRET = {
    "mailgun": "api_key", "postmark": "token", "resend": "api_key", "sendgrid": "api_key",
    "ses": "secret_access_key",
}  # fmt: skip
HTTP = [kind for kind in KINDS if kind.http]


@pytest.mark.parametrize("kind", HTTP, ids=lambda kind: kind.name)
async def test_refused_with_the_old_secret_accepted_with_the_new(kind: Kind) -> None:
    async with kind.start() as double, on_stage(kind, double, **{SECRET[kind.name]: OLD}) as stage:
        assert isinstance(await stage.send(), Blocked)
        assert double.ledger.total == 0
        await renew(stage.provider, OPTIONS.validate_python(double.options))
        assert isinstance(await stage.send(), Accepted)
        assert double.ledger.total == 1


async def test_smtp_signs_in_anew_on_a_connection_of_its_own() -> None:
    async with SmtpDouble(login=("ada", "new")) as double:
        async with provider_for(double, password=OLD) as provider:
            assert isinstance(await send(provider), Blocked)
            await renew(provider, SmtpOptions.model_validate(double.options))
            assert isinstance(await send(provider), Accepted)
            assert isinstance(await send(provider), Accepted)
        assert (double.ledger.total, double.connections) == (2, 2)


async def test_a_connection_in_use_while_the_password_changes_carries_no_further_mail() -> None:
    async with SmtpDouble(login=("ada", OLD)) as double, provider_for(double) as provider:
        double.script.then(Fault("delay", seconds=0.3))
        under_way = asyncio.create_task(send(provider))
        await double.arrived.wait()
        double.login = ("ada", "new")
        await renew(provider, SmtpOptions.model_validate(double.options))
        assert isinstance(await under_way, Accepted)
        assert isinstance(await send(provider), Accepted)
        assert double.connections == 2


async def test_authorities_that_cannot_be_read_leave_the_old_login_in_use() -> None:
    async with SmtpDouble(login=("ada", OLD)) as double, provider_for(double) as provider:
        gone = SmtpOptions.model_validate({**double.options, "ca_file": "/no/such/file"})
        with pytest.raises(OSError, match="No such file"):
            await renew(provider, gone)
        assert not isinstance(await send(provider), Transient | Blocked)
