-- Poison: what ends or fails whoever works on it.

-- name: claim_seize
UPDATE deliveries SET status = 'sending', reason = '', due_at = $4, claim_no = claim_no + 1, tries = tries + 1
WHERE ntf = $1 AND n = $2 AND status = 'queued' AND lane = $3
RETURNING claim_no;

-- Back to queued within the transaction that then looks at it and claims it.
-- name: claim_unseize
UPDATE deliveries SET status = 'queued', tries = tries - 1
WHERE ntf = $1 AND n = $2 AND status = 'sending' AND claim_no = $3;
