"""One flight per key in a process."""

from __future__ import annotations

import asyncio

from consumer.flights import Flights


async def test_records_of_one_key_go_one_after_another() -> None:
    flights = Flights("w")
    in_the_air, most = 0, 0

    async def fly() -> None:
        nonlocal in_the_air, most
        async with flights.only("k"):
            in_the_air += 1
            most = max(most, in_the_air)
            await asyncio.sleep(0)
            in_the_air -= 1

    await asyncio.gather(*(fly() for _ in range(50)))
    assert most == 1


async def test_other_keys_do_not_wait() -> None:
    flights = Flights("w")
    async with flights.only("a"), asyncio.timeout(1), flights.only("b"):
        pass


async def test_a_waiting_record_that_is_called_back_leaves_no_trace() -> None:
    flights = Flights("w")
    async with flights.only("k"):
        waiting = asyncio.create_task(_pass(flights))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(1), flights.only("k"):
        pass


async def _pass(flights: Flights) -> None:
    async with flights.only("k"):
        pass


def test_no_two_flights_share_a_token() -> None:
    flights, others = Flights("a"), Flights("b")
    tokens = [each.token() for each in (flights, others) for _ in range(1000)]
    assert len(set(tokens)) == len(tokens)
