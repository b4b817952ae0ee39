"""Files that go along with a mail: how many bytes of them fit, and how a JSON API is given one."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from consumer.model import Enclosed, Message, Rejected

MEGABYTE: Final = 1_000_000  # where a provider does not say which one it means, the smaller
# Bytes that one byte of a file takes in a mail: base64, with a line end after every 76 characters.
ENCODED: Final = 78 / 57
# Bytes of a provider's limit that are kept free of files: headers and both bodies.
BESIDE: Final = MEGABYTE
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\"/\\]{1,255}")
_TYPE: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)


def files_within(limit: int) -> int:
    """Return how many bytes of files surely fit into a mail of `limit` bytes."""
    return int((limit - BESIDE) / ENCODED)


def refuse_unfit(
    message: Message,
    enclosed: Sequence[Enclosed],
    limit: int | None,
    template: str | None = None,
) -> Rejected | None:
    """Find what a mail lacks, or has too much of: its files, and who makes its text.

    `limit`: bytes of all files, before they are encoded. `template`: the provider's own.
    """
    if template is None and not (message.text or message.html):
        return Rejected("it has no text, and this provider keeps no template of it")
    if tuple(each.attachment for each in enclosed) != message.attachments:
        return Rejected("its attachments are not at hand, and it never goes without them")
    for place, each in enumerate(enclosed, 1):
        file = each.attachment
        if not (_NAME.fullmatch(file.name) and _TYPE.fullmatch(file.content_type)):
            return Rejected(f"attachment {place} has a name or type that no header can hold")
        if not each.content:
            return Rejected(f"attachment {place} is empty")
    size = size_of(enclosed)
    if limit is not None and size > limit:
        return Rejected(f"attachments of {size} bytes, the provider takes {limit}")
    return None


def size_of(enclosed: Sequence[Enclosed]) -> int:
    return sum(len(each.content) for each in enclosed)


def base64_of(enclosed: Enclosed) -> str:
    return b64encode(enclosed.content).decode("ascii")
