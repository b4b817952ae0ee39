-- The guard: one row a key, and the unique key is the guarantee.
--
-- Machine strings collate "C": compared byte by byte, the same on every system. fillfactor 50 and no
-- index on (or predicated on) a column that an outcome changes: every outcome update is then HOT.
CREATE TABLE sent_message (
    idempotency_key     text COLLATE "C" PRIMARY KEY,
    event_type          text COLLATE "C" NOT NULL,
    recipient           text NOT NULL,
    status              text COLLATE "C" NOT NULL,
    fingerprint         text COLLATE "C" NOT NULL,
    catalogue           text COLLATE "C" NOT NULL,
    provider            text COLLATE "C" NOT NULL,
    account             text COLLATE "C" NOT NULL,
    attempts            integer NOT NULL,
    round               integer NOT NULL DEFAULT 0,
    epoch               integer NOT NULL,
    owner               text COLLATE "C" NOT NULL,
    token               text COLLATE "C" NOT NULL,
    lease_until         timestamptz,
    first_attempt_at    timestamptz,
    attempt_deadline    timestamptz,
    body_hash           bytea,
    doubt_since         timestamptz,
    doubt_provider      text COLLATE "C",
    provider_message_id text COLLATE "C",
    sent_at             timestamptz,
    topic               text COLLATE "C",
    "partition"         integer,
    "offset"            bigint,
    record_timestamp    bigint,
    error               text,
    claimed_at          timestamptz NOT NULL,
    outcome_due         boolean NOT NULL DEFAULT false,

    CONSTRAINT status_known CHECK (
        status IN ('sending', 'waiting', 'sent', 'failed', 'unknown', 'discarded', 'expired')),
    CONSTRAINT counters_grow CHECK (attempts >= 0 AND round >= 0 AND epoch >= 1),
    CONSTRAINT sending_has_lease CHECK (status <> 'sending' OR lease_until IS NOT NULL),
    CONSTRAINT only_flights_have_lease CHECK (
        lease_until IS NULL OR status IN ('sending', 'waiting')),
    CONSTRAINT sent_has_proof CHECK (
        (status = 'sent') = (sent_at IS NOT NULL)
        AND (status <> 'sent' OR provider_message_id IS NOT NULL)),
    CONSTRAINT doubt_is_whole CHECK ((doubt_since IS NULL) = (doubt_provider IS NULL)),
    CONSTRAINT unknown_is_doubt CHECK (status <> 'unknown' OR doubt_since IS NOT NULL),
    CONSTRAINT doubt_stands CHECK (
        doubt_since IS NULL OR status IN ('sending', 'unknown', 'discarded')),
    CONSTRAINT coordinates_are_whole CHECK (
        num_nulls(topic, "partition", "offset", record_timestamp) IN (0, 4)),
    CONSTRAINT open_rows_have_coordinates CHECK (
        topic IS NOT NULL OR status NOT IN ('sending', 'waiting', 'unknown'))
) WITH (fillfactor = 50);

-- One record, one key. The offset first: neighbours in a partition are neighbours in the index.
CREATE UNIQUE INDEX sent_message_coordinates
    ON sent_message ("offset", "partition", topic, event_type, record_timestamp);

-- For sweep and prune; a block range index costs an outcome nothing.
CREATE INDEX sent_message_claimed_at
    ON sent_message USING brin (claimed_at) WITH (pages_per_range = 32, autosummarize = on);


-- What an operator can see, or what the service is still at: the record whole, byte for byte.
CREATE TABLE dead_letter (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idempotency_key  text COLLATE "C",
    event_type       text COLLATE "C",
    reason           text COLLATE "C" NOT NULL,
    detail           text NOT NULL,
    status           text COLLATE "C" NOT NULL,
    topic            text COLLATE "C" NOT NULL,
    "partition"      integer NOT NULL,
    "offset"         bigint NOT NULL,
    record_timestamp bigint NOT NULL,
    record_key       bytea,
    record_value     bytea,
    header_names     bytea[] NOT NULL,
    header_values    bytea[] NOT NULL,
    failures         integer NOT NULL DEFAULT 1,
    first_failed_at  timestamptz NOT NULL DEFAULT now(),
    last_failed_at   timestamptz NOT NULL DEFAULT now(),
    next_check_at    timestamptz,

    CONSTRAINT reason_known CHECK (reason IN (
        'malformed', 'unsupported_format', 'unknown_type', 'unknown_version', 'invalid', 'bad_time',
        'conflict', 'key_drift', 'rejected', 'exhausted', 'unknown', 'fused', 'orphaned')),
    CONSTRAINT status_known CHECK (
        status IN ('parked', 'open', 'replayed', 'settled', 'discarded')),
    CONSTRAINT parked_has_date CHECK (status <> 'parked' OR next_check_at IS NOT NULL),
    CONSTRAINT headers_are_pairs CHECK (cardinality(header_names) = cardinality(header_values))
);

-- One letter a record and mail type, however often it fails; a record with no readable type has one too.
CREATE UNIQUE INDEX dead_letter_coordinates ON dead_letter
    ("offset", "partition", topic, record_timestamp, event_type) NULLS NOT DISTINCT;
CREATE INDEX dead_letter_key ON dead_letter (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX dead_letter_due ON dead_letter (next_check_at) WHERE status = 'parked';
CREATE INDEX dead_letter_status ON dead_letter (status, id);


-- Who is alive: a fleet-wide rate is shared by as many.
CREATE TABLE worker (
    owner      text COLLATE "C" PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now()
);
