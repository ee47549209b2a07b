-- Recording: addresses first, then the deliveries' rows are locked, then read, then written.

-- name: record_facts
SELECT d.status, d.reason, d.due_at, d.claim_no, d.tries, d.tried, d.finished_at, d.expires_at, n.cancelled_at, n.sensitive,
  EXISTS (SELECT 1 FROM receipts r WHERE r.ntf = d.ntf AND r.n = d.n),
  EXISTS (SELECT 1 FROM stray_receipts s WHERE s.provider = $3 AND s.ref = $4)
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE d.ntf = $1 AND d.n = $2;

-- name: attempt_outcomes
SELECT claim_no, late, outcome, ended_at FROM attempts WHERE ntf = $1 AND n = $2;

-- name: receipt_statuses
SELECT claim_no, status, outcome FROM receipts WHERE ntf = $1 AND n = $2;

-- name: attempt_add
INSERT INTO attempts (ntf, n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, retry_at, ref)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (ntf, n, claim_no, late) DO NOTHING;

-- What a dead delivery died of, for when it is dead no more.
-- name: death_told
INSERT INTO timeline (ntf, at, kind, n, text)
SELECT ntf, finished_at, 'died', n, reason FROM deliveries WHERE ntf = $1 AND n = $2 AND status = 'dead'
ON CONFLICT (ntf, at, kind, n) DO NOTHING;

-- The row is locked, so nothing can have come between reading it and this.
-- name: delivery_settle
UPDATE deliveries SET status = $3, reason = $4, due_at = $5, tries = $6, tried = $7, finished_at = $8 WHERE ntf = $1 AND n = $2;

-- name: stray_take
DELETE FROM stray_receipts WHERE provider = $1 AND ref = $2 RETURNING status, at, outcome, code, received_at;

-- name: receipt_add
INSERT INTO receipts (ntf, n, claim_no, status, at, provider, ref, outcome, code, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (ntf, n, claim_no, status, at) DO NOTHING;
