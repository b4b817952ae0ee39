"""What is done to the world while it works. Each act ends with the world whole again."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import asyncpg

from tests.chaos.world import CONNECTIONS, LEASE, Hand, World
from tests.parts.proxy import Mode, Proxy

Act = Callable[[World, random.Random], Awaitable[None]]

STEPS = (-900, -120, 120, 900)  # seconds that a clock is wrong by


async def kill_on_and_on(world: World, dice: random.Random, every: float) -> None:
    """Kill -9 a random worker that is at work, and start it again, all the time.

    The last one is left: on a busy machine nobody would ever come as far as to send.
    """
    while True:
        await asyncio.sleep(every)
        at_work = [hand for hand in world.hands if hand.works]
        hand = dice.choice(world.hands)
        if hand.spared or hand not in at_work or len(at_work) == 1:
            continue
        await hand.worker.kill()
        hand.start()
        world.count("workers killed")


async def freeze(world: World, dice: random.Random) -> None:
    """Stop a worker for longer than its lease; then it wakes and believes that no time passed."""
    hand = dice.choice(world.hands)
    if not hand.lives:
        return
    hand.spared = True
    try:
        hand.worker.send(signal.SIGSTOP)
        await asyncio.sleep(LEASE + dice.uniform(0.5, 4))
    finally:
        hand.worker.send(signal.SIGCONT)
    await asyncio.sleep(1.5)  # to wake, and to do what it wanted to do
    hand.spared = False
    world.count("workers frozen past their lease")


async def kill_kafka(world: World, dice: random.Random) -> None:
    await asyncio.to_thread(world.kafka.kill)
    await asyncio.sleep(dice.uniform(0, 4))
    await asyncio.to_thread(world.kafka.start)
    world.count("kafka killed")


async def kill_postgres(world: World, dice: random.Random) -> None:
    await asyncio.to_thread(world.postgres.kill)
    await asyncio.sleep(dice.uniform(0, 4))
    await asyncio.to_thread(world.postgres.start)
    world.count("postgres killed")


async def cut(world: World, dice: random.Random) -> None:
    for _ in range(3):
        dice.choice(world.legs).reset()
        world.count("legs cut")
        await asyncio.sleep(dice.uniform(0, 0.5))


async def stall(world: World, dice: random.Random) -> None:
    """Silence in both directions, and then it goes on as if nothing had been."""
    await _for_a_while(dice.choice(world.legs), Mode.STALL, dice.uniform(1, 6))
    world.count("legs stalled")


async def withhold(world: World, dice: random.Random) -> None:
    """What is asked arrives; its answers never come: was it done or not."""
    await _for_a_while(dice.choice(world.legs), Mode.WITHHOLD, dice.uniform(0.5, 4))
    world.count("legs without answers")


async def refuse(world: World, dice: random.Random) -> None:
    leg = dice.choice(world.legs)
    leg.reset()
    await _for_a_while(leg, Mode.REFUSE, dice.uniform(0.5, 3))
    world.count("legs refused")


async def _for_a_while(leg: Proxy, mode: Mode, seconds: float) -> None:
    leg.mode = mode
    try:
        await asyncio.sleep(seconds)
    finally:
        leg.mode = Mode.PASS
        if mode is not Mode.STALL:
            leg.reset()  # an answer was swallowed: what comes next would be read as its own


async def slow_postgres(world: World, dice: random.Random) -> None:
    """Each piece takes its time on the way, and the table is locked again and again."""
    for hand in world.hands:
        hand.postgres.delay = dice.uniform(0.01, 0.05)
    try:
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            await _lock_now_and_then(world, dice)
    finally:
        for hand in world.hands:
            hand.postgres.delay = 0.0
    world.count("postgres slow")


async def _lock_now_and_then(world: World, dice: random.Random) -> None:
    connection = await asyncpg.connect(world.stack.dsn)
    try:
        for _ in range(5):
            async with connection.transaction():
                await connection.execute("LOCK TABLE sent_message IN EXCLUSIVE MODE")
                await asyncio.sleep(dice.uniform(0.1, 0.8))
            await asyncio.sleep(0.2)
    finally:
        await connection.close(timeout=5)


async def no_connections(world: World, dice: random.Random) -> None:
    """Take every connection that Postgres has, after all the others were cut off."""
    taken: list[asyncpg.Connection] = []
    try:
        await world.postgres.disconnect(world.stack.dsn)
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            while len(taken) <= CONNECTIONS:
                taken += [await asyncpg.connect(world.postgres.dsn, timeout=5)]
        await asyncio.sleep(dice.uniform(2, 6))
    finally:
        for connection in taken:
            connection.terminate()
    world.count("postgres without free connections")


async def step_a_clock(world: World, dice: random.Random) -> None:
    hand: Hand = dice.choice(world.hands)
    if hand.clock is None:
        return
    hand.clock.write_text(f"{dice.choice(STEPS):+d}")
    try:
        await asyncio.sleep(dice.uniform(3, 8))
    finally:
        hand.clock.write_text("+0")
    world.count("clocks stepped")


async def replay(world: World) -> None:
    """A new group, from the beginning of every topic: what was finished comes again."""
    for hand in world.hands:
        await hand.worker.kill()
    ends = [await world.kafka.end_offsets(topic) for topic in world.topics.values()]
    world.counted["records read again"] = sum(sum(end.values()) for end in ends)
    world.new_group()
    for hand in world.hands:
        hand.start()
    world.count("topics replayed")


ACTS: Sequence[Act] = (
    freeze, kill_kafka, kill_postgres, cut, stall, withhold, refuse, slow_postgres,
    no_connections, step_a_clock,
)  # fmt: skip
