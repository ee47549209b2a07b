-- Accepting: dedupe keys, users, addresses, notifications, deliveries and holds, in this order everywhere.

-- name: dedupe_take
INSERT INTO dedupe_keys (app, test, key, ntf, hash, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (app, test, key) DO UPDATE SET ntf = excluded.ntf, hash = excluded.hash, expires_at = excluded.expires_at
WHERE dedupe_keys.expires_at <= $7
RETURNING 1;

-- name: dedupe_find
SELECT ntf, hash FROM dedupe_keys WHERE app = $1 AND test = $2 AND key = $3 AND expires_at > $4;

-- A user as events make it of what was read: no row comes back when somebody else has changed it
-- since, unless to the very same.
-- name: user_add
INSERT INTO users (id, locale, timezone, email, phone, attributes, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (id) DO UPDATE SET updated_at = users.updated_at
WHERE users.locale = excluded.locale AND users.timezone = excluded.timezone AND users.email = excluded.email
  AND users.phone = excluded.phone AND users.attributes = excluded.attributes
RETURNING 1;

-- name: user_amend
UPDATE users SET locale = $2, timezone = $3, email = $4, phone = $5, attributes = $6, updated_at = $7
WHERE id = $1 AND (
  (locale = $8 AND timezone = $9 AND email = $10 AND phone = $11 AND COALESCE(NULLIF(attributes, ''), '{}') = $12)
  OR (locale = $2 AND timezone = $3 AND email = $4 AND phone = $5 AND attributes = $6))
RETURNING 1;

-- The address of another transaction wins, with its id.
-- name: address_add
INSERT INTO addresses (id, user_id, channel, provider, value, hash, status, reason, strikes, registered_at)
VALUES ($1, $2, $3, $4, $5, $6, 'active', '', 0, $7)
ON CONFLICT (user_id, channel, provider, hash) DO UPDATE SET value = excluded.value, status = 'active', reason = '', strikes = 0,
  struck_at = NULL, registered_at = excluded.registered_at, retired_at = NULL
RETURNING id;

-- name: notification_add
INSERT INTO notifications (id, app, test, type, user_id, category, catalog_version, dedupe_key, collapse_key, sensitive,
  data, decisions, accepted_at, expires_at, parts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: notification_exists
SELECT 1 FROM notifications WHERE id = $1;

-- name: delivery_add
INSERT INTO deliveries (ntf, n, lane, address_id, status, reason, due_at, claim_no, tries, tried, queued_at, expires_at, app, fresh_until)
VALUES ($1, $2, $3, $4, $5, '', $6, 0, 0, '', $7, $8, $9, $10);

-- name: hold_add
INSERT INTO holds (id, ntf, channel, reason, until, due_at, state) VALUES ($1, $2, $3, $4, $5, $6, 'waiting');

-- Releasing: the notification's row is locked first, then its hold is consumed.

-- name: notification_lock
SELECT 1 FROM notifications WHERE id = $1 {{lock}};

-- name: hold_consume
UPDATE holds SET state = 'released' WHERE id = $1 AND ntf = $2 AND state = 'waiting' RETURNING channel;

-- name: release_facts
SELECT n.decisions, (SELECT COALESCE(MAX(d.n), -1) + 1 FROM deliveries d WHERE d.ntf = n.id)
FROM notifications n WHERE n.id = $1;

-- name: decisions_set
UPDATE notifications SET decisions = $2 WHERE id = $1;

-- name: timeline_add
INSERT INTO timeline (ntf, at, kind, n, text) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (ntf, at, kind, n) DO NOTHING;
