-- Cancelling: the notification, its deliveries, its holds.

-- Whose it is, and since when it bears a mark: that of a cancel, but where the line of that instant says another thing.
-- name: cancel_find
SELECT app, sensitive, cancelled_at, EXISTS (
  SELECT 1 FROM timeline t WHERE t.ntf = n.id AND t.at = n.cancelled_at AND t.kind = 'cancelled' AND t.n = -1 AND t.text = $2)
FROM notifications n WHERE id = $1 {{lock}};

-- name: cancel_rows
SELECT n, status, reason, due_at, finished_at FROM deliveries WHERE ntf = $1 ORDER BY n {{lock}};

-- A dead letter is called off too: nobody will try it again.
-- name: cancel_deliveries
UPDATE deliveries SET status = 'cancelled', reason = 'cancelled', due_at = NULL, finished_at = $2
WHERE ntf = $1 AND status IN ('parked', 'queued', 'dead')
RETURNING lane;

-- name: cancel_holds
UPDATE holds SET state = 'cancelled', called_off = 'cancelled' WHERE ntf = $1 AND state = 'waiting';

-- name: cancelled_holds
SELECT COUNT(*) FROM holds WHERE ntf = $1 AND state = 'cancelled' AND called_off = 'cancelled';

-- name: cancel_mark
UPDATE notifications SET cancelled_at = $2 WHERE id = $1;
