"""The vocabulary: what walks through the service, and what each step may answer.

Nothing here does I/O and nothing here imports the rest of the house; everything else imports this.

    Record        what Kafka handed over, byte for byte
    └─ Event      decoded and well formed; has an event type
       └─ Mail    what the catalogue makes of it: key, recipient, fingerprint, context
          └─ Message     the rendered email, one recipient
             └─ Prepared the bytes one provider will be sent

    Bad           no mail can come of this record: a dead letter with a reason
    Skipped       a written rule says that no mail comes of it
    NeedsSchema   cannot be read before the registry was asked for a schema

    Answer        what one attempt (one request to a provider) came to
    ├─ Accepted   the provider took it and named it
    ├─ TooLate    nothing left this process: past its deadline, or called back
    ├─ Transient  certainly not sent; another attempt may succeed
    ├─ SlowDown   certainly not sent; the provider asks for patience
    ├─ Refused    certainly not sent; never for this recipient
    ├─ Rejected   certainly not sent; never this message
    ├─ Blocked    certainly not sent; nothing from this account (or sender) goes out
    └─ Unclear    nobody knows: bytes went out and no readable answer came

    Transition    what is written on the guard row when an attempt is over (docs on each)
    ├─ MarkSent  ├─ MarkFailed  ├─ MarkWaiting  ├─ MarkParked  ├─ MarkUnknown  └─ MarkExpired
"""

from consumer.model.attempts import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.model.mails import (
    KEY_FIELD,
    Address,
    Attachment,
    Carrier,
    Edition,
    Enclosed,
    Mail,
    MailType,
    Message,
    OnUnknown,
    Prepared,
    Priority,
)
from consumer.model.outcomes import (
    News,
    Notice,
    Outcome,
    OutcomeStatus,
)
from consumer.model.records import (
    Bad,
    Coordinates,
    Event,
    Json,
    NeedsSchema,
    NoSchema,
    Reason,
    Record,
    Schema,
    Skipped,
    SkipRule,
)
from consumer.model.rows import (
    FIRST_LOOK,
    IMPORTED,
    IN_FLIGHT,
    OPEN,
    Claim,
    ClaimResult,
    Evidence,
    Fenced,
    Found,
    Granted,
    Lease,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Recorded,
    RecordResult,
    Row,
    Status,
    Transition,
    elapsed,
)

__all__ = [
    "FIRST_LOOK",
    "IMPORTED",
    "IN_FLIGHT",
    "KEY_FIELD",
    "OPEN",
    "Accepted",
    "Address",
    "Answer",
    "Attachment",
    "Bad",
    "Blocked",
    "Carrier",
    "Claim",
    "ClaimResult",
    "Coordinates",
    "Edition",
    "Enclosed",
    "Event",
    "Evidence",
    "Fenced",
    "Found",
    "Granted",
    "Json",
    "Lease",
    "Mail",
    "MailType",
    "MarkExpired",
    "MarkFailed",
    "MarkParked",
    "MarkSent",
    "MarkUnknown",
    "MarkWaiting",
    "Message",
    "NeedsSchema",
    "News",
    "NoSchema",
    "Notice",
    "OnUnknown",
    "Outcome",
    "OutcomeStatus",
    "Prepared",
    "Priority",
    "Reason",
    "Record",
    "RecordResult",
    "Recorded",
    "Refused",
    "Rejected",
    "Row",
    "Schema",
    "Scope",
    "SkipRule",
    "Skipped",
    "SlowDown",
    "Status",
    "TooLate",
    "Transient",
    "Transition",
    "Unclear",
    "elapsed",
]
