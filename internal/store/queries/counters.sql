-- Counting when a user was told something. Counters come last in the order of locks.

-- Either way the counter is locked, and given as it then stands. One that is missing is made if $4 says so.
-- name: counter_take
INSERT INTO counters (user_id, scope, times, idle_at)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), '[]', CAST($3 AS BIGINT)
WHERE CAST($4 AS BIGINT) = 1 OR EXISTS (SELECT 1 FROM counters WHERE user_id = $1 AND scope = $2)
ON CONFLICT (user_id, scope) DO UPDATE SET idle_at = counters.idle_at
RETURNING times, idle_at;

-- name: counter_lock
SELECT times, idle_at FROM counters WHERE user_id = $1 AND scope = $2 {{lock}};

-- name: counter_read
SELECT times, idle_at FROM counters WHERE user_id = $1 AND scope = $2;

-- name: counter_put
UPDATE counters SET times = $3, idle_at = $4 WHERE user_id = $1 AND scope = $2;

-- What others have is left for the next time: whoever waited here could have what they wait for.
-- name: counter_purge
WITH due AS MATERIALIZED (SELECT user_id, scope FROM counters WHERE idle_at <= $1 ORDER BY idle_at LIMIT $2 {{skip}})
DELETE FROM counters WHERE (user_id, scope) IN (SELECT user_id, scope FROM due);

-- The counters of a user, for whoever locks all of them in their order.
-- name: counters_of
SELECT scope FROM counters WHERE user_id = $1;

-- name: refund_whose
SELECT user_id, test, type, category FROM notifications WHERE id = $1;

-- A notification that was counted with its first delivery, when all of it has ended without a call.
-- name: refund_find
SELECT n.user_id, n.test, n.type, n.category, f.queued_at
FROM notifications n JOIN deliveries f ON f.ntf = n.id AND f.n = 0
WHERE n.id = $1
  AND EXISTS (SELECT 1 FROM counters c WHERE c.user_id = n.user_id)
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = n.id AND (d.due_at IS NOT NULL OR d.status NOT IN ('suppressed', 'cancelled', 'expired')))
  AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.ntf = n.id)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = n.id AND h.state = 'waiting');
