-- With which broker the log is worked.

-- name: broker_hold
INSERT INTO broker (one, id, about, seen_at) VALUES (1, $1, $2, $3)
ON CONFLICT (one) DO UPDATE SET id = excluded.id, about = excluded.about, seen_at = excluded.seen_at
WHERE broker.id = excluded.id OR broker.seen_at < $4;

-- name: broker_held
SELECT id, about, seen_at FROM broker;

-- name: broker_leave
DELETE FROM broker WHERE id = $1;
