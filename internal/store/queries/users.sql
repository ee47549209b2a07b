-- name: user
SELECT id, locale, timezone, email, phone, attributes, created_at, updated_at FROM users WHERE id = $1;

-- name: user_lock
SELECT id, locale, timezone, email, phone, attributes, created_at, updated_at FROM users WHERE id = $1 {{lock}};

-- name: user_make
INSERT INTO users (id, locale, timezone, email, phone, attributes, created_at, updated_at)
VALUES ($1, '', '', '', '', '{}', $2, $2)
ON CONFLICT (id) DO NOTHING;

-- name: user_set
UPDATE users SET locale = $2, timezone = $3, email = $4, phone = $5, attributes = $6, updated_at = $7 WHERE id = $1;

-- name: preferences
SELECT doc, version FROM preferences WHERE user_id = $1;

-- name: preferences_put
INSERT INTO preferences (user_id, doc, version, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET doc = excluded.doc, version = excluded.version, updated_at = excluded.updated_at;

-- What is shown beside a user's preferences, their clock and their language, was changed.
-- name: preferences_turn
INSERT INTO preferences (user_id, doc, version, updated_at) VALUES ($1, '{}', 1, $2)
ON CONFLICT (user_id) DO UPDATE SET version = preferences.version + 1, updated_at = excluded.updated_at;

-- A complaint is the weakest stop: what also bounced, or said stop, counts as that.
-- name: suppress
INSERT INTO suppressions (channel, hash, reason, source, at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (channel, hash) DO UPDATE SET reason = excluded.reason, source = excluded.source, at = excluded.at
WHERE suppressions.reason = 'suppressed_complaint' AND excluded.reason <> 'suppressed_complaint';

-- name: unsuppress
DELETE FROM suppressions WHERE channel = $1 AND hash = $2;

-- What waits for the end of a user's quiet hours is decided again at once when the hours or the
-- zone change. What is scheduled is decided when it is due, with what holds then; what others hold
-- at this moment they are about to decide themselves.

-- name: quiet_holds_wake
WITH mine AS MATERIALIZED (
  SELECT id FROM holds
  WHERE state = 'waiting' AND reason = 'quiet_hours' AND due_at >= until AND due_at > $2
    AND ntf IN (SELECT id FROM notifications WHERE user_id = $1) {{skip}})
UPDATE holds SET due_at = $2 WHERE id IN (SELECT id FROM mine);

-- name: quiet_parked_wake
WITH mine AS MATERIALIZED (
  SELECT ntf, n FROM deliveries
  WHERE status = 'parked' AND due_at > $2 AND ntf IN (SELECT id FROM notifications WHERE user_id = $1)
    AND (reason = 'quiet_hours' OR reason = 'redriven' AND EXISTS (
      SELECT 1 FROM timeline t WHERE t.ntf = deliveries.ntf AND t.n = deliveries.n AND t.kind = 'held')) {{skip}})
UPDATE deliveries SET due_at = $2 WHERE (ntf, n) IN (SELECT ntf, n FROM mine);

-- name: suppressions_of_user
SELECT DISTINCT s.channel, s.reason, s.at FROM suppressions s
JOIN addresses a ON a.channel = s.channel AND a.hash = s.hash
WHERE a.user_id = $1 ORDER BY s.at;

-- name: notifications_of_user
SELECT id, app, test, type, user_id, category, catalog_version, dedupe_key, collapse_key, sensitive, data, decisions,
       accepted_at, expires_at, cancelled_at
FROM notifications WHERE user_id = $1 ORDER BY id DESC;

-- name: holds_of_user
SELECT h.id, h.ntf, h.channel, h.reason, h.until, h.state
FROM notifications n JOIN holds h ON h.ntf = n.id WHERE n.user_id = $1 ORDER BY h.id DESC;

-- name: digests_of_user
SELECT id, app, test, type, key, state, opened_at, closes_at, ntf FROM digests WHERE user_id = $1 ORDER BY id DESC;

-- name: digest_items_of_user
SELECT i.digest, i.ntf FROM digests g JOIN digest_items i ON i.digest = g.id WHERE g.user_id = $1 ORDER BY i.digest, i.ntf;

-- name: counters_of_user
SELECT scope, times, idle_at FROM counters WHERE user_id = $1 ORDER BY scope;

-- The statements of an erasure, in the order in which rows are locked. The mark comes first: it
-- keeps what is under way from being tried again, and what ended badly from being redriven.
-- name: erase_mark
UPDATE notifications SET cancelled_at = $2
WHERE user_id = $1 AND cancelled_at IS NULL
  AND (EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = notifications.id AND (d.due_at IS NOT NULL OR d.status IN ('dead', 'failed', 'unknown')))
    OR EXISTS (SELECT 1 FROM holds h WHERE h.ntf = notifications.id AND h.state = 'waiting')
    OR EXISTS (SELECT 1 FROM digest_items i JOIN digests g ON g.id = i.digest WHERE i.ntf = notifications.id AND g.ntf IS NOT NULL
      AND (EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = g.ntf AND d.due_at IS NOT NULL)
        OR EXISTS (SELECT 1 FROM holds h WHERE h.ntf = g.ntf AND h.state = 'waiting'))));

-- What is accepted for the user at this moment makes them anew, once they are gone: nothing is
-- left behind that belongs to nobody.
-- name: erase_alone
{{alone}};

-- name: erase_told
INSERT INTO timeline (ntf, at, kind, n, text)
SELECT id, CAST($2 AS BIGINT), 'cancelled', -1, CAST($3 AS TEXT) FROM notifications WHERE user_id = $1 AND cancelled_at = $2
ON CONFLICT (ntf, at, kind, n) DO NOTHING;

-- A provider's own words may quote whom it was to reach.
-- name: erase_words
UPDATE attempts SET text = '' WHERE text <> '' AND ntf IN (SELECT id FROM notifications WHERE user_id = $1);

-- name: erase_user_data
UPDATE notifications SET user_id = $2, data = '', collapse_key = '', dedupe_key = '' WHERE user_id = $1;

-- name: erase_deaths
INSERT INTO timeline (ntf, at, kind, n, text)
SELECT ntf, finished_at, 'died', n, reason FROM deliveries
WHERE ntf IN (SELECT id FROM notifications WHERE user_id = $1) AND status = 'dead'
ON CONFLICT (ntf, at, kind, n) DO NOTHING;

-- name: erase_deliveries
UPDATE deliveries SET status = 'cancelled', reason = 'erased', due_at = NULL, finished_at = $2
WHERE ntf IN (SELECT id FROM notifications WHERE user_id = $1) AND status IN ('parked', 'queued', 'dead')
RETURNING lane;

-- What is being sent goes on, and bears the mark that it is not to be sent again.
-- name: erase_under_way
UPDATE deliveries SET reason = 'erased'
WHERE ntf IN (SELECT id FROM notifications WHERE user_id = $1) AND status IN ('sending', 'unknown') AND due_at IS NOT NULL;

-- name: erase_holds
UPDATE holds SET state = 'cancelled', called_off = 'erased'
WHERE ntf IN (SELECT id FROM notifications WHERE user_id = $1) AND state = 'waiting';

-- name: erase_counters
DELETE FROM counters WHERE user_id = $1;

-- name: erase_preferences
DELETE FROM preferences WHERE user_id = $1;

-- Keys are the callers' own words: they may name the person.
-- name: erase_dedupe
DELETE FROM dedupe_keys WHERE (app, test, key, ntf) IN
  (SELECT app, test, dedupe_key, id FROM notifications WHERE user_id = $1 AND dedupe_key <> '');

-- What gathered is gone with its holds. What was made into a notification stays its parts' reason, without the
-- key, which is of the callers' data.
-- name: erase_digest_items
DELETE FROM digest_items WHERE digest IN (SELECT id FROM digests WHERE user_id = $1 AND ntf IS NULL);

-- name: erase_digests
DELETE FROM digests WHERE user_id = $1 AND ntf IS NULL;

-- name: erase_digest_keys
SELECT id, key FROM digests WHERE user_id = $1;

-- name: erase_digest_key
UPDATE digests SET user_id = $2, key = $3 WHERE id = $1;

-- name: erase_consents
DELETE FROM consents WHERE user_id = $1;

-- name: erase_addresses
DELETE FROM addresses WHERE user_id = $1;

-- name: erase_user
DELETE FROM users WHERE id = $1;
