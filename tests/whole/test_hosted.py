"""A provider that keeps a mail's template: given the context, by the whole service, once a mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.whole.conftest import At
from tests.whole.events import receipts
from tests.whole.placing import work
from tests.whole.settling import key_of, stands

MAILS = 20


@pytest.mark.parametrize(
    ("provider", "template"), [("postmark", "order-receipt"), ("sendgrid", "d-0123456789abcdef")]
)
async def test_each_mail_names_the_template_and_brings_its_own_context(
    at: At, provider: str, template: str
) -> None:
    async with at(provider) as (stack, double):
        _host(stack.folder / "schemas/order.receipt", provider, template)
        await stack.publish(stack.orders, receipts(MAILS))
        worker = await work(stack)
        await stands(stack, sent=MAILS)
        assert await worker.stop() == 0
        assert double.ledger.summary()["accepted_twice"] == 0
        for number in range(MAILS):
            brought = double.ledger.brought[key_of(f"A-{number}")]
            assert brought.template == template
            assert brought.model["order_number"] == f"A-{number}"
            assert brought.model["items"]
            assert f"A-{number}" in brought.model["subject"]


def _host(folder: Path, provider: str, template: str) -> None:
    """Have the provider fill its own template: the folder needs no bodies of its own then."""
    rules = folder / "mail.toml"
    rules.write_text(f'{rules.read_text()}\n[template]\n{provider} = "{template}"\n')
    for body in folder.glob("**/body.*.j2"):
        body.unlink()
