-- What settled an outcome that nobody knew, what webhooks tell, and a history of all that was not
-- plainly accepted. Expands only: workers of the release before go on beside this one.
--
-- No index on any of the new columns of sent_message, so outcome updates stay HOT. The constraints
-- are NOT VALID: each write is checked, and no table is read while everybody waits for its lock.
--
-- Letters `unknown` that are open stay open: they may be old, and looking for evidence may end in
-- the type's own policy to send again. Whoever wants it asks for their replay.
ALTER TABLE sent_message
    ADD COLUMN settled_by        text COLLATE "C",
    ADD COLUMN second_message_id text COLLATE "C",
    ADD COLUMN version           integer NOT NULL DEFAULT 1,
    ADD COLUMN delivery          text COLLATE "C",
    ADD COLUMN delivery_at       timestamptz,
    ADD CONSTRAINT settled_by_known CHECK (settled_by IN (
        'repeat', 'lookup', 'webhook', 'absence', 'policy', 'person', 'late answer')) NOT VALID,
    ADD CONSTRAINT only_sent_twice CHECK (
        second_message_id IS NULL OR status = 'sent') NOT VALID,
    ADD CONSTRAINT version_counts CHECK (version >= 1) NOT VALID,
    ADD CONSTRAINT delivery_known CHECK (
        delivery IN ('accepted', 'delivered', 'bounced', 'complained')) NOT VALID,
    ADD CONSTRAINT delivery_is_whole CHECK (
        (delivery IS NULL) = (delivery_at IS NULL)
        AND (delivery IS NULL OR status = 'sent')) NOT VALID;

ALTER TABLE dead_letter
    ADD COLUMN replay boolean NOT NULL DEFAULT false,  -- a person made it due
    ADD COLUMN note   text;                            -- who did what with it, and why


-- Written in the transaction of what it tells. What repeats is counted, not written again.
CREATE TABLE history (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idempotency_key     text COLLATE "C" NOT NULL,
    at                  timestamptz NOT NULL DEFAULT now(),
    event               text COLLATE "C" NOT NULL,
    provider            text COLLATE "C",
    account             text COLLATE "C",
    epoch               integer NOT NULL,
    attempt             integer NOT NULL,
    provider_message_id text COLLATE "C",
    detail              text NOT NULL DEFAULT '',
    times               integer NOT NULL DEFAULT 1,
    last_at             timestamptz NOT NULL DEFAULT now(),
    due                 boolean NOT NULL DEFAULT false,  -- upstream has to hear of it

    CONSTRAINT event_is_short CHECK (length(event) BETWEEN 1 AND 40),
    CONSTRAINT times_count CHECK (times >= 1 AND last_at >= at)
);
CREATE INDEX history_key ON history (idempotency_key, id);
CREATE INDEX history_due ON history (id) WHERE due;
-- A webhook's event counts once, however often it is delivered; so does each second acceptance.
CREATE UNIQUE INDEX history_once
    ON history (idempotency_key, event, provider, provider_message_id)
    WHERE event IN ('double', 'bounced', 'complained');


-- How far the sweep has come, by `claimed_at`: below `done_until` no row is open without a letter.
CREATE TABLE sweep (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    done_until timestamptz NOT NULL DEFAULT '2000-01-01 00:00+00',
    next_from  timestamptz NOT NULL DEFAULT '2000-01-01 00:00+00'
);
INSERT INTO sweep DEFAULT VALUES;
