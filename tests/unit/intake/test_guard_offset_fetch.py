"""The client takes an error in disguise for "nothing committed"; the guard does not.

The first test fails when a new aiokafka moves what we lean on: then look at every place again.
"""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import aiokafka
import pytest
from aiokafka.client import AIOKafkaClient
from aiokafka.consumer.consumer import AIOKafkaConsumer
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.consumer.subscription_state import SubscriptionState, TopicPartitionState
from aiokafka.errors import GroupLoadInProgressError, NotCoordinatorForGroupError
from aiokafka.producer.message_accumulator import MessageAccumulator
from aiokafka.producer.producer import AIOKafkaProducer
from aiokafka.protocol.commit import OffsetFetchRequest
from aiokafka.protocol.group import SyncGroupRequest

from consumer.intake.kafka import guard_offset_fetch


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (GroupCoordinator._do_fetch_commit_offsets, ["self._send_req(request)"]),
        (
            GroupCoordinator._do_fetch_commit_offsets,
            ["in response.topics:"],
        ),
        (GroupCoordinator.__init__, ["self._coordination_task ="]),
        (GroupCoordinator.coordinator_dead, ["self.coordinator_id = None"]),
        (AIOKafkaConsumer.__init__, ["self._client =", "self._subscription ="]),
        (AIOKafkaConsumer.start, ["self._coordinator =", "self._fetcher ="]),
        (Fetcher.__init__, ["self._fetch_task ="]),
        (SubscriptionState.fetch_context, ["self._fetch_count += 1"]),
        (TopicPartitionState.__init__, ["self.highwater =", "self.lso ="]),
        (AIOKafkaClient._get_conn, ["sasl_plain_username=self._sasl_plain_username"]),
        (AIOKafkaClient._get_conn, ["sasl_plain_password=self._sasl_plain_password"]),
        (AIOKafkaProducer.__init__, ["self._message_accumulator =", "self.client ="]),
        (MessageAccumulator.fail_all, ["batch.failure(exception)"]),
    ],
)
def test_the_client_is_made_as_we_think(where: Any, names: list[str]) -> None:
    assert aiokafka.__version__.startswith("0.14.")
    source = inspect.getsource(where)
    assert [name for name in names if name not in source] == []


async def test_an_error_above_an_empty_answer_is_raised() -> None:
    coordinator = _Coordinator(error_code=14)
    guard_offset_fetch(coordinator)
    with pytest.raises(GroupLoadInProgressError):
        await coordinator._send_req(OffsetFetchRequest("g", []))
    assert not coordinator.dead


async def test_a_coordinator_that_moved_is_looked_for_again() -> None:
    coordinator = _Coordinator(error_code=16)
    guard_offset_fetch(coordinator)
    with pytest.raises(NotCoordinatorForGroupError):
        await coordinator._send_req(OffsetFetchRequest("g", []))
    assert coordinator.dead


@pytest.mark.parametrize("answer", [{"error_code": 0}, {}])
async def test_honest_answers_pass(answer: dict[str, int]) -> None:
    """The oldest versions of the answer have no error of their own."""
    coordinator = _Coordinator(**answer)
    guard_offset_fetch(coordinator)
    assert (await coordinator._send_req(OffsetFetchRequest("g", []))).topics == []


async def test_other_requests_are_none_of_its_business() -> None:
    coordinator = _Coordinator(error_code=25)
    guard_offset_fetch(coordinator)
    answer = await coordinator._send_req(SyncGroupRequest("g", 1, "m", None, []))
    assert answer.error_code == 25


class _Coordinator:
    def __init__(self, **answer: int) -> None:
        self.dead = False
        self._answer = answer

    async def _send_req(self, _: object) -> Any:
        return SimpleNamespace(topics=[], **self._answer)

    def coordinator_dead(self) -> None:
        self.dead = True
