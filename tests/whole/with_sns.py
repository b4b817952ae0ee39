"""The service as it is, but for one thing: SNS's certificate lies in a file, and not at Amazon.

`python -m tests.whole.with_sns CERTIFICATE run --config ...`
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from consumer.cli import main
from consumer.webhooks import building, ses


def finding(certificate: bytes) -> None:
    async def fetched(_: str) -> bytes:
        return certificate

    building.SesHook = partial(ses.SesHook, fetched_by=fetched)  # type: ignore[assignment, attr-defined]  # a class, made as before


if __name__ == "__main__":
    finding(Path(sys.argv.pop(1)).read_bytes())
    main()
