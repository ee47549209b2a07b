-- Late work waits aside. It bears the instant at which it was set aside, and is fresh_until nothing from then on.

ALTER TABLE deliveries ADD COLUMN sidelined_at BIGINT;
-- What may become late while it is parked.
CREATE INDEX deliveries_fresh ON deliveries (lane, fresh_until) WHERE status = 'parked' AND fresh_until IS NOT NULL;
-- What waits aside.
CREATE INDEX deliveries_aside ON deliveries (lane, app, due_at) WHERE status = 'parked' AND reason = 'sidelined';
-- What expires while it is parked; what is in a lane is little enough to be looked through.
CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE status = 'parked';

-- How many deliveries of a lane finished, by span of time: all processes add to it what they
-- finished, so that each of them knows how fast a lane drains.
CREATE TABLE drained (
  lane     TEXT NOT NULL,
  since    BIGINT NOT NULL,
  finished BIGINT NOT NULL,
  PRIMARY KEY (lane, since)
);
