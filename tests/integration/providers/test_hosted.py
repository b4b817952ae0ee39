"""Templates that a provider keeps: named in its words, and filled with the context as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from consumer.model import Accepted, Rejected
from consumer.providers import build
from tests.doubles.mails import KEY, mail
from tests.integration.providers.conftest import OPTIONS, Stage, on_stage
from tests.integration.providers.enclosures import arrived, enclosed
from tests.integration.providers.kinds import KINDS, RESEND, Kind

IDS: Final = {
    "mailgun": ["order.receipt"],
    "postmark": ["order-receipt", "1234567"],
    "resend": ["order-receipt"],
    "sendgrid": ["d-0123456789abcdef0123456789abcdef"],
    "ses": ["order-receipt", "arn:aws:ses:eu-central-1:1:template/order-receipt"],
}
EACH: Final = [(kind, template) for kind in KINDS for template in IDS.get(kind.name, [])]
MODEL: Final = {
    "order": "A-1",
    "total": 12.5,
    "lines": [{"name": "Tee, grün", "n": 2}],
    "note": None,
    "points": 2**70,
}
FLAT: Final = {"order": "A-1", "total": 12.5, "note": None}


@pytest.fixture
async def host(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    kind: Kind = request.param
    async with kind.start() as double, on_stage(kind, double) as ready:
        yield ready


def model_for(kind: Kind) -> dict[str, Any]:
    return dict(FLAT if kind is RESEND else MODEL)


@pytest.mark.parametrize(
    ("host", "template"),
    EACH,
    indirect=["host"],
    ids=[f"{kind.name}-{template[:20]}" for kind, template in EACH],
)
async def test_a_template_is_named_and_filled(host: Stage, template: str) -> None:
    """Integers beyond 64 bits included, which no double of ours would read back as they are."""
    given = model_for(host.kind)
    expected = {name: value for name, value in given.items() if name != "points"}
    hosted = mail(templates={host.kind.name: template}, model=given, text="", html="")
    assert isinstance(await host.send(hosted), Accepted)
    brought = host.double.ledger.brought[KEY]
    assert brought.template == template
    if host.kind is RESEND:
        del expected["note"]  # the template's fallback stands in
    assert {name: value for name, value in brought.model.items() if name != "points"} == expected


@pytest.mark.parametrize(
    ("host", "template"), EACH, indirect=["host"], ids=[f"{k.name}-{t[:20]}" for k, t in EACH]
)
async def test_files_go_along_with_a_template(host: Stage, template: str) -> None:
    file = enclosed()
    hosted = mail(templates={host.kind.name: template}, model=FLAT, attachments=(file.attachment,))
    assert isinstance(await host.send(hosted, enclosed=(file,)), Accepted)
    assert host.double.ledger.brought[KEY].files == arrived(file)


@pytest.mark.parametrize("stage", KINDS, indirect=True, ids=lambda kind: kind.name)
async def test_a_template_of_another_provider_is_none_of_this_one(stage: Stage) -> None:
    """Its own bodies are sent; where there are none, the mail is refused before the claim."""
    elsewhere = {"another": "t-1"}
    assert isinstance(await stage.send(mail(templates=elsewhere, model=FLAT)), Accepted)
    assert KEY not in stage.double.ledger.brought
    bodiless = mail(templates=elsewhere, model=FLAT, text="", html="")
    assert isinstance(stage.provider.prepare(bodiless), Rejected)


@pytest.mark.parametrize(
    "model",
    [{"lines": [1]}, {"paid": True}, {"customer": {"name": "Ada"}}, {"EMAIL": "a"}, {"a-b": "c"}],
    ids=str,
)
async def test_resend_takes_texts_and_numbers_and_nothing_else(model: dict[str, Any]) -> None:
    provider = build("resend", OPTIONS.validate_python({"type": "resend", "api_key": "k"}))
    answer = provider.prepare(mail(templates={"resend": "t"}, model=model))
    assert isinstance(answer, Rejected)
    assert next(iter(model)) in answer.error


async def test_mailgun_counts_variables_as_send_options() -> None:
    options = {"type": "mailgun", "api_key": "k", "domain": "mg.example"}
    provider = build("mailgun", OPTIONS.validate_python(options))
    fits = mail(templates={"mailgun": "t"}, model={"text": "x" * 15_000})
    assert not isinstance(provider.prepare(fits), Rejected)
    over = mail(templates={"mailgun": "t"}, model={"text": "x" * 16_000})
    assert isinstance(provider.prepare(over), Rejected)


async def test_what_json_cannot_say_is_refused_and_no_crash() -> None:
    for kind in KINDS:
        if kind.name in IDS:
            async with kind.start() as double, on_stage(kind, double) as host:
                broken = mail(templates={kind.name: IDS[kind.name][0]}, model={"text": "\ud800"})
                assert isinstance(host.provider.prepare(broken), Rejected)
