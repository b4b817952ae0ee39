"""How a double in another process is told what to do, and asked what it accepted, over HTTP.

GET  /_control/ledger          requests, accepted, distinct_keys, accepted_twice
GET  /_control/accepted        every key, and the ids that were given for it
GET  /_control/keys/{key}      the same for one
POST /_control/script          [{"word": "drop"}, {"word": "status", "status": 429, ...}, ...]
POST /_control/always          {"word": "status", "status": 503}
POST /_control/rates           {"drop": 0.05, "seed": 7}
POST /_control/recipients      {"bounced@example.com": {"word": "status", ...}}
POST /_control/clear           an empty ledger, a clear script
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from tests.doubles.api import Reply, as_json
from tests.doubles.ledger import Ledger
from tests.doubles.script import Script, faults

DOOR = "/_control/"


@dataclass(frozen=True, slots=True)
class Control:
    provider: str
    ledger: Ledger
    script: Script
    clear: Callable[[], None]

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        what = path.removeprefix(DOOR)
        if method == "GET":
            return self._shown(what)
        given: Any = orjson.loads(body or b"null")
        match what:
            case "script":
                self.script.then(*faults(given))
            case "always":
                self.script.always(faults([given])[0])
            case "rates":
                self.script.at_rates(given, given.pop("seed", None))
            case "recipients":
                for address, fault in given.items():
                    self.script.for_recipient(address, faults([fault])[0])
            case "clear":
                self.clear()
            case _:
                return Reply(404)
        return as_json(200, {})

    def _shown(self, what: str) -> Reply:
        if what == "ledger":
            return as_json(200, {"provider": self.provider, **self.ledger.summary()})
        if what == "accepted":
            return as_json(200, self.ledger.accepted)
        if what.startswith("keys/"):
            return as_json(200, {"ids": self.ledger.accepted.get(what.removeprefix("keys/"), [])})
        return Reply(404)
