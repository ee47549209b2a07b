-- Dead letters. {{dead}} selects them by a filter, from $3 on; $1 and $2 are a delivery's key.

-- Those before a key, newest first, each with its last attempt.
-- name: dead_list
SELECT {{delivery}}, n.app, n.type, n.user_id, n.category, n.test, n.expires_at, COALESCE(a.value, ''),
  COALESCE(t.claim_no, 0), COALESCE(t.provider, ''), t.started_at, t.ended_at, COALESCE(t.outcome, ''), COALESCE(t.http_status, 0),
  COALESCE(t.code, ''), COALESCE(t.ref, '')
FROM deliveries d
JOIN notifications n ON n.id = d.ntf
LEFT JOIN addresses a ON a.id = d.address_id
LEFT JOIN attempts t ON t.ntf = d.ntf AND t.n = d.n AND t.late = 0
  AND t.claim_no = (SELECT MAX(x.claim_no) FROM attempts x WHERE x.ntf = d.ntf AND x.n = d.n AND x.late = 0)
WHERE (d.ntf, d.n) < ($1, $2) AND {{dead}}
ORDER BY d.ntf DESC, d.n DESC LIMIT $12;

-- Those after a key, oldest first, since they are the first to be of no more use.
-- name: dead_oldest
SELECT d.ntf, d.n, d.expires_at, n.cancelled_at
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE (d.ntf, d.n) > ($1, $2) AND {{dead}}
ORDER BY d.ntf, d.n LIMIT $12;

-- The one with a key, if it is one of them.
-- name: dead_one
SELECT d.ntf, d.n, d.expires_at, n.cancelled_at
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE d.ntf = $1 AND d.n = $2 AND {{dead}};

-- What a delivery shares with newer ones that take its place.
-- name: dead_key
SELECT n.app, n.user_id, n.collapse_key, n.test, d.lane
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE d.ntf = $1 AND d.n = $2 AND n.collapse_key <> '';

-- The newest after a notification that sends to a channel, by its lanes, or holds something for it
-- that is not for a time of its own.
-- name: dead_newer
SELECT c.id FROM notifications c
WHERE c.app = $1 AND c.user_id = $2 AND c.collapse_key = $3 AND c.collapse_key <> '' AND c.test = $4 AND c.id > $5
  AND (EXISTS (SELECT 1 FROM deliveries x WHERE x.ntf = c.id AND x.lane IN ($6, $7))
    OR EXISTS (SELECT 1 FROM holds h WHERE h.ntf = c.id AND h.channel = $8 AND h.state = 'waiting' AND h.reason <> 'scheduled'))
ORDER BY c.id DESC LIMIT 1;
