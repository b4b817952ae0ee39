"""How the aiokafka consumer is made and mended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import NoError, NotCoordinatorForGroupError, for_code
from aiokafka.protocol.commit import OffsetFetchRequest

from consumer.intake.cluster import Cluster, Timing
from consumer.intake.kafka.access import client_options
from consumer.intake.kafka.names import tolerate_names
from consumer.model import Record

FETCH_BYTES = 512 * 1024  # per partition: bounds what waits in memory unread


def guard_offset_fetch(coordinator: Any) -> None:
    """Make the coordinator see an OffsetFetch answer's top-level error, which it overlooks."""
    send: Callable[[Any], Awaitable[Any]] = coordinator._send_req  # noqa: SLF001 - no public seam

    async def send_and_look(request: Any) -> Any:
        response = await send(request)
        if isinstance(request, OffsetFetchRequest):
            error = for_code(getattr(response, "error_code", 0))
            if error is not NoError:
                if error is NotCoordinatorForGroupError:
                    coordinator.coordinator_dead()
                raise error
        return response

    coordinator._send_req = send_and_look  # noqa: SLF001 - no public seam


def new_consumer(cluster: Cluster, group_id: str, timing: Timing) -> Any:
    tolerate_names()
    return AIOKafkaConsumer(
        **client_options(cluster),
        group_id=group_id,
        enable_auto_commit=False,
        auto_offset_reset="none",
        isolation_level="read_committed",
        partition_assignment_strategy=[RoundRobinPartitionAssignor],
        session_timeout_ms=_ms(timing.session),
        heartbeat_interval_ms=_ms(timing.heartbeat),
        rebalance_timeout_ms=_ms(timing.rebalance),
        request_timeout_ms=_ms(timing.request),
        max_poll_interval_ms=_ms(timing.poll_interval),
        metadata_max_age_ms=_ms(timing.metadata_age),
        max_partition_fetch_bytes=FETCH_BYTES,
    )


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def to_record(message: Any) -> Record:
    return Record(
        message.topic,
        message.partition,
        message.offset,
        message.timestamp,
        message.key,
        message.value,
        tuple(message.headers),
    )
