-- Notifications accepted since an instant, newest first, with the decisions that were taken.
-- name: replay
SELECT {{notification}}, n.decisions FROM notifications n
WHERE n.id < $1 AND n.id >= $2 AND n.accepted_at >= $3
ORDER BY n.id DESC LIMIT $4;
