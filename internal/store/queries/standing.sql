-- What a digest told of stands, on the channels on which it did, as the digest does.

-- name: standing_notification
SELECT n.decisions, n.expires_at, COALESCE(n.cancelled_at, (
  SELECT MAX(x.cancelled_at) FROM digest_items i JOIN digests g ON g.id = i.digest JOIN notifications x ON x.id = g.ntf WHERE i.ntf = n.id))
FROM notifications n WHERE n.id = $1;

-- name: standing_deliveries
SELECT status, due_at, tries FROM deliveries WHERE ntf = $1
UNION ALL
SELECT d.status, d.due_at, d.tries
FROM digest_items i JOIN digests g ON g.id = i.digest JOIN deliveries d ON d.ntf = g.ntf
WHERE i.ntf = $1
  AND EXISTS (SELECT 1 FROM holds p WHERE p.ntf = $1 AND p.reason = 'digested' AND p.state = 'released' AND d.lane LIKE p.channel || '.%');

-- name: standing_holds
SELECT (SELECT count(*) FROM holds WHERE ntf = $1 AND state = 'waiting')
  + (SELECT count(*) FROM digest_items i JOIN digests g ON g.id = i.digest JOIN holds h ON h.ntf = g.ntf
     WHERE i.ntf = $1 AND h.state = 'waiting'
       AND h.channel IN (SELECT p.channel FROM holds p WHERE p.ntf = $1 AND p.reason = 'digested' AND p.state = 'released'));
