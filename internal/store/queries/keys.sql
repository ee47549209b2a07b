-- name: app_make
INSERT INTO apps (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING;

-- name: key_add
INSERT INTO keys (id, app, hash, scopes, test, created_at) VALUES ($1, $2, $3, $4, $5, $6);

-- name: key
SELECT id, app, hash, scopes, test, created_at, revoked_at FROM keys WHERE id = $1;

-- name: keys
SELECT id, app, hash, scopes, test, created_at, revoked_at FROM keys ORDER BY created_at, id;

-- name: key_revoke
UPDATE keys SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1;
