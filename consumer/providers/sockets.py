"""The sockets that mails leave through: a request goes out at once, or with the process it dies."""

from __future__ import annotations

import socket
import struct
from typing import Any, Final

SEND_BUFFER: Final = 1 << 20  # bytes asked for; the system may give less (Linux: net.core.wmem_max)
UNACKNOWLEDGED: Final = 10_000  # ms until written bytes that nobody acknowledges break the socket
_LINGER_NOT: Final = struct.pack("ii", 1, 0)


def provider_socket(address: tuple[Any, ...]) -> socket.socket:
    """Make a socket whose closing throws away what was not yet sent.

    SO_LINGER 0: after we gave an attempt up, the kernel must not deliver it behind our back.
    TCP_USER_TIMEOUT: nor may it go on retransmitting for minutes.
    SO_SNDBUF: a request without files fits, so it leaves in one write right after the deadline
    check; a larger one leaves in pieces that fit (`deadline`).
    """
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
    return made
