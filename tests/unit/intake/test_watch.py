"""A poll that hangs is a hang only while the cluster answers; then nothing but a restart helps."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from consumer.intake.cluster import KafkaUnreachableError, Timing
from consumer.intake.watch import StuckError, Watchdog


class Client:
    def __init__(self, *, reachable: bool = True, patience: float = 0.01) -> None:
        self.timing = SimpleNamespace(rebalance=0.0, request=patience)
        self.running = True
        self.probes = 0
        self.probed_often = asyncio.Event()
        self._reachable = reachable

    def alive(self) -> bool:
        return self.running

    async def probe(self) -> None:
        self.probes += 1
        if self.probes == 5:
            self.probed_often.set()
        if not self._reachable:
            raise KafkaUnreachableError("gone")


async def test_a_hanging_poll_beside_a_cluster_that_answers_ends_the_process() -> None:
    with pytest.raises(StuckError, match="brokers answer"):
        await _dog(Client()).run()


async def test_a_hanging_poll_without_brokers_is_waited_out() -> None:
    client = Client(reachable=False)
    running = asyncio.create_task(_dog(client).run())
    await client.probed_often.wait()
    assert not running.done()
    running.cancel()


async def test_a_poll_that_returns_is_left_alone() -> None:
    client = Client(patience=5.0)
    dog = _dog(client)
    running = asyncio.create_task(dog.run())
    await asyncio.sleep(0.05)
    dog.polled()
    assert client.probes == 0
    running.cancel()


async def test_a_client_task_that_ended_in_silence_ends_the_process() -> None:
    client = Client()
    client.running = False
    with pytest.raises(StuckError, match="has ended"):
        await _dog(client).run()


def test_the_clocks_of_a_group_keep_their_order() -> None:
    """Drain and last commit fit the rebalance timeout, and that fits the request timeout."""
    for drain in (0.0, 5.0, 20.0, 120.0):
        timing = Timing(drain=drain)
        assert timing.drain + 2 + 5 < timing.rebalance < timing.request - 5


def _dog(client: Any) -> Watchdog:
    return Watchdog(client, every=0.005)
