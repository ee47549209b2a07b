-- What users decide for themselves: when, how often, bundled or not, and by which consent.

-- When a hold is decided again: from its until on, spread a little, so that a morning's releases
-- do not all come at once. NULL: it waits for something else than a time, such as a digest that closes.
ALTER TABLE holds ADD COLUMN due_at BIGINT;
UPDATE holds SET due_at = until;
DROP INDEX holds_waiting;
CREATE INDEX holds_waiting ON holds (due_at) WHERE state = 'waiting' AND due_at IS NOT NULL;

-- How many notifications this one tells of; 0: it is no digest.
ALTER TABLE notifications ADD COLUMN parts BIGINT NOT NULL DEFAULT 0;

-- Append-only: who agreed to what, or took it back, in which words, when and by which way.
CREATE TABLE consents (
  id       {{bytes}} PRIMARY KEY,
  user_id  TEXT NOT NULL,
  category TEXT NOT NULL, -- '': all of them
  channel  TEXT NOT NULL, -- '': all of them
  action   TEXT NOT NULL CHECK (action IN ('asked', 'given', 'withdrawn')),
  wording  TEXT NOT NULL, -- what the person was shown
  version  TEXT NOT NULL, -- of that wording
  source   TEXT NOT NULL, -- api, page, unsubscribe, stop, start, complaint, operator
  app      TEXT NOT NULL, -- whose key it was; '': nobody's
  at       BIGINT NOT NULL
){{table}};
CREATE INDEX consents_of_user ON consents (user_id, id);

-- When a user was told something under a limit: times is a JSON list of instants, oldest first,
-- no longer than the limit counts. The row is locked before it is read to decide.
CREATE TABLE counters (
  user_id TEXT NOT NULL,
  scope   TEXT NOT NULL,
  times   TEXT NOT NULL,
  idle_at BIGINT NOT NULL, -- from then on it says nothing any more
  PRIMARY KEY (user_id, scope)
){{table}};
CREATE INDEX counters_idle ON counters (idle_at);

-- A digest gathers events of one type for one user under one key until it closes.
CREATE TABLE digests (
  id        {{bytes}} PRIMARY KEY,
  app       TEXT NOT NULL,
  test      BIGINT NOT NULL,
  user_id   TEXT NOT NULL,
  type      TEXT NOT NULL,
  key       TEXT NOT NULL,
  state     TEXT NOT NULL CHECK (state IN ('open', 'closed', 'flushed')),
  size      BIGINT NOT NULL,
  opened_at BIGINT NOT NULL,
  closes_at BIGINT NOT NULL,
  ntf       {{bytes}} -- the notification it became
){{table}};
CREATE UNIQUE INDEX digests_open ON digests (user_id, app, test, type, key) WHERE state = 'open';
CREATE INDEX digests_due ON digests (closes_at) WHERE state <> 'flushed';

CREATE TABLE digest_items (
  digest {{bytes}} NOT NULL,
  ntf    {{bytes}} NOT NULL,
  PRIMARY KEY (digest, ntf)
){{table}};
CREATE INDEX digest_items_of ON digest_items (ntf);

-- Sums by day (number of days since 1970 UTC) that outlive the detail.
CREATE TABLE daily (
  day        BIGINT NOT NULL,
  channel    TEXT NOT NULL,
  provider   TEXT NOT NULL, -- '': none was called
  category   TEXT NOT NULL,
  status     TEXT NOT NULL,
  deliveries BIGINT NOT NULL,
  PRIMARY KEY (day, channel, provider, category, status)
){{table}};
