"""Until when a mail may leave, and what "leave" means for one that is too large for one write.

A mail is in the world with its last byte: a request that is short of its `Content-Length` is
incomplete (RFC 9112, section 8) and as JSON or as a form has no end, and SMTP takes nothing before
the final dot. So what decides is the write of the last piece:

    before it   nothing was sent, however much has left: the rest is withheld, the connection reset
    after it    who knows

A mail of one piece, which nearly every mail without files is, leaves in one write: the deadline is
compared right before it, and the socket's buffer takes all of it at once (`sockets`). A larger one
leaves piece by piece, each when the one before was taken over, and the deadline is compared before
every piece, so that no upload begins too late and none is completed too late.

What is left: a process that is frozen right after the last comparison. Of a mail in one piece, that
is a moment of microseconds. Of a larger one, the kernel may still be busy with earlier pieces, and
up to a piece and a half may wait in our own buffers: on waking, it would go out. It is harmless
unless the freeze outlasts the lease and the provider has waited for the rest of a request all that
time, which servers do for seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from consumer.model import Lease, elapsed

PIECE: Final = 128 * 1024  # bytes; well inside what a socket buffer holds on any system


@dataclass(frozen=True, slots=True)
class Deadline:
    """The last moment is `min(lease.ends_at, until) - timeout`, on the clock `model.elapsed`."""

    lease: Lease
    until: float
    timeout: float

    @property
    def passed(self) -> bool:
        """Read `ends_at` at the moment of asking: renewal moves it."""
        return elapsed() > min(self.lease.ends_at, self.until) - self.timeout


def pieces(body: bytes) -> Iterator[memoryview]:
    """Cut a body without copying it: all but the last, which is never empty, are of one size."""
    view = memoryview(body)
    for start in range(0, len(view) or 1, PIECE):
        yield view[start : start + PIECE]
