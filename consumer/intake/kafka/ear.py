"""Whether the cluster still answers: the client says of brokers that are away nothing to nobody.

Failed heartbeats and fetches are repeated for ever, and no call raises. But each answer passes one
place, and a healthy member has several a second, or a heartbeat's at least. So silence is noticed
without a request of our own, and a question settles what it means: a member whose join waits for
others hears nothing either.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

_ANSWER_WITHIN = 5.0  # seconds


class Ear:
    """Put on a client that is started; it hears whatever answer comes from any broker."""

    def __init__(self, client: Any) -> None:
        self.last = time.monotonic()  # when the cluster last answered
        self._client = client
        self._send = client.send
        client.send = self._send_and_hear

    async def hears(self, silence: float) -> bool:
        """Tell whether the cluster answered in the last `silence` seconds, or does so if asked."""
        if time.monotonic() - self.last < silence or await self._asked():
            return True
        return time.monotonic() - self.last < silence  # something else came meanwhile

    async def _asked(self) -> bool:
        try:
            async with asyncio.timeout(_ANSWER_WITHIN):
                answered = bool(await self._client.force_metadata_update())
        except TimeoutError:
            return False
        if answered:
            self.last = time.monotonic()
        return answered

    async def _send_and_hear(self, *request: Any, **options: Any) -> Any:
        answer = await self._send(*request, **options)
        self.last = time.monotonic()
        return answer
