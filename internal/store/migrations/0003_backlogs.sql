-- Backlogs: what waits in the log is fed to its lane app by app, so that none waits behind another's blast.

ALTER TABLE deliveries ADD COLUMN app TEXT NOT NULL DEFAULT '';
-- After it a delivery is late work, which waits aside so that fresh work is on time; NULL: never.
ALTER TABLE deliveries ADD COLUMN fresh_until BIGINT;
CREATE INDEX deliveries_parked ON deliveries (lane, app, due_at) WHERE status = 'parked';
CREATE INDEX deliveries_dead ON deliveries (ntf, n) WHERE status = 'dead';

-- What a newer event with the same key supersedes.
CREATE INDEX notifications_collapse ON notifications (app, user_id, collapse_key, id) WHERE collapse_key <> '';

-- What operators set for a lane; NULL: no rate.
ALTER TABLE lanes ADD COLUMN rate_per_second DOUBLE PRECISION;

-- Processes that work the lanes, so that each takes its share of a rate.
CREATE TABLE processes (
  id      {{bytes}} PRIMARY KEY,
  seen_at BIGINT NOT NULL
);
