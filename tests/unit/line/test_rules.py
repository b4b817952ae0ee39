"""The rules that hold a mail back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from consumer.model import Address, Mail, MailType, Message, SkipRule
from consumer.rules import Rules

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TYPE = MailType("order.receipt", "orders", ("postmark",), "shop", max_age=3600.0)


def mail(recipient: str = "ada@example.com", *, age: float = 0.0, active: bool = True) -> Mail:
    occurred = NOW - timedelta(seconds=age)
    return Mail(TYPE, "k" * 48, "A-1", recipient, "f", {}, occurred, active=active)


def message(to: str) -> Message:
    shop = Address("shop@example.com")
    return Message("k" * 48, "order.receipt", shop, Address(to, "Ada"), "s", "t", "h", "<k@x>")


def rules(*allow: str, redirect_to: str | None = None) -> Rules:
    return Rules(frozenset(allow) if allow else None, redirect_to, now=lambda: NOW)


def test_production_holds_nobody_back() -> None:
    assert rules().holds_back(mail()) is None


@pytest.mark.parametrize(("age", "rule"), [(3599.0, None), (3600.0, SkipRule.TOO_OLD)])
def test_age_is_counted_from_the_event(age: float, rule: SkipRule | None) -> None:
    assert rules().holds_back(mail(age=age)) == rule


@pytest.mark.parametrize(
    ("age", "claimed", "rule"),
    [
        (86_399.0, False, None),
        (86_400.0, False, SkipRule.FORGOTTEN),
        (86_400.0, True, None),
    ],
)
def test_a_person_may_lift_an_age_but_not_beyond_what_the_guard_remembers(
    age: float, rule: SkipRule | None, *, claimed: bool
) -> None:
    """Law: a mail of its key may have been sent, and its row been pruned since."""
    remembering = replace(rules(), retention=86_400.0)
    assert remembering.holds_back(mail(age=age), replay=True, claimed=claimed) == rule


@pytest.mark.parametrize("replay", [False, True])
def test_before_the_cut_over_the_old_sender_has_the_event(*, replay: bool) -> None:
    """Law: also where a person has it go again, who knows nothing of the old sender's mails."""
    held_back = rules().holds_back(mail(active=False), replay=replay)
    assert held_back == SkipRule.BEFORE_ACTIVE_FROM


@pytest.mark.parametrize("replay", [False, True])
def test_what_has_a_row_was_ours_wherever_the_cut_over_was_moved_since(*, replay: bool) -> None:
    assert rules().holds_back(mail(active=False), replay=replay, claimed=True) is None


@pytest.mark.parametrize(
    ("recipient", "rule"),
    [
        ("ada@example.com", None),
        ("Grace@Test.Example", None),
        ("eve@example.com", SkipRule.NOT_ALLOWED),
        ("eve@sub.test.example", SkipRule.NOT_ALLOWED),
    ],
)
def test_outside_production_only_the_listed_get_mail(recipient: str, rule: SkipRule | None) -> None:
    assert rules("ada@example.com", "@test.example").holds_back(mail(recipient)) == rule


def test_a_redirect_sends_what_the_list_would_block_to_one_box() -> None:
    redirected = rules("@test.example", redirect_to="qa@test.example")
    assert redirected.holds_back(mail("eve@example.com")) is None
    assert redirected.addressed(message("eve@example.com")).to == Address("qa@test.example")
    assert redirected.addressed(message("ada@test.example")).to.email == "ada@test.example"
