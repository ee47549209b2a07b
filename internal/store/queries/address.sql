-- What a result does to its address.

-- last_ok_at is kept to the day: a row that a blast rewrites for every message costs more than the message.
-- name: address_ok
UPDATE addresses SET last_ok_at = $2, strikes = 0, struck_at = NULL
WHERE id = $1 AND (strikes > 0 OR last_ok_at IS NULL OR last_ok_at < $3);

-- name: address_dead
UPDATE addresses SET status = 'retired', reason = $2, retired_at = $3
WHERE id = $1 AND status <> 'retired' AND registered_at < $4
RETURNING id;

-- The second strike within the window gives the address the status $2.
-- name: address_strike
UPDATE addresses SET strikes = strikes + 1, struck_at = $4,
  status = CASE WHEN strikes > 0 AND struck_at > $5 THEN $2 ELSE status END,
  reason = CASE WHEN strikes > 0 AND struck_at > $5 THEN $3 ELSE reason END,
  retired_at = CASE WHEN strikes > 0 AND struck_at > $5 AND $2 = 'retired' THEN $4 ELSE retired_at END
WHERE id = $1 AND status <> 'retired'
RETURNING status;

-- As in suppress: a complaint is the weakest stop.
-- name: address_suppress
INSERT INTO suppressions (channel, hash, reason, source, at)
SELECT a.channel, a.hash, $2, $3, $4 FROM addresses a WHERE a.id = $1
ON CONFLICT (channel, hash) DO UPDATE SET reason = excluded.reason, source = excluded.source, at = excluded.at
WHERE suppressions.reason = 'suppressed_complaint' AND excluded.reason <> 'suppressed_complaint'
RETURNING channel, hash;
