-- Deleting the detail of old notifications, and the daily sums that outlive it. A day is a number of
-- days since 1970 UTC: that on which the notification was accepted. Test notifications are not summed up.

-- Old notifications in the order of their ids, each with whether it is still needed: something of it, or of
-- the digest that tells of it, lives, has ended of late or is held, or a key that may be repeated stands for it.
-- name: outlived
SELECT n.id, n.category,
  EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = n.id AND (d.due_at IS NOT NULL OR d.finished_at > $4))
    OR EXISTS (SELECT 1 FROM digest_items i JOIN digests g ON g.id = i.digest JOIN deliveries d ON d.ntf = g.ntf
      WHERE i.ntf = n.id AND (d.due_at IS NOT NULL OR d.finished_at > $4)),
  EXISTS (SELECT 1 FROM holds h WHERE h.ntf = n.id AND h.state = 'waiting')
    OR EXISTS (SELECT 1 FROM digest_items i JOIN digests g ON g.id = i.digest JOIN holds h ON h.ntf = g.ntf
      WHERE i.ntf = n.id AND h.state = 'waiting'),
  EXISTS (SELECT 1 FROM dedupe_keys k WHERE k.app = n.app AND k.test = n.test AND k.key = n.dedupe_key AND n.dedupe_key <> '' AND k.expires_at > $5)
FROM notifications n WHERE n.id > $1 AND n.id < $2 ORDER BY n.id LIMIT $3;

-- What another transaction has is left for the next round.
-- name: forget_lock
SELECT 1 FROM notifications WHERE id = $1 {{skip}};

-- name: forget_lock_deliveries
SELECT 1 FROM deliveries WHERE ntf = $1 ORDER BY n {{lock}};

-- name: forget_facts
SELECT 1 FROM notifications n WHERE n.id = $1
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = n.id AND (d.due_at IS NOT NULL OR d.finished_at > $2))
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = n.id AND h.state = 'waiting')
  AND NOT EXISTS (SELECT 1 FROM digest_items i JOIN digests g ON g.id = i.digest JOIN deliveries d ON d.ntf = g.ntf
    WHERE i.ntf = n.id AND (d.due_at IS NOT NULL OR d.finished_at > $2))
  AND NOT EXISTS (SELECT 1 FROM digest_items i JOIN digests g ON g.id = i.digest JOIN holds h ON h.ntf = g.ntf
    WHERE i.ntf = n.id AND h.state = 'waiting');

-- name: forget_sums
SELECT n.accepted_at / 86400000000, d.lane, n.category, d.status,
  COALESCE((SELECT a.provider FROM attempts a WHERE a.ntf = d.ntf AND a.n = d.n ORDER BY a.claim_no DESC, a.late DESC LIMIT 1), '')
FROM notifications n JOIN deliveries d ON d.ntf = n.id
WHERE n.id = $1 AND n.test = 0;

-- name: daily_add
INSERT INTO daily (day, channel, provider, category, status, deliveries) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (day, channel, provider, category, status) DO UPDATE SET deliveries = daily.deliveries + excluded.deliveries;

-- name: forget_attempts
DELETE FROM attempts WHERE ntf = $1;

-- name: forget_receipts
DELETE FROM receipts WHERE ntf = $1;

-- name: forget_timeline
DELETE FROM timeline WHERE ntf = $1;

-- name: forget_deliveries
DELETE FROM deliveries WHERE ntf = $1;

-- name: forget_holds
DELETE FROM holds WHERE ntf = $1;

-- name: forget_digest_items
DELETE FROM digest_items WHERE ntf = $1;

-- name: forget_notification
DELETE FROM notifications WHERE id = $1;

-- Receipts for which no attempt ever came.
-- name: strays_forget
DELETE FROM stray_receipts WHERE (provider, ref, status, at, delivery) IN
  (SELECT provider, ref, status, at, delivery FROM stray_receipts WHERE received_at < $1 LIMIT $2 {{skip}});

-- Digests whose notification is gone. Ids are in the order of time, so the oldest are looked through first.
-- name: digests_forget
DELETE FROM digests WHERE id IN
  (SELECT g.id FROM digests g WHERE g.id < $1 AND g.state = 'flushed' AND g.closes_at < $2
     AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.id = g.ntf)
   ORDER BY g.id LIMIT $3 {{skip}})
RETURNING id;

-- name: forget_items_of_digest
DELETE FROM digest_items WHERE digest = $1;

-- What is known of the days from $1 to before $2: the sums of what is gone, then what is still there.

-- name: daily_read
SELECT day, channel, provider, category, status, deliveries FROM daily
WHERE day >= $1 AND day < $2
  AND ($3 = '' OR channel = $3) AND ($4 = '' OR provider = $4) AND ($5 = '' OR category = $5) AND ($6 = '' OR status = $6);

-- Where a part of the detail ends that one statement may sum up.
-- name: detail_end
SELECT id FROM notifications WHERE id > $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3;

-- Waiting deliveries bear the status that people are told; $5 is now. A part begins after $1 and ends at $2.
-- name: detail_sums
SELECT x.day, x.lane, x.provider, x.category, x.status, COUNT(*) FROM (
  SELECT n.accepted_at / 86400000000 AS day, d.lane AS lane, n.category AS category,
    COALESCE((SELECT a.provider FROM attempts a WHERE a.ntf = d.ntf AND a.n = d.n ORDER BY a.claim_no DESC, a.late DESC LIMIT 1), '') AS provider,
    CASE WHEN d.status NOT IN ('parked', 'queued') THEN d.status WHEN d.expires_at <= $5 THEN 'expired' WHEN d.tries > 0 THEN 'retrying' ELSE 'queued' END AS status
  FROM notifications n JOIN deliveries d ON d.ntf = n.id
  WHERE n.id > $1 AND n.id <= $2 AND n.test = 0
    AND n.accepted_at >= $3 * 86400000000 AND n.accepted_at < $4 * 86400000000
    AND ($6 = '' OR n.category = $6) AND ($7 = '' OR d.lane LIKE $7 || '.%')
) x WHERE ($8 = '' OR x.provider = $8) AND ($9 = '' OR x.status = $9)
GROUP BY x.day, x.lane, x.provider, x.category, x.status;
