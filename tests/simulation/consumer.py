"""One member of the simulated group, with the interface of `consumer.intake.kafka.Consumer`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from consumer.intake.cluster import COMMIT_DEADLINE
from consumer.intake.kafka import CommitAnswer, Committed, Late, Lost, Owner
from consumer.intake.offsets import Partition
from consumer.model import Record
from tests.simulation import network as net
from tests.simulation.kafka import TIMING, SimBroker
from tests.simulation.loop import PROCESS

IDLE = 3600.0  # seconds; with nothing to read, a poll returns when there is something


class SimConsumer:
    timing = TIMING

    def __init__(self, broker: SimBroker) -> None:
        self._broker, self._network = broker, broker.network
        self._process = PROCESS.get()
        self._generation = 0
        self._positions: dict[Partition, int | None] = {}
        self._woken = asyncio.Event()
        self._rejoin = asyncio.Event()
        self._closed = asyncio.Event()
        self._member: asyncio.Task[None] | None = None

    async def open(self, owner: Owner) -> None:
        self._member = asyncio.create_task(self._be_member(owner))

    async def _be_member(self, owner: Owner) -> None:
        while not self._closed.is_set():
            self._rejoin.clear()
            assignment = await self._broker.join(self, self._process)
            if assignment is None:
                continue
            self._generation = assignment.generation
            self._positions = dict.fromkeys(assignment.partitions)
            await owner.assigned(assignment.partitions)
            await self._fetch_offsets()
            await self._rejoin.wait()
            await owner.revoked(assignment.partitions)
            self._positions = {}

    async def _fetch_offsets(self) -> None:
        await asyncio.sleep(self._network.travel())
        for partition in self._positions:
            self._positions[partition] = self._broker.committed.get(partition, 0)
        self.wake()

    def rejoin(self) -> None:
        self._rejoin.set()

    def wake(self) -> None:
        self._woken.set()

    # ── Reading

    async def poll(
        self, partitions: Collection[Partition], *, wait: float, limit: int
    ) -> list[Record]:
        """Return new records; waits longer than asked where nothing is to be read."""
        records = self._take(partitions, limit)
        if not records:
            self._woken.clear()
            try:
                async with asyncio.timeout(
                    IDLE if len(partitions) == len(self._positions) else 0.5
                ):
                    await self._woken.wait()
            except TimeoutError:
                return []
            # The ownership may end while the records travel; from here on nothing is awaited, as in
            # the real client: a position never moves before its records are handed over.
            await asyncio.sleep(self._network.travel())
            records = self._take(partitions, limit)
        return records

    def _take(self, partitions: Collection[Partition], limit: int) -> list[Record]:
        taken: list[Record] = []
        for partition in partitions:
            position = self._positions.get(partition)
            if position is None:
                continue
            log = self._broker.logs[partition]
            new = [record for record in log.records if record.offset >= position][:limit]
            self._positions[partition] = new[-1].offset + 1 if new else max(position, log.end)
            taken += new
        return taken

    def position(self, partition: Partition) -> int | None:
        return self._positions.get(partition)

    def lag(self, partition: Partition) -> int | None:
        return None

    # ── Committing

    async def commit(
        self, offsets: Mapping[Partition, int], *, deadline: float = COMMIT_DEADLINE
    ) -> CommitAnswer:
        if not set(offsets) <= set(self._positions):
            return Lost("IllegalState")
        generation = self._generation
        told = {partition.number: offset for partition, offset in offsets.items()}
        answer = self._network.ask(
            self._process.name, "commit",
            lambda: self._broker.commit(self, generation, offsets), told, ordered=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(deadline):
                result = await answer
        except TimeoutError:
            return Late("timeout")
        return result if isinstance(result, Committed | Lost) else Late("connection lost")

    # ── Health: never the subject here

    def alive(self) -> bool:
        return True

    @property
    def heard(self) -> float:
        return self._network.loop.time()

    async def answers(self, silence: float) -> bool:
        await self._closed.wait()
        return True

    async def probe(self) -> None:
        await self._closed.wait()

    async def close(self, *, budget: float, hurried: asyncio.Event | None = None) -> bool:
        """Leave the group; a goodbye that is lost leaves it to the session."""
        self._closed.set()
        if self._member is not None:
            self._member.cancel()
            await asyncio.wait([self._member])
        bye = self._network.ask(self._process.name, "leave", lambda: self._broker.leave(self))
        left = await bye is not net.LOST
        if not left:
            self._broker.silent(self._process)
        self.wake()
        return left
