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
