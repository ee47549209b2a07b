-- Claiming: the rows are locked in key order, then their facts are read in a second statement.

-- name: delivery_lock
SELECT 1 FROM deliveries WHERE ntf = $1 AND n = $2 {{lock}};

-- Every column costs, so none is read that the request tells or that a sender does not use.
-- name: claim_facts
SELECT d.address_id, d.reason, d.claim_no, d.tries, d.tried, d.queued_at, d.sidelined_at,
  n.app, n.test, n.type, n.user_id, n.category, n.catalog_version, n.collapse_key, n.sensitive, n.data, n.accepted_at,
  n.expires_at, n.parts, n.cancelled_at, u.locale, u.timezone, u.phone, u.attributes,
  a.user_id, a.provider, a.value, a.status, a.reason, a.registered_at, p.doc, s.reason, s.at
FROM deliveries d
JOIN notifications n ON n.id = d.ntf
LEFT JOIN users u ON u.id = n.user_id
LEFT JOIN addresses a ON a.id = d.address_id
LEFT JOIN preferences p ON p.user_id = n.user_id
LEFT JOIN suppressions s ON s.channel = a.channel AND s.hash = a.hash
WHERE d.ntf = $1 AND d.n = $2 AND d.status = 'queued' AND d.lane = $3;

-- name: claim_take
UPDATE deliveries SET status = 'sending', reason = '', due_at = $3, claim_no = claim_no + 1, tries = tries + 1
WHERE ntf = $1 AND n = $2 AND status = 'queued';

-- name: claim_stands
SELECT 1 FROM deliveries WHERE ntf = $1 AND n = $2 AND status = 'sending' AND claim_no = $3 AND due_at = $4;

-- What the check puts off or ends.
-- name: claim_refuse
UPDATE deliveries SET due_at = $5, finished_at = $6,
  status = CASE WHEN $3 = 'expired' AND {{broken}} THEN 'dead' ELSE $3 END,
  reason = CASE WHEN $3 = 'expired' AND {{broken}} THEN 'provider_broken' ELSE $4 END
WHERE ntf = $1 AND n = $2 AND status = 'queued'
RETURNING status, reason;

-- Sensitive data goes when nothing can need it any more. A person may try a dead delivery again.
-- name: erase_data
UPDATE notifications SET data = '' WHERE id = $1 AND sensitive = 1 AND data <> ''
AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = notifications.id AND (d.due_at IS NOT NULL OR d.status = 'dead'))
AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = notifications.id AND h.state = 'waiting');
