-- The consent ledger: nothing changes a line of it, and only an erasure takes lines away.

-- name: consent_add
INSERT INTO consents (id, user_id, category, channel, action, wording, version, source, app, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: consents_of_user
SELECT id, category, channel, action, wording, version, source, app, at FROM consents
WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: consent_asked
SELECT wording, version, at FROM consents WHERE id = $1 AND user_id = $2 AND category = $3 AND action = 'asked';
