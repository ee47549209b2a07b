-- The ledger also tells of threads that are muted and of settings that are changed.
CREATE TABLE ledger (
  id       {{bytes}} PRIMARY KEY,
  user_id  TEXT NOT NULL,
  category TEXT NOT NULL, -- '': all of them
  channel  TEXT NOT NULL, -- '': all of them
  action   TEXT NOT NULL CHECK (action IN ('asked', 'given', 'withdrawn', 'muted', 'unmuted', 'set')),
  wording  TEXT NOT NULL, -- what the person was shown
  version  TEXT NOT NULL, -- of that wording
  source   TEXT NOT NULL, -- api, page, unsubscribe, stop, start, complaint, operator
  app      TEXT NOT NULL, -- whose key it was; '': nobody's
  at       BIGINT NOT NULL,
  about    TEXT NOT NULL, -- the key of a thread, or which setting
  value    TEXT NOT NULL  -- of the setting
){{table}};
INSERT INTO ledger (id, user_id, category, channel, action, wording, version, source, app, at, about, value)
SELECT id, user_id, category, channel, action, wording, version, source, app, at, '', '' FROM consents;
DROP TABLE consents;
ALTER TABLE ledger RENAME TO consents;
CREATE INDEX consents_of_user ON consents (user_id, id);
