"""The idempotent producer, one instance; `publisher.py` replaces it when it is beyond repair."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaTimeoutError

from consumer.intake.cluster import Cluster
from consumer.intake.kafka.access import client_options, show_login, translated
from consumer.intake.kafka.closing import ended

Header = tuple[str, bytes]
_CUT = 1.0  # seconds for what is cut off to end


class Producer:
    """acks=all and idempotent: the broker keeps one copy of what the client repeats."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._producer: Any = None

    async def open(self) -> None:
        """Raises KafkaUnreachable-, KafkaRefusedError."""
        self._producer = AIOKafkaProducer(
            **client_options(self._cluster), enable_idempotence=True, acks="all"
        )
        async with translated(self._cluster):
            try:
                await self._producer.start()
            except BaseException:
                await self.close(budget=1.0)
                raise

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Sequence[Header] = ()
    ) -> None:
        """Return when the brokers have it; records sent meanwhile travel in one batch.

        Raises aiokafka's KafkaError. Has no deadline of its own: idempotent batches never expire.
        """
        show_login(self._producer.client, self._cluster)
        await self._producer.send_and_wait(topic, value, key, headers=list(headers))

    async def close(self, *, budget: float) -> None:
        """Flush and disconnect; what is not acked within `budget` seconds fails."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        stopping = asyncio.create_task(producer.stop())
        await asyncio.wait({stopping}, timeout=budget)
        if not stopping.done():
            # Idempotent batches have no end of their own, and stop() waits for all of them.
            producer._message_accumulator.fail_all(KafkaTimeoutError())  # noqa: SLF001 - no public way
        await ended(stopping, _CUT, producer.client)
