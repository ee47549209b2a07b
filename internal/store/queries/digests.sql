-- Digests: an item joins the open one of its key, which locks it, and a full one closes. What is
-- closed becomes one notification, in the transaction that releases the holds of its items.

-- name: digest_join
INSERT INTO digests (id, app, test, user_id, type, key, state, size, opened_at, closes_at)
VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN CAST($9 AS BIGINT) <= 1 THEN 'closed' ELSE 'open' END, 1, CAST($7 AS BIGINT),
  CASE WHEN CAST($9 AS BIGINT) <= 1 THEN CAST($7 AS BIGINT) ELSE CAST($8 AS BIGINT) END)
ON CONFLICT (user_id, app, test, type, key) WHERE state = 'open' DO UPDATE SET size = digests.size + 1,
  state = CASE WHEN digests.size + 1 >= CAST($9 AS BIGINT) THEN 'closed' ELSE 'open' END,
  closes_at = CASE WHEN digests.size + 1 >= CAST($9 AS BIGINT) THEN excluded.opened_at ELSE digests.closes_at END
RETURNING id, closes_at;

-- name: digest_item_add
INSERT INTO digest_items (digest, ntf) VALUES ($1, $2) ON CONFLICT (digest, ntf) DO NOTHING;

-- name: digests_gathering
SELECT key, size, closes_at FROM digests WHERE user_id = $1 AND app = $2 AND test = $3 AND type = $4 AND state = 'open';

-- name: digest_next
SELECT MIN(closes_at) FROM digests WHERE state <> 'flushed';

-- What is closed already is taken again: whoever closed it may be gone.
-- name: digests_close
WITH due AS MATERIALIZED (
  SELECT id FROM digests WHERE state <> 'flushed' AND closes_at <= $1 ORDER BY closes_at LIMIT $2 {{skip}})
UPDATE digests SET state = 'closed' WHERE id IN (SELECT id FROM due)
RETURNING id, app, test, user_id, type, key, closes_at, continued;

-- name: digest_waiting
SELECT h.channel, {{notification}}
FROM digest_items i
JOIN notifications n ON n.id = i.ntf
JOIN holds h ON h.ntf = n.id AND h.reason = 'digested' AND h.state = 'waiting'
WHERE i.digest = $1 AND n.cancelled_at IS NULL
ORDER BY n.id, h.channel;

-- name: digest_state
SELECT state FROM digests WHERE id = $1;

-- name: digest_hold
UPDATE holds SET state = 'released' WHERE ntf = $1 AND channel = $2 AND reason = 'digested' AND state = 'waiting' RETURNING 1;

-- name: digest_flushed
UPDATE digests SET state = 'flushed', ntf = $2 WHERE id = $1 AND state = 'closed' RETURNING 1;

-- What did not fit into a digest is one of its own, which is closed, and due when the first was.
-- name: digest_split
INSERT INTO digests (id, app, test, user_id, type, key, state, size, opened_at, closes_at, continued)
SELECT $2, app, test, user_id, type, key, 'closed', CAST($3 AS BIGINT), opened_at, closes_at, CAST($4 AS BIGINT) FROM digests WHERE id = $1;

-- name: digest_item_move
UPDATE digest_items SET digest = $3 WHERE digest = $1 AND ntf = $2;

-- What is not told of is no item of it: its hold was called off before.
-- name: digest_clean
DELETE FROM digest_items WHERE digest = $1
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = digest_items.ntf AND h.reason = 'digested' AND h.state = 'released');

-- name: digest_item_drop
DELETE FROM digest_items WHERE digest = $1 AND ntf = $2;

-- The digests that tell of a notification, and the notifications that a digest tells of.

-- name: digests_of
SELECT g.ntf, g.key, n.decisions, n.expires_at, n.cancelled_at
FROM digest_items i JOIN digests g ON g.id = i.digest JOIN notifications n ON n.id = g.ntf WHERE i.ntf = $1 ORDER BY g.ntf;

-- name: digest_deliveries
SELECT n, lane, status, reason, due_at, claim_no, tries, finished_at, COALESCE((
    SELECT MAX(t.text) FROM timeline t WHERE t.ntf = d.ntf AND t.n = d.n AND t.kind = 'decided' AND t.text LIKE 'the cause is %'
), '') FROM deliveries d WHERE ntf = $1 ORDER BY n;

-- name: digest_waits
SELECT channel, reason, until FROM holds WHERE ntf = $1 AND state = 'waiting' ORDER BY id;

-- name: digest_parts
SELECT i.ntf FROM digests g JOIN digest_items i ON i.digest = g.id WHERE g.ntf = $1 ORDER BY i.ntf;
