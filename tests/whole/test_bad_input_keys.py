"""One key, one mail: whatever comes twice, differently, at once, or again after a refusal."""

from __future__ import annotations

from pathlib import Path

from consumer.keys import send_key
from tests.doubles.engine import Double
from tests.doubles.script import Fault
from tests.whole.events import receipt, receipts, reset
from tests.whole.placing import work
from tests.whole.stack import Stack

INACTIVE = Fault("status", 422, '{"ErrorCode":406,"Message":"Inactive recipient"}')
DIVIDES = (
    "{% if total == 666 %}{{ total // 0 }}{% endif %}Your receipt for order {{ order_number }}"
)


async def test_the_same_key_with_another_content_is_refused_and_the_row_untouched(
    stack: Stack, double: Double
) -> None:
    """Conflict: a dead letter that names the key, nothing sent, the neighbours flow."""
    await stack.publish(stack.orders, [receipt("A"), receipt("B")], partition=0)
    worker = await work(stack)
    before = await _rows(stack)
    changed = [receipt("A", total=1), receipt("C"), receipt("B", currency="USD")]
    await stack.publish(stack.orders, changed, partition=0)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    assert double.ledger.requests == double.ledger.summary()["accepted"] == 3
    rows = await _rows(stack)
    assert {key: rows[key] for key in before} == before
    letters = await stack.sql("SELECT * FROM dead_letter ORDER BY id")
    assert {(row["reason"], row["idempotency_key"], row["status"]) for row in letters} == {
        ("conflict", key, "open") for key in before
    }


async def test_a_record_that_comes_back_under_another_key_is_not_sent_again(
    stack: Stack, double: Double
) -> None:
    """A deploy changed the key's rules and the group starts over: drift, except where it failed."""
    double.script.for_recipient("a-0@example.com", INACTIVE)
    await stack.publish(stack.orders, receipts(20))
    await (await work(stack)).stop()
    assert await stack.statuses() == {"sent": 19, "failed": 1}
    double.script.clear()
    mail = stack.folder / "schemas/order.receipt/mail.toml"
    mail.write_text('version = "v2"\n' + mail.read_text())
    stack.group += ".again"
    await (await work(stack)).stop()
    assert double.ledger.summary()["accepted"] == 20
    assert await stack.letters() == {"key_drift": 19}
    assert await stack.statuses() == {"sent": 20, "failed": 1}
    freed = await stack.sql('SELECT "offset" FROM sent_message WHERE status = $1', "failed")
    assert [row["offset"] for row in freed] == [None], "its record stands under the new key now"


async def test_repeats_within_one_poll_are_one_mail(stack: Stack, double: Double) -> None:
    """A hundred of one event, in two partitions: the stored outcome for all but the first."""
    for partition in (0, 1):
        values = [receipt("hot")] * 50 + receipts(5, f"cold-{partition}")
        await stack.publish(stack.orders, values, partition=partition)
    await (await work(stack)).stop()
    assert double.ledger.summary()["accepted"] == 11
    told = [one for one in await stack.told() if one["entity_id"] == "hot"]
    assert len(told) == 100
    assert sorted(one["duplicate"] for one in told) == [False] + [True] * 99
    assert len({one["provider_message_id"] for one in told}) == 1


async def test_two_deployments_meet_the_same_keys_at_once(stack: Stack, double: Double) -> None:
    """The same events on two topics, a worker and a catalogue each, one database: one mail each."""
    other = f"{stack.orders}.other"
    await stack.kafka.create_topic(other, 6)
    for topic in (stack.orders, other):
        await stack.publish(topic, receipts(200))
    first = stack.worker().start()
    second = stack.worker(
        kafka={"group_id": f"{stack.group}.other"},
        catalogue={"path": str(_listening_to(stack, other))},
    ).start()
    await stack.finished(stack.orders)
    stack.group += ".other"
    await stack.finished(other)
    assert [await first.stop(), await second.stop()] == [0, 0]
    assert double.ledger.summary()["accepted"] == 200
    assert double.ledger.summary()["accepted_twice"] == 0
    assert await stack.letters() == {}
    told = await stack.told()
    assert [len(told), sum(one["duplicate"] for one in told)] == [400, 200]


def _listening_to(stack: Stack, topic: str) -> Path:
    mine, stack.orders = stack.orders, topic
    folder, stack.folder = stack.folder, stack.folder / "other"
    stack.folder.mkdir()
    path = stack.write_catalogue()
    stack.orders, stack.folder = mine, folder
    return path


async def test_a_carried_key_never_passes_for_another_kind_of_mail(
    stack: Stack, double: Double
) -> None:
    """One key on a receipt and on a reset: the second is refused aloud, not taken for a repeat."""
    key = send_key("order.receipt", "shared", "ada@example.com")
    headers = [("sendonce-key", key.encode())]
    await stack.publish(stack.orders, [receipt("shared")], headers=headers)
    worker = await work(stack)
    await stack.publish(stack.accounts, [reset("R1")], headers=headers)
    await stack.finished(stack.accounts)
    await worker.stop()
    assert double.ledger.summary()["accepted"] == 1
    assert await stack.letters() == {"conflict": 1}


async def test_a_template_that_fails_on_one_event_stops_no_other(
    stack: Stack, double: Double
) -> None:
    """A dead letter `invalid` that says in which file and line; no row, so it can be replayed."""
    (stack.folder / "schemas/order.receipt/subject.j2").write_text(DIVIDES)
    await stack.publish(
        stack.orders, [receipt("A"), receipt("evil", total=666), receipt("B")], partition=0
    )
    await (await work(stack)).stop()
    assert double.ledger.summary()["accepted"] == 2
    assert await stack.statuses() == {"sent": 2}
    [letter] = await stack.sql("SELECT reason, detail, event_type FROM dead_letter")
    assert (letter["reason"], letter["event_type"]) == ("invalid", "order.receipt")
    assert letter["detail"] == "order.receipt/subject.j2:1: failed with ZeroDivisionError"


async def test_what_was_refused_is_sent_when_it_is_published_again(
    stack: Stack, double: Double
) -> None:
    """Suppressed: `failed`, nobody has to act. Lifted and published again: claimed anew, sent."""
    double.script.for_recipient("a@example.com", INACTIVE)
    await stack.publish(stack.orders, [receipt("A")])
    worker = await work(stack)
    assert await stack.statuses() == {"failed": 1}
    double.script.clear()
    await stack.publish(stack.orders, [receipt("A", total=1)])
    await stack.finished(stack.orders)
    await worker.stop()
    [row] = (await _rows(stack)).values()
    assert (row["status"], row["attempts"], row["epoch"]) == ("sent", 1, 2)
    assert await stack.letters() == {}
    told = [(one["status"], one["duplicate"], one["reason"]) for one in await stack.told()]
    assert sorted(told) == [("failed", False, "postmark 406, HTTP 422"), ("sent", False, None)]


async def _rows(stack: Stack) -> dict[str, dict[str, object]]:
    rows = await stack.sql("SELECT * FROM sent_message")
    return {row["idempotency_key"]: dict(row) for row in rows}
