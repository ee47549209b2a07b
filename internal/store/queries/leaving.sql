-- Leaving: what a digest that is written already is not to tell of any more.

-- name: digest_of
SELECT g.ntf FROM digest_items i JOIN digests g ON g.id = i.digest WHERE i.ntf = $1 AND g.ntf IS NOT NULL ORDER BY g.ntf;

-- name: digest_content
SELECT n.data, n.expires_at, g.id, g.key FROM notifications n JOIN digests g ON g.ntf = n.id WHERE n.id = $1;

-- An attempt that got through, or whose outcome nobody knows, may have told of all that was in it.
-- name: digest_stands
SELECT d.n, d.lane, d.status, d.due_at,
  EXISTS (SELECT 1 FROM attempts a WHERE a.ntf = d.ntf AND a.n = d.n AND a.outcome IN ('ok', 'unknown'))
FROM deliveries d WHERE d.ntf = $1 ORDER BY d.n {{lock}};

-- name: digest_holds
SELECT channel FROM holds WHERE ntf = $1 AND state = 'waiting';

-- name: digest_part_off
UPDATE holds SET state = 'cancelled', called_off = $3 WHERE ntf = $1 AND channel = $2 AND reason = 'digested' AND state = 'released' RETURNING 1;

-- name: digest_part_on
SELECT channel FROM holds WHERE ntf = $1 AND reason = 'digested' AND state = 'released';

-- name: digest_shrink
UPDATE notifications SET data = $2, parts = $3, expires_at = $4 WHERE id = $1;

-- name: digest_shrink_deliveries
UPDATE deliveries SET expires_at = $2 WHERE ntf = $1 AND due_at IS NOT NULL;
