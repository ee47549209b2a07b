-- name: trail_notification
SELECT id, app, test, type, user_id, category, catalog_version, dedupe_key, collapse_key, sensitive, data, decisions,
       accepted_at, expires_at, cancelled_at
FROM notifications WHERE id = $1 AND ($2 = '' OR app = $2);

-- An address that was erased with its user leaves no value.
-- name: trail_deliveries
SELECT d.n, d.lane, d.address_id, d.status, d.reason, d.due_at, d.claim_no, d.tries, d.queued_at, d.finished_at,
       d.opened_at, d.clicked_at, d.read_at, d.complained_at, d.unsubscribed_at, d.sidelined_at,
       COALESCE(a.value, ''), COALESCE(a.provider, '')
FROM deliveries d LEFT JOIN addresses a ON a.id = d.address_id
WHERE d.ntf = $1 ORDER BY d.n;

-- name: trail_attempts
SELECT n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, retry_at, ref
FROM attempts WHERE ntf = $1 ORDER BY n, claim_no, late;

-- name: trail_receipts
SELECT n, claim_no, status, at, provider, ref, outcome, code, received_at
FROM receipts WHERE ntf = $1 ORDER BY n, received_at, at;

-- name: trail_holds
SELECT id, channel, reason, until, state, called_off FROM holds WHERE ntf = $1 ORDER BY id;

-- name: trail_timeline
SELECT at, kind, n, text FROM timeline WHERE ntf = $1 ORDER BY at, n;

-- Who holds a dedupe key, of one app or of all.
-- name: dedupe_holders
SELECT k.ntf FROM dedupe_keys k
WHERE k.app IN (SELECT name FROM apps UNION SELECT CAST($1 AS TEXT)) AND k.test IN (0, 1) AND k.key = $2 AND ($1 = '' OR k.app = $1);

-- The last of so many notifications and one, newest first: a list looks no further at a time.
-- name: list_floor
SELECT id FROM notifications WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- The same for one user.
-- name: list_of_user_floor
SELECT id FROM notifications WHERE user_id = $4 AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- A pause is of use to whoever was accepted before its end, as far as that is known.
-- name: trail_pauses
SELECT p.name, p.channel, p.cause, p.since, p.until, p.seen_at, p.over_at,
  EXISTS (SELECT 1 FROM processes x WHERE x.id = p.process)
FROM pauses p WHERE p.seen_at >= $1 ORDER BY p.since;

-- A page of notifications, each with one row a delivery, also of a digest that told of it on the channel, newest first. Channel and reason are
-- looked for in deliveries and holds, and in the decisions that led to neither.
-- name: list
SELECT c.id, c.app, c.test, c.type, c.user_id, c.category, c.catalog_version, c.dedupe_key, c.collapse_key, c.sensitive, '', '',
       c.accepted_at, c.expires_at, c.cancelled_at,
       (SELECT COUNT(*) FROM holds h WHERE h.state = 'waiting' AND (h.ntf = c.id OR h.ntf = g.ntf AND h.channel IN (SELECT p.channel FROM holds p WHERE p.ntf = c.id AND p.reason = 'digested' AND p.state = 'released'))),
       (SELECT x.cancelled_at FROM notifications x WHERE x.id = g.ntf), d.status, d.due_at, d.tries
FROM (
  SELECT * FROM notifications n
  WHERE n.id < $1 AND n.id >= $2 AND n.accepted_at >= $3 AND n.accepted_at < $4
    AND {{listed}}
  ORDER BY n.id DESC LIMIT $12
) c
LEFT JOIN digest_items i ON i.ntf = c.id
LEFT JOIN digests g ON g.id = i.digest
LEFT JOIN deliveries d ON d.ntf IN (c.id, g.ntf)
  AND (d.ntf = c.id OR EXISTS (SELECT 1 FROM holds p WHERE p.ntf = c.id AND p.reason = 'digested' AND p.state = 'released' AND d.lane LIKE p.channel || '.%'))
ORDER BY c.id DESC, d.n;

-- The same for one user, by the index of users.
-- name: list_of_user
SELECT c.id, c.app, c.test, c.type, c.user_id, c.category, c.catalog_version, c.dedupe_key, c.collapse_key, c.sensitive, '', '',
       c.accepted_at, c.expires_at, c.cancelled_at,
       (SELECT COUNT(*) FROM holds h WHERE h.state = 'waiting' AND (h.ntf = c.id OR h.ntf = g.ntf AND h.channel IN (SELECT p.channel FROM holds p WHERE p.ntf = c.id AND p.reason = 'digested' AND p.state = 'released'))),
       (SELECT x.cancelled_at FROM notifications x WHERE x.id = g.ntf), d.status, d.due_at, d.tries
FROM (
  SELECT * FROM notifications n
  WHERE n.user_id = $13 AND n.id < $1 AND n.id >= $2 AND n.accepted_at >= $3 AND n.accepted_at < $4
    AND {{listed}}
  ORDER BY n.id DESC LIMIT $12
) c
LEFT JOIN digest_items i ON i.ntf = c.id
LEFT JOIN digests g ON g.id = i.digest
LEFT JOIN deliveries d ON d.ntf IN (c.id, g.ntf)
  AND (d.ntf = c.id OR EXISTS (SELECT 1 FROM holds p WHERE p.ntf = c.id AND p.reason = 'digested' AND p.state = 'released' AND d.lane LIKE p.channel || '.%'))
ORDER BY c.id DESC, d.n;
