-- name: standing_notification
SELECT decisions, expires_at, cancelled_at FROM notifications WHERE id = $1;

-- What a digest told of stands as the digest does.
-- name: standing_deliveries
SELECT status, due_at, tries FROM deliveries WHERE ntf = $1
UNION ALL
SELECT d.status, d.due_at, d.tries
FROM digest_items i JOIN digests g ON g.id = i.digest JOIN deliveries d ON d.ntf = g.ntf WHERE i.ntf = $1;

-- name: standing_holds
SELECT (SELECT count(*) FROM holds WHERE ntf = $1 AND state = 'waiting')
  + (SELECT count(*) FROM digest_items i JOIN digests g ON g.id = i.digest JOIN holds h ON h.ntf = g.ntf WHERE i.ntf = $1 AND h.state = 'waiting');
