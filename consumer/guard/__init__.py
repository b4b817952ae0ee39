"""The guard's room: the only SQL of the service.

Guard           look, claim, next_attempt, record; park, take_due; prove, hear, put_off, stale;
                leases, upkeep, reading
judge           what a found row means for a record (`verdict.py`, pure)
migrate         the schema and the stamp of its environment (`schema.py`)

guard.py ─▶ connections.py   of one worker
         ─▶ queues.py        the hot statements, each with its connection
         ─▶ batches.py       what arrives while a statement runs forms the next one
         ─▶ lanes.py         one connection: repeats, timeouts
         ─▶ claims.py (▶ takeovers.py)   attempts.py   leases.py
            outcomes.py, proofs.py (▶ transitions.py, pure; ▶ writes.py)
            parking.py   doubts.py   hearing.py   sweep.py   telling.py
            reading.py   letters.py   history.py   rows.py
            upkeep.py ▶ wiping.py, blanking.py
desk.py  ─▶ operators.py   settling.py   resends.py   links.py      what a person asks for
         ─▶ forgetting.py ▶ erasing.py, mentions.py (pure)
letters  ─▶ privacy.py ▶ sealing.py                   what of a record is written, and in what form
"""

from consumer.guard.errors import (
    GuardClosedError,
    GuardError,
    LoginRefusedError,
    MissingRightsError,
    PostgresUnreachableError,
    ReleaseTooOldError,
    SchemaMissingError,
    SchemaTooOldError,
    SetupError,
    WrongEnvironmentError,
)
from consumer.guard.guard import Guard
from consumer.guard.hearing import NewsDue
from consumer.guard.history import Happening
from consumer.guard.lanes import Address
from consumer.guard.leases import renew_interval
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.parking import Age, Due
from consumer.guard.reading import Query, Story
from consumer.guard.schema import check_schema, migrate
from consumer.guard.verdict import (
    Abandoned,
    AlsoParked,
    Conflict,
    Duplicate,
    KeyDrift,
    Redelivery,
    TakeOver,
    Verdict,
    Wait,
    judge,
)

__all__ = [
    "Abandoned",
    "Address",
    "Age",
    "AlsoParked",
    "Conflict",
    "DeadLetter",
    "Due",
    "Duplicate",
    "Guard",
    "GuardClosedError",
    "GuardError",
    "Happening",
    "KeyDrift",
    "LetterStatus",
    "LoginRefusedError",
    "MissingRightsError",
    "NewsDue",
    "PostgresUnreachableError",
    "Query",
    "Redelivery",
    "ReleaseTooOldError",
    "SchemaMissingError",
    "SchemaTooOldError",
    "SetupError",
    "Story",
    "TakeOver",
    "Verdict",
    "Wait",
    "WrongEnvironmentError",
    "check_schema",
    "judge",
    "migrate",
    "renew_interval",
]
