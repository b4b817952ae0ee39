"""The idempotent producer, one instance; `publisher.py` replaces it when it is beyond repair."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaProducer

from consumer.intake.cluster import Cluster
from consumer.intake.kafka.access import client_options, show_password, translated

Header = tuple[str, bytes]


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
                await self.close(timeout=1.0)
                raise

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Sequence[Header] = ()
    ) -> None:
        """Return when the brokers have it; records sent meanwhile travel in one batch.

        Raises aiokafka's KafkaError. Has no deadline of its own: idempotent batches never expire.
        """
        show_password(self._producer.client, self._cluster)
        await self._producer.send_and_wait(topic, value, key, headers=list(headers))

    async def close(self, *, timeout: float) -> None:  # noqa: ASYNC109 - a budget for flushing
        producer, self._producer = self._producer, None
        if producer is None:
            return
        with contextlib.suppress(Exception):  # what was not acked is not acked
            async with asyncio.timeout(timeout):
                await producer.stop()
