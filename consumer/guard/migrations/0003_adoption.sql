-- What a team needs on the day it adopts this service. Expands only: workers of the release before
-- go on beside this one. No index on anything that an outcome of sent_message changes.


-- ── Deploys while mail is in flight

-- Each digest that a folder of the catalogue had while a worker ran with it: repeats of an open row
-- are made with the files that the row was first claimed with, whatever was deployed since.
-- `fingerprints` names what a fingerprint depends on: two versions with the same one compare.
CREATE TABLE catalogue_version (
    digest        text COLLATE "C" PRIMARY KEY,
    mail_type     text COLLATE "C" NOT NULL,
    fingerprints  text COLLATE "C" NOT NULL,
    snapshot      bytea NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz NOT NULL DEFAULT now()
);


-- ── Privacy

-- A keyed hash of the address: by it a row is found when the address itself is blanked. Not indexed:
-- a claim would pay for it each time, and who looks for an address can wait for a second.
ALTER TABLE sent_message ADD COLUMN recipient_hash bytea;

-- `sealed`: under which key; then `record_value` holds key, value and headers, encrypted.
-- `wiped_at`: since when nothing of the record is kept.
ALTER TABLE dead_letter
    ADD COLUMN sealed   text COLLATE "C",
    ADD COLUMN wiped_at timestamptz,
    ADD CONSTRAINT sealed_is_one CHECK (
        sealed IS NULL OR (record_value IS NOT NULL AND record_key IS NULL
                           AND cardinality(header_names) = 0)) NOT VALID,
    ADD CONSTRAINT wiped_is_empty CHECK (
        wiped_at IS NULL OR (sealed IS NULL AND record_key IS NULL AND record_value IS NULL
                             AND cardinality(header_names) = 0)) NOT VALID;

-- How far the blanking of recipients has come, by blocks of the table, and when this pass began.
ALTER TABLE sweep
    ADD COLUMN blanked_block bigint NOT NULL DEFAULT 0,
    ADD COLUMN blanked_since timestamptz NOT NULL DEFAULT '2000-01-01 00:00+00';


-- ── Pauses

-- What a person has stopped: everything, a mail type or a provider. Workers look every two seconds.
CREATE TABLE pause (
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('all', 'type', 'provider')),
    name  text COLLATE "C" NOT NULL,
    by    text NOT NULL,
    why   text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, name),
    CONSTRAINT all_has_no_name CHECK ((scope = 'all') = (name = ''))
);


-- ── Cut-over

-- What a service in shadow mode would have done with each record, for `sendonce shadow-report`. No
-- address in it, nothing of a record. Deleted after `guard.retention`, by the service in shadow mode.
CREATE TABLE shadow (
    topic            text COLLATE "C" NOT NULL,
    "partition"      integer NOT NULL,
    "offset"         bigint NOT NULL,
    record_timestamp bigint NOT NULL,
    event_type       text COLLATE "C",
    idempotency_key  text COLLATE "C",
    fingerprint      text COLLATE "C",
    catalogue        text COLLATE "C",
    what             text COLLATE "C" NOT NULL,
    detail           text NOT NULL,
    occurred_at      timestamptz,
    noted_at         timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (topic, "partition", "offset", record_timestamp),
    CONSTRAINT what_known CHECK (
        what IN ('send', 'duplicate', 'refused', 'skipped', 'dead_letter'))
);
CREATE INDEX shadow_noted_at ON shadow USING brin (noted_at);
