-- Spans in which a provider was left alone, or in which a lane stood still and does no more: the
-- lanes' own table has those that last. What waited for one of them is told so from here, so that
-- nothing is written for each row of a backlog.
CREATE TABLE pauses (
  name    TEXT NOT NULL, -- of the provider, or of the lane
  process {{bytes}} NOT NULL, -- that left the provider alone; empty: an operator paused the lane, for all
  since   BIGINT NOT NULL,
  channel TEXT NOT NULL,
  cause   TEXT NOT NULL CHECK (cause IN ('failing', 'asked', 'operator')),
  until   BIGINT, -- when the provider is called again
  seen_at BIGINT NOT NULL, -- when it was last known to last
  over_at BIGINT, -- NULL: it lasts, for as long as its process is alive
  PRIMARY KEY (name, process, since)
);
