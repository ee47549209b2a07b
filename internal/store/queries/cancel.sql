-- Cancelling: the notification, its deliveries, its holds.

-- name: cancel_find
SELECT app, sensitive, cancelled_at FROM notifications WHERE id = $1 {{lock}};

-- name: cancel_rows
SELECT n, status, due_at, finished_at FROM deliveries WHERE ntf = $1 ORDER BY n {{lock}};

-- A dead letter is called off too: nobody will try it again.
-- name: cancel_deliveries
UPDATE deliveries SET status = 'cancelled', reason = 'cancelled', due_at = NULL, finished_at = $2
WHERE ntf = $1 AND status IN ('parked', 'queued', 'dead')
RETURNING lane;

-- name: cancel_holds
UPDATE holds SET state = 'cancelled' WHERE ntf = $1 AND state = 'waiting';

-- name: cancelled_holds
SELECT COUNT(*) FROM holds WHERE ntf = $1 AND state = 'cancelled';

-- name: cancel_mark
UPDATE notifications SET cancelled_at = $2 WHERE id = $1;
