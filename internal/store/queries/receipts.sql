-- Receipts: found by the delivery that the callback carries, else by the provider's reference.

-- name: attempt_by_ref
SELECT ntf, n, claim_no FROM attempts WHERE ref = $2 AND provider = $1 AND ref <> '' ORDER BY claim_no DESC LIMIT 1;

-- name: receipt_facts
SELECT d.status, d.reason, d.due_at, d.claim_no, d.tries, d.tried, d.finished_at, d.expires_at, n.cancelled_at, n.sensitive,
  d.lane, d.address_id
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE d.ntf = $1 AND d.n = $2;

-- name: attempt_refs
SELECT claim_no, outcome, provider, ref FROM attempts WHERE ntf = $1 AND n = $2;

-- name: engaged
UPDATE deliveries SET
  opened_at = CASE WHEN opened_at IS NULL OR $3 < opened_at THEN $3 ELSE opened_at END,
  clicked_at = CASE WHEN clicked_at IS NULL OR $4 < clicked_at THEN $4 ELSE clicked_at END,
  complained_at = CASE WHEN complained_at IS NULL OR $5 < complained_at THEN $5 ELSE complained_at END
WHERE ntf = $1 AND n = $2;

-- name: engaged_unsubscribed
UPDATE deliveries SET unsubscribed_at = $3 WHERE ntf = $1 AND n = $2 AND unsubscribed_at IS NULL
RETURNING COALESCE((SELECT a.provider FROM attempts a WHERE a.ntf = $1 AND a.n = $2 ORDER BY a.claim_no DESC LIMIT 1), '');

-- name: stray_add
INSERT INTO stray_receipts (provider, ref, status, at, delivery, claim_no, outcome, code, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (provider, ref, status, at, delivery) DO NOTHING;
