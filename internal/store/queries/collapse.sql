-- Superseding: a newer event with the same collapse key takes the place of what still waits under
-- it. Notifications are locked first, then their deliveries, then their holds.

-- Posts with one key take turns, so that each sees what the one before accepted.
-- name: collapse_mutex
SELECT {{mutex}}(CAST($1 AS BIGINT));

-- Of the newest notifications with the key, those of which something may still be stopped.
-- name: collapse_find
SELECT c.id
FROM (
  SELECT id FROM notifications
  WHERE app = $1 AND user_id = $2 AND collapse_key = $3 AND collapse_key <> '' AND test = $4
  ORDER BY id DESC LIMIT $5
) c
WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = c.id AND d.due_at IS NOT NULL)
   OR EXISTS (SELECT 1 FROM holds h WHERE h.ntf = c.id AND h.state = 'waiting');

-- name: collapse_rows
SELECT 1 FROM deliveries WHERE ntf = $1 ORDER BY n {{lock}};

-- name: collapse_deliveries
UPDATE deliveries SET status = 'cancelled', reason = 'superseded', due_at = NULL, finished_at = $4
WHERE ntf = $1 AND lane IN ($2, $3) AND status IN ('parked', 'queued')
RETURNING n;

-- What quiet hours have put off in its lane is held, too, and gives way to what is held like it.
-- name: collapse_put_off
UPDATE deliveries SET status = 'cancelled', reason = 'superseded', due_at = NULL, finished_at = $4
WHERE ntf = $1 AND lane IN ($2, $3) AND status = 'parked' AND reason = 'quiet_hours'
RETURNING n;

-- What is being sent goes on, and bears the mark that it is not to be sent again. The first to mark it is told.
-- name: collapse_marks
UPDATE deliveries SET reason = 'superseded'
WHERE ntf = $1 AND lane IN ($2, $3) AND status IN ('sending', 'unknown') AND due_at IS NOT NULL AND reason <> 'superseded'
RETURNING n;

-- What is held gives way to what is sent now, and to what is held like it.
-- name: collapse_holds
UPDATE holds SET state = 'cancelled', called_off = 'superseded' WHERE ntf = $1 AND channel = $2 AND state = 'waiting'
  AND ($3 = 1 OR reason <> 'scheduled' AND (due_at IS NULL OR due_at >= until))
RETURNING 1;

-- A notification that came to nothing but holds, and has none left, is called off as a whole.
-- name: collapse_end
UPDATE notifications SET cancelled_at = $2
WHERE id = $1 AND cancelled_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = notifications.id)
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = notifications.id AND h.state = 'waiting');
