"""One commit in flight; what was lost is never repeated, what is late may be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from consumer.intake.commits import Committer
from consumer.intake.kafka import CommitAnswer, Committed, Late, Lost
from consumer.intake.lanes import Lane, Owned
from consumer.intake.offsets import Partition, Tracker


class Broker:
    """Answers commits as scripted; counts how many are under way at once."""

    def __init__(self, *answers: CommitAnswer) -> None:
        self.answers = list(answers)
        self.seen: list[Mapping[Partition, int]] = []
        self.at_once = self.most = 0
        self.positions: dict[Partition, int] = {}

    async def commit(self, offsets: Mapping[Partition, int], *, deadline: float) -> CommitAnswer:
        assert deadline > 0
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.seen.append(dict(offsets))
        await asyncio.sleep(0.002)
        self.at_once -= 1
        return self.answers.pop(0) if self.answers else Committed()

    def position(self, partition: Partition) -> int | None:
        return self.positions.get(partition)


async def test_what_is_committed_is_not_committed_again() -> None:
    broker, owned = Broker(), _owned(finished=3)
    committer = Committer(broker, every=1)
    await committer.last([owned])
    await committer.last([owned])
    assert broker.seen == [{owned.partition: 3}]


async def test_a_late_commit_is_repeated() -> None:
    broker, owned = Broker(Late("TimeoutError")), _owned(finished=3)
    committer = Committer(broker, every=1)
    await committer.last([owned])
    await committer.last([owned])
    assert broker.seen == [{owned.partition: 3}] * 2


async def test_a_lost_ownership_commits_nothing_more() -> None:
    broker, owned = Broker(Lost("CommitFailedError")), _owned(finished=3)
    committer = Committer(broker, every=1)
    await committer.last([owned])
    owned.tracker.deliver(3)
    owned.tracker.finish(3)
    await committer.last([owned])
    assert len(broker.seen) == 1


async def test_only_one_commit_is_in_flight() -> None:
    broker, owned = Broker(), _owned(finished=3)
    committer = Committer(broker, every=0.001)
    running = asyncio.create_task(committer.run(lambda: [owned]))
    for offset in range(3, 20):
        owned.tracker.deliver(offset)
        owned.tracker.finish(offset)
        await committer.last([owned])
    running.cancel()
    await asyncio.wait({running})
    assert broker.most == 1
    offsets = [seen[owned.partition] for seen in broker.seen]
    assert offsets == sorted(set(offsets)), "commits grow, and none is repeated"


async def test_markers_after_the_last_record_are_committed_too() -> None:
    broker, owned = Broker(), _owned(finished=3)
    broker.positions[owned.partition] = 5
    await Committer(broker, every=1).last([owned])
    assert broker.seen == [{owned.partition: 5}]


async def test_what_was_read_after_the_end_of_an_ownership_is_not_committed() -> None:
    """A poll under way at a stop hands over records that nobody takes: they are not finished."""
    broker, owned = Broker(), _owned(finished=3)
    owned.take()
    broker.positions[owned.partition] = 5
    await Committer(broker, every=1).last([owned])
    assert broker.seen == [{owned.partition: 3}]


def _owned(finished: int) -> Owned:
    owned = Owned(Partition("orders", 0), Tracker(1), Lane(9), 9)
    for offset in range(finished):
        owned.tracker.deliver(offset)
        owned.tracker.finish(offset)
    return owned
