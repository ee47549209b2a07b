-- name: standing_notification
SELECT decisions, expires_at, cancelled_at FROM notifications WHERE id = $1;

-- name: standing_deliveries
SELECT status, due_at, tries FROM deliveries WHERE ntf = $1;

-- name: standing_holds
SELECT count(*) FROM holds WHERE ntf = $1 AND state = 'waiting';
