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

ONE_PARTITION = (Place(0, 0), Place(0, 1))
TWO_PARTITIONS = (Place(0, 0), Place(1, 0))
DISAGREE = (Place(0, 0, content=0), Place(0, 1, content=1))

BASIC = tuple(
    Scenario(f"{what}, {policy}", (provider,), policy)
    for what, provider in (
        ("nothing", NOTHING), ("webhook", WEBHOOK), ("native key", NATIVE),
        ("lookup documented", DOCUMENTED), ("lookup undocumented", UNDOCUMENTED),
    )
    for policy in (HOLD, RESEND)
)  # fmt: skip

CALM = Scenario("nobody dies, requests are counted", (NOTHING,), crashes=False, counts=True)
ROUNDS = Scenario("two rounds, no sweep", (NOTHING,), rounds=1, sweeps=False)
AGES = Scenario("the event grows too old", (NOTHING,), ages=True)
UNREADABLE = Scenario(
    "a deploy that cannot read it, and its repair", (NOTHING,), deploys=2,
    unreadable=frozenset({1}), rebalances=False, cap=1,
)  # fmt: skip
DEPLOY = Scenario("a deploy changes the bytes", (NATIVE,), deploys=1, rebalances=False)
REPEAT = Scenario("two records, one partition", (NOTHING,), records=ONE_PARTITION, cap=1)
APART = Scenario("two records, two partitions", (NOTHING,), records=TWO_PARTITIONS, cap=1)
CONFLICT = Scenario(
    "two records that disagree", (NOTHING,), records=DISAGREE, cap=1, rebalances=False
)
FAILOVER = Scenario("failover, native key and nothing", (NATIVE, NOTHING), rebalances=False)
REPLAY = Scenario("a person replays", (NOTHING,), replays=1, cap=1)
DISCARD = Scenario("a person gives up, a webhook tells", (WEBHOOK,), discards=1, cap=1)
DISCARD_REPEAT = Scenario(
    "a person gives up, a record repeats", (NOTHING,), discards=1, cap=1,
    records=ONE_PARTITION, rebalances=False,
)  # fmt: skip

FURTHER = (
    CALM, ROUNDS, AGES, UNREADABLE, DEPLOY, REPEAT, APART, CONFLICT, FAILOVER, REPLAY, DISCARD,
    DISCARD_REPEAT,
)  # fmt: skip
WORLDS = (*BASIC, *FURTHER)
