"""A process that is frozen in the middle of an upload, past its lease, sends no rest on waking."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from tests.integration.providers.test_pieces import Deaf

ROOT = Path(__file__).parents[3]
LEFT = 1.0  # seconds that the last moment is away when the upload begins
UPLOADS = f"""
import asyncio, sys
from consumer.model import Attachment, Enclosed, Lease, elapsed
from tests.doubles.mails import mail
from tests.integration.providers.ear import provider_for

FILE = Attachment("scan.tiff", "image/tiff", "0" * 64, "https://files.example/", 1 << 24)

async def main(url):
    async with provider_for(url, timeout=30) as provider:
        ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, bytes(6 << 20)),))
        lease = Lease("k", 1, "t", elapsed() + provider.timeout + {LEFT})
        answer = await provider.attempt(ready, lease)
        print(len(ready.body), type(answer).__name__)

asyncio.run(main(sys.argv[1]))
"""


async def test_what_was_frozen_past_its_lease_is_not_completed_on_waking() -> None:
    """The kernel goes on with what it was given; the last piece was not among it."""
    deaf = Deaf()
    server = await asyncio.start_server(deaf, "127.0.0.1", 0, limit=1 << 10)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", UPLOADS, url, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    await deaf.begun.wait()
    child.send_signal(signal.SIGSTOP)
    await asyncio.sleep(2 * LEFT)
    deaf.go_on.set()  # whatever has left so far is read meanwhile
    await asyncio.sleep(LEFT / 2)
    child.send_signal(signal.SIGCONT)
    output, _ = await child.communicate()
    size, answer = output.decode().split()
    await deaf.ended.wait()
    server.close()
    assert answer == "TooLate"
    assert 0 < len(deaf.got) < int(size)
