-- name: pulse
INSERT INTO pulse (id, at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at;
