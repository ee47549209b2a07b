-- The consent ledger: nothing changes a line of it, and only an erasure takes lines away.

-- name: consent_add
INSERT INTO consents (id, user_id, category, channel, action, wording, version, source, app, at, about, value)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: consents_of_user
SELECT id, category, channel, action, wording, version, source, app, at, about, value FROM consents
WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: consent_asked
SELECT wording, version FROM consents WHERE id = $1 AND user_id = $2 AND category = $3 AND action = 'asked';

-- Who has a number or a mailbox.
-- name: contact_holders
SELECT DISTINCT user_id FROM addresses WHERE channel IN ('sms', 'email') AND channel = $1 AND hash = $2;

-- name: user_there
SELECT 1 FROM users WHERE id = $1 {{lock}};

-- name: notification_person
SELECT user_id, category FROM notifications WHERE id = $1;

-- As in suppress: a complaint is the weakest stop.
-- name: suppress_stopped
INSERT INTO suppressions (channel, hash, reason, source, at) VALUES ($1, $2, 'opted_out_channel', 'stop', $3)
ON CONFLICT (channel, hash) DO UPDATE SET reason = excluded.reason, source = excluded.source, at = excluded.at
WHERE suppressions.reason = 'suppressed_complaint';

-- name: suppress_lifted
DELETE FROM suppressions WHERE channel = $1 AND hash = $2 AND reason = 'opted_out_channel' AND source = 'stop';

-- name: opt_outs_of_user
SELECT category, channel, action, source, at FROM consents
WHERE user_id = $1 AND action = 'withdrawn' ORDER BY id DESC LIMIT $2;
