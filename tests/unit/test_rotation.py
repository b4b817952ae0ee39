"""What uses a secret goes on with the new one: providers, webhooks, Kafka's TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest.mock import AsyncMock, Mock

import pytest
from structlog.testing import capture_logs

from consumer import parts
from consumer.intake.cluster import Tls
from consumer.model import Blocked
from consumer.rotation import Rotation
from consumer.routes import Routes
from consumer.settings import Followed, Settings, follow
from consumer.telemetry import Metrics
from consumer.webhooks import WebhookReceiver
from consumer.webhooks.hook import Forged, Heard
from tests.unit.settings.configurations import ENVIRONMENT

PROVIDERS = """
[webhooks]
[providers.postmark]
account = "one"
[providers.mailgun]
api_key = "k"
domain = "mg.shop.example"
"""


class House:
    """Everything that rotates, around files in a folder; `look` is one look at them."""

    def __init__(self, folder: Path, more: str = PROVIDERS, tls: Tls | None = None) -> None:
        self.token, self.hook = folder / "token", folder / "hook"
        self.token.write_text("old")
        self.hook.write_text("user:old")
        (folder / "sendonce.toml").write_text(more)
        self.followed: Followed = follow(
            folder / "sendonce.toml",
            {
                **ENVIRONMENT,
                "SENDONCE_PROVIDERS__POSTMARK__TOKEN_FILE": str(self.token),
                "SENDONCE_PROVIDERS__POSTMARK__WEBHOOK_SECRET_FILE": str(self.hook),
            },
        )
        self.hooks = parts.hooks(self.followed.now)
        self.rotation = Rotation(self.followed, self.hooks, tls or Tls(), soon=0.001)
        self.routes: Routes = parts.routes(
            self.followed.now, Metrics(), self.hooks, self.rotation.ask
        )

    async def look(self) -> None:
        await self.rotation.look(self.routes)

    async def signature(self) -> str:
        provider = cast("Any", self.routes.by_name["postmark"].provider)
        return str((await provider._adapter.sign(None))["X-Postmark-Server-Token"])

    async def block(self) -> None:
        permit = await self.routes.by_name["postmark"].permits.take("shop", high=False)
        permit.done(Blocked("401"))

    def is_open(self) -> bool:
        return self.routes.by_name["postmark"].permits.open_for("shop")


async def test_a_new_token_signs_the_next_request_and_opens_the_way(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.block()
    await house.look()
    assert not house.is_open(), "nothing changed, so nothing is asked again"
    house.token.write_text("new")
    await house.look()
    assert await house.signature() == "new"
    assert house.is_open()


async def test_the_others_are_left_alone(tmp_path: Path) -> None:
    house = House(tmp_path)
    provider = cast("Any", house.routes.by_name["mailgun"].provider)
    before = provider._adapter
    house.token.write_text("new")
    await house.look()
    assert provider._adapter is before


async def test_webhooks_signed_with_either_secret_are_heard(tmp_path: Path) -> None:
    house = House(tmp_path)
    listening = WebhookReceiver(hooks=house.hooks, on_notice=AsyncMock(), counts=Mock())
    house.hook.write_text("user:old\nuser:new")
    await house.block()
    await house.look()
    assert not house.is_open(), "a webhook's secret opens no way out"
    for login, kind in (("dXNlcjpvbGQ=", Heard), ("dXNlcjpuZXc=", Heard), ("dXNlcjp4", Forged)):
        headers = {"Authorization": f"Basic {login}"}
        told = await listening._hooks["postmark"].read(headers, b'{"RecordType": "Open"}')
        assert isinstance(told, kind)


async def test_a_secret_that_no_webhook_can_be_made_with_is_not_taken(tmp_path: Path) -> None:
    house = House(tmp_path)
    before = house.hooks["postmark"]
    house.hook.write_text("canary")
    with capture_logs() as lines:
        await house.look()
    assert house.hooks["postmark"] is before
    assert [line["setting"] for line in lines] == ["providers.postmark.webhook_secret"]
    assert "canary" not in str(lines)


async def test_a_refusal_has_the_files_read_at_once(tmp_path: Path) -> None:
    """The new token was there before the provider stopped taking the old one: nobody waits."""
    house = House(tmp_path)
    running = asyncio.create_task(house.rotation.run(house.routes, lambda: False))
    await asyncio.sleep(0)  # it has looked once, and waits its half minute
    house.token.write_text("new")
    await house.block()
    await _came(house.is_open)
    running.cancel()
    assert await house.signature() == "new"


async def test_while_something_is_refused_the_files_are_read_soon(tmp_path: Path) -> None:
    house = House(tmp_path)
    looks: list[int] = []
    look = house.followed.look

    def counted() -> Settings:
        looks.append(1)
        return look()

    house.followed.look = counted  # type: ignore[method-assign]  # counted
    running = asyncio.create_task(house.rotation.run(house.routes, lambda: len(looks) < 3))
    await _came(lambda: len(looks) == 3)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(looks) == 3, "all is well: the next one comes in its turn"
    running.cancel()


async def test_another_account_is_told(tmp_path: Path) -> None:
    """Where nobody named it, it is a digest of its token; evidence ends with that."""
    house = House(tmp_path, PROVIDERS.replace('account = "one"', ""))
    house.token.write_text("new")
    with capture_logs() as lines:
        await house.look()
    assert [line["event"] for line in lines] == ["secret changed", "another account"]
    named = House(tmp_path)
    named.token.write_text("new")
    with capture_logs() as lines:
        await named.look()
    assert [line["event"] for line in lines] == ["secret changed"]


@pytest.mark.parametrize("keys", ["", 'access_key_id = "a"\nsecret_access_key = "s"\n'])
async def test_the_chain_of_aws_is_asked_anew_after_a_refusal(tmp_path: Path, keys: str) -> None:
    """Its files are not ours to follow; what stands in our own settings does not change by that."""
    house = House(tmp_path, f'{PROVIDERS}[providers.ses]\nregion = "eu-west-1"\n{keys}')
    provider = cast("Any", house.routes.by_name["ses"].provider)
    before = provider._adapter
    house.rotation.ask("ses")
    await house.look()
    assert (provider._adapter is before) == bool(keys)


async def test_tls_files_are_loaded_again_when_they_change(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("old")
    loaded: list[str] = []
    tls = cast("Any", Tls(str(file)))
    tls.renew = lambda: loaded.append(file.read_text())
    house = House(tmp_path, tls=tls)
    await house.look()
    assert not loaded
    file.write_text("new")
    with capture_logs() as lines:
        await house.look()
        await house.look()
    assert loaded == ["new"]
    assert [line["setting"] for line in lines] == ["kafka.ssl_*"]


async def test_tls_files_that_are_wrong_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("old")
    tls = Tls(str(file))
    tls._context = cast("Any", object())  # in use; it is not touched
    house = House(tmp_path, tls=tls)
    file.unlink()
    with capture_logs() as lines:
        await house.look()
        await house.look()
    assert [line["event"] for line in lines] == ["secret not taken up"]
    assert "No such file" in lines[0]["why"]


async def _came(condition: Callable[[], bool]) -> None:
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it did not come")
