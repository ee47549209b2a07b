-- The log. Times are microseconds since 1970 UTC; ids are 16 bytes; truth values are 0 or 1.
-- {{bytes}} and {{table}} are the two words that differ between the engines.

CREATE TABLE apps (
  name       TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL
);

CREATE TABLE keys (
  id         TEXT PRIMARY KEY,
  app        TEXT NOT NULL,
  hash       {{bytes}} NOT NULL,
  scopes     TEXT NOT NULL,
  test       BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);

CREATE TABLE users (
  id         TEXT PRIMARY KEY,
  locale     TEXT NOT NULL,
  timezone   TEXT NOT NULL,
  email      TEXT NOT NULL,
  phone      TEXT NOT NULL,
  attributes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

-- hash is the keyed hash of channel and normalised value, as in suppressions. A push token that
-- moves to another user leaves a retired row with the user who had it.
CREATE TABLE addresses (
  id            {{bytes}} PRIMARY KEY,
  user_id       TEXT NOT NULL,
  channel       TEXT NOT NULL CHECK (channel IN ('push', 'sms', 'email', 'inbox', 'webhook')),
  provider      TEXT NOT NULL,
  value         TEXT NOT NULL,
  hash          {{bytes}} NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('active', 'quarantined', 'retired')),
  reason        TEXT NOT NULL,
  strikes       BIGINT NOT NULL,
  struck_at     BIGINT,
  registered_at BIGINT NOT NULL,
  last_ok_at    BIGINT,
  retired_at    BIGINT
);
CREATE UNIQUE INDEX addresses_of_user ON addresses (user_id, channel, provider, value);
CREATE UNIQUE INDEX addresses_token ON addresses (provider, value) WHERE channel = 'push' AND status <> 'retired';

CREATE TABLE suppressions (
  channel TEXT NOT NULL,
  hash    {{bytes}} NOT NULL,
  reason  TEXT NOT NULL CHECK (reason IN ('opted_out_channel', 'suppressed_bounce', 'suppressed_complaint')),
  source  TEXT NOT NULL,
  at      BIGINT NOT NULL,
  PRIMARY KEY (channel, hash)
);

CREATE TABLE preferences (
  user_id    TEXT PRIMARY KEY,
  doc        TEXT NOT NULL,
  version    BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE TABLE catalogues (
  version    BIGINT PRIMARY KEY,
  hash       TEXT NOT NULL UNIQUE,
  files      TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- Callers' keys are random, so they have a small table of their own with a time to live.
CREATE TABLE dedupe_keys (
  app        TEXT NOT NULL,
  test       BIGINT NOT NULL,
  key        TEXT NOT NULL,
  ntf        {{bytes}} NOT NULL,
  hash       {{bytes}} NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (app, test, key)
){{table}};
CREATE INDEX dedupe_keys_expiry ON dedupe_keys (expires_at);

CREATE TABLE notifications (
  id              {{bytes}} PRIMARY KEY,
  app             TEXT NOT NULL,
  test            BIGINT NOT NULL,
  type            TEXT NOT NULL,
  user_id         TEXT NOT NULL,
  category        TEXT NOT NULL,
  catalog_version BIGINT NOT NULL,
  dedupe_key      TEXT NOT NULL,
  collapse_key    TEXT NOT NULL,
  sensitive       BIGINT NOT NULL,
  data            TEXT NOT NULL,
  decisions       TEXT NOT NULL,
  accepted_at     BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL,
  cancelled_at    BIGINT
){{table}};
CREATE INDEX notifications_of_user ON notifications (user_id, id);
-- Sealed data that is not erased yet.
CREATE INDEX notifications_sealed ON notifications (id) WHERE sensitive = 1 AND data <> '';

CREATE TABLE deliveries (
  ntf             {{bytes}} NOT NULL,
  n               BIGINT NOT NULL,
  lane            TEXT NOT NULL,
  address_id      {{bytes}} NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('parked', 'queued', 'sending', 'unknown', 'sent', 'delivered',
                  'bounced', 'failed', 'expired', 'cancelled', 'suppressed', 'dead')),
  reason          TEXT NOT NULL,
  due_at          BIGINT,
  claim_no        BIGINT NOT NULL,
  tries           BIGINT NOT NULL,
  tried           TEXT NOT NULL,
  queued_at       BIGINT NOT NULL,
  expires_at      BIGINT NOT NULL,
  finished_at     BIGINT,
  opened_at       BIGINT,
  clicked_at      BIGINT,
  read_at         BIGINT,
  complained_at   BIGINT,
  unsubscribed_at BIGINT,
  PRIMARY KEY (ntf, n)
){{table}};
-- expires_at rides along so that the sweep of what expired reads the index alone.
CREATE INDEX deliveries_live ON deliveries (lane, status, due_at, expires_at) WHERE due_at IS NOT NULL;

-- Append-only but for what receipts say of an attempt. late is 1 for news of a claim that was lost.
CREATE TABLE attempts (
  ntf         {{bytes}} NOT NULL,
  n           BIGINT NOT NULL,
  claim_no    BIGINT NOT NULL,
  late        BIGINT NOT NULL,
  provider    TEXT NOT NULL,
  started_at  BIGINT NOT NULL,
  ended_at    BIGINT NOT NULL,
  outcome     TEXT NOT NULL,
  http_status BIGINT NOT NULL,
  code        TEXT NOT NULL,
  text        TEXT NOT NULL,
  retry_at    BIGINT,
  ref         TEXT NOT NULL,
  PRIMARY KEY (ntf, n, claim_no, late)
){{table}};

-- Callbacks that do not carry our delivery's id are found by the provider's reference.
CREATE INDEX attempts_ref ON attempts (ref) WHERE ref <> '';

CREATE TABLE receipts (
  ntf         {{bytes}} NOT NULL,
  n           BIGINT NOT NULL,
  claim_no    BIGINT NOT NULL,
  status      TEXT NOT NULL,
  at          BIGINT NOT NULL,
  provider    TEXT NOT NULL,
  ref         TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  code        TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (ntf, n, claim_no, status, at)
){{table}};

-- Receipts that found no attempt; they wait here for it.
CREATE TABLE stray_receipts (
  provider    TEXT NOT NULL,
  ref         TEXT NOT NULL,
  status      TEXT NOT NULL,
  at          BIGINT NOT NULL,
  delivery    {{bytes}},
  claim_no    BIGINT NOT NULL,
  outcome     TEXT NOT NULL,
  code        TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (provider, ref, status, at)
);

CREATE TABLE holds (
  id      {{bytes}} PRIMARY KEY,
  ntf     {{bytes}} NOT NULL,
  channel TEXT NOT NULL,
  reason  TEXT NOT NULL,
  until   BIGINT NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('waiting', 'released', 'cancelled'))
);
CREATE INDEX holds_of_notification ON holds (ntf);
CREATE INDEX holds_waiting ON holds (until) WHERE state = 'waiting';

-- What no other table tells of a notification: token moves, retired addresses, cancels, expiries.
CREATE TABLE timeline (
  ntf  {{bytes}} NOT NULL,
  at   BIGINT NOT NULL,
  kind TEXT NOT NULL,
  n    BIGINT NOT NULL, -- -1: the notification as a whole
  text TEXT NOT NULL,
  PRIMARY KEY (ntf, at, kind, n)
){{table}};

CREATE TABLE lanes (
  name      TEXT PRIMARY KEY,
  paused_at BIGINT
);

-- One row that is written to learn whether writing works.
CREATE TABLE pulse (
  id BIGINT PRIMARY KEY,
  at BIGINT NOT NULL
);
