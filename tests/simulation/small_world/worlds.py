"""The small worlds: provider classes, policies, one or two records, deploys, ages, a person."""

from __future__ import annotations

from consumer.model import OnUnknown
from tests.simulation.small_world.parts import Place, Provider, Scenario

HOLD, RESEND = OnUnknown.HOLD, OnUnknown.RESEND

NOTHING = Provider("plain")
NATIVE = Provider("native", native=True)
DOCUMENTED = Provider("asked", visible=60.0, documents=True)
UNDOCUMENTED = Provider("guessed", visible=60.0)
WEBHOOK = Provider("pushing", pushes=True)

WORLDS = tuple(
    Scenario(f"{what}, {policy}", (provider,), policy)
    for what, provider in (
        ("nothing", NOTHING), ("native key", NATIVE), ("lookup documented", DOCUMENTED),
        ("lookup undocumented", UNDOCUMENTED), ("webhook", WEBHOOK),
    )
    for policy in (HOLD, RESEND)
)  # fmt: skip
