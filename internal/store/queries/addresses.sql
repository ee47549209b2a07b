-- name: addresses_of_user
SELECT id, user_id, channel, provider, value, status, reason, strikes, struck_at, registered_at, last_ok_at, retired_at
FROM addresses WHERE user_id = $1 ORDER BY id;

-- name: addresses_page
SELECT id, user_id, channel, provider, value, status, reason, strikes, struck_at, registered_at, last_ok_at, retired_at
FROM addresses WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- Two users who register one token at the same time come one after the other.
-- name: address_mutex
SELECT {{mutex}}(CAST($1 AS BIGINT));

-- name: address_take
UPDATE addresses SET status = 'retired', reason = 'address_moved', retired_at = $4
WHERE channel = 'push' AND provider = $1 AND value = $2 AND user_id <> $3 AND status <> 'retired'
RETURNING id, user_id;

-- name: address_register
INSERT INTO addresses (id, user_id, channel, provider, value, hash, status, reason, strikes, registered_at)
VALUES ($1, $2, $3, $4, $5, $6, 'active', '', 0, $7)
ON CONFLICT (user_id, channel, provider, hash) DO NOTHING;

-- name: address_refresh
UPDATE addresses SET value = $6, status = 'active', reason = '', strikes = 0, struck_at = NULL, registered_at = $5, retired_at = NULL
WHERE user_id = $1 AND channel = $2 AND provider = $3 AND hash = $4;

-- name: address_of_value
SELECT id, user_id, channel, provider, value, status, reason, strikes, struck_at, registered_at, last_ok_at, retired_at
FROM addresses WHERE user_id = $1 AND channel = $2 AND provider = $3 AND hash = $4;

-- name: address_of_user
SELECT id, user_id, channel, provider, value, status, reason, strikes, struck_at, registered_at, last_ok_at, retired_at
FROM addresses WHERE id = $1 AND user_id = $2;

-- name: address_retire
UPDATE addresses SET status = 'retired', reason = 'address_retired', retired_at = $2 WHERE id = $1 AND status <> 'retired';

-- The notifications on their way to an address learn what became of it.
-- name: address_moments
INSERT INTO timeline (ntf, at, kind, n, text)
SELECT d.ntf, CAST($1 AS BIGINT), CAST($2 AS TEXT), d.n, CAST($3 AS TEXT)
FROM notifications n JOIN deliveries d ON d.ntf = n.id
WHERE n.user_id = $4 AND d.address_id = $5 AND d.due_at IS NOT NULL
ON CONFLICT DO NOTHING;
