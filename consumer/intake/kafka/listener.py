"""Partitions that come and go: from the client's words to ours."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from aiokafka import ConsumerRebalanceListener, TopicPartition

from consumer.intake.offsets import Partition
from consumer.intake.positions import Starts


class Owner(Protocol):
    """Who is told about partitions that come and go; both run inside the group's own task."""

    async def assigned(self, partitions: Collection[Partition]) -> None: ...
    async def revoked(self, partitions: Collection[Partition]) -> None: ...


class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # aiokafka ships no types
    """Translates; whatever goes wrong stays in the log, or the group's task would swallow it."""

    def __init__(self, owner: Owner, starts: Starts) -> None:
        self._owner = owner
        self._starts = starts

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        await self._starts.forget()
        await self._owner.revoked([Partition(*tp) for tp in revoked])

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        await self._owner.assigned([Partition(*tp) for tp in assigned])
