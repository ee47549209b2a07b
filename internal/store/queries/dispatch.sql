-- What the dispatcher does with rows that are due. Its scans skip rows that another transaction
-- holds: whoever holds them settles them.

-- name: unqueue
UPDATE deliveries SET status = 'parked', due_at = $4 WHERE ntf = $1 AND n = $2 AND status = 'queued' AND due_at = $3;

-- name: lost_take
WITH lost AS MATERIALIZED (
  SELECT ntf, n FROM deliveries WHERE lane = $1 AND status = 'queued' AND due_at < $2
  ORDER BY due_at LIMIT $4 {{skip}})
UPDATE deliveries SET status = 'parked', due_at = $3
WHERE (ntf, n) IN (SELECT ntf, n FROM lost);

-- Stamps that no clock can have given: nothing would ever be older than they are.
-- name: absurd_take
WITH lost AS MATERIALIZED (
  SELECT ntf, n FROM deliveries WHERE lane = $1 AND status = 'queued' AND due_at > $2
  ORDER BY due_at LIMIT $4 {{skip}})
UPDATE deliveries SET status = 'parked', due_at = $3
WHERE (ntf, n) IN (SELECT ntf, n FROM lost);

-- The last column counts the claims in a row that died before; a claim that was given back is no attempt.
-- name: overdue
SELECT {{delivery}}, {{notification}}, a.provider, a.value,
  CASE WHEN d.status = 'sending' THEN (SELECT COUNT(*) FROM attempts x WHERE x.ntf = d.ntf AND x.n = d.n AND x.code = 'lease_over' AND x.claim_no >
    COALESCE((SELECT MAX(y.claim_no) FROM attempts y WHERE y.ntf = d.ntf AND y.n = d.n AND y.code <> 'lease_over'), 0)) ELSE 0 END
FROM deliveries d
JOIN notifications n ON n.id = d.ntf
LEFT JOIN addresses a ON a.id = d.address_id
WHERE d.lane IN ({{lanes}}) AND d.status IN ('sending', 'unknown') AND d.due_at <= $1
ORDER BY d.due_at LIMIT $2;

-- What waits in the log is found by its expiry, what is in a lane by looking through the lane.
-- name: expired_take
WITH late AS MATERIALIZED (
  SELECT ntf, n FROM deliveries WHERE status = 'parked' AND expires_at <= $1
  ORDER BY expires_at LIMIT $2 {{skip}})
UPDATE deliveries SET due_at = NULL, finished_at = $1,
  status = CASE WHEN {{broken}} THEN 'dead' ELSE 'expired' END, reason = CASE WHEN {{broken}} THEN 'provider_broken' ELSE 'expired' END
WHERE (ntf, n) IN (SELECT ntf, n FROM late)
RETURNING ntf, lane, status, reason;

-- name: expired_queued
WITH late AS MATERIALIZED (
  SELECT ntf, n FROM deliveries
  WHERE lane IN ({{lanes}}) AND status = 'queued' AND due_at IS NOT NULL AND expires_at <= $1
  LIMIT $2 {{skip}})
UPDATE deliveries SET due_at = NULL, finished_at = $1,
  status = CASE WHEN {{broken}} THEN 'dead' ELSE 'expired' END, reason = CASE WHEN {{broken}} THEN 'provider_broken' ELSE 'expired' END
WHERE (ntf, n) IN (SELECT ntf, n FROM late)
RETURNING ntf, lane, status, reason;

-- name: settle_facts
SELECT d.status, d.reason, d.due_at, d.claim_no, d.tries, d.tried, d.finished_at, d.expires_at, n.cancelled_at, n.sensitive,
  d.lane
FROM deliveries d JOIN notifications n ON n.id = d.ntf
WHERE d.ntf = $1 AND d.n = $2;

-- What of a lane costs little to tell, however much waits for it.
-- name: lane_head
SELECT
  (SELECT MIN(due_at) FROM deliveries WHERE lane = $1 AND status = 'parked' AND due_at IS NOT NULL),
  (SELECT MIN(due_at) FROM deliveries WHERE lane = $1 AND status = 'queued' AND due_at IS NOT NULL),
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'queued' AND due_at IS NOT NULL),
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'sending' AND due_at IS NOT NULL),
  (SELECT MIN(fresh_until) FROM deliveries WHERE lane = $1 AND status = 'parked' AND fresh_until IS NOT NULL),
  EXISTS (SELECT 1 FROM deliveries WHERE lane = $1 AND status = 'parked' AND reason = 'sidelined'),
  (SELECT queued_at FROM deliveries WHERE lane = $1 AND {{turn}} AND due_at > $2 ORDER BY due_at LIMIT 1);

-- name: lane_waiting
SELECT
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'parked' AND due_at IS NOT NULL),
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'parked' AND due_at <= $2),
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND {{turn}} AND due_at > $2),
  (SELECT COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'unknown' AND due_at IS NOT NULL);

-- name: lane_states
SELECT name, paused_at, rate_per_second FROM lanes ORDER BY name;

-- A lane that is paused again has been since it was paused first.
-- name: lane_pause
INSERT INTO lanes (name, paused_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
SET paused_at = CASE WHEN excluded.paused_at IS NULL THEN NULL ELSE COALESCE(lanes.paused_at, excluded.paused_at) END;

-- name: lane_rate
INSERT INTO lanes (name, rate_per_second) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET rate_per_second = excluded.rate_per_second;

-- Processes that share the lanes.

-- name: process_seen
INSERT INTO processes (id, seen_at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at;

-- name: process_gone
DELETE FROM processes WHERE id = $1 OR seen_at < $2;

-- name: processes_live
SELECT COUNT(*) FROM processes WHERE seen_at >= $1;

-- name: processes_seen
SELECT MAX(seen_at) FROM processes;

-- When providers were left alone and lanes stood still.

-- name: pause_seen
INSERT INTO pauses (name, process, since, channel, cause, until, seen_at, over_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name, process, since) DO UPDATE
SET cause = excluded.cause, until = excluded.until, seen_at = excluded.seen_at, over_at = excluded.over_at;

-- name: pause_end
INSERT INTO pauses (name, process, since, channel, cause, until, seen_at, over_at)
SELECT name, $2, paused_at, $3, 'operator', NULL, $4, $4 FROM lanes WHERE name = $1 AND paused_at IS NOT NULL
ON CONFLICT (name, process, since) DO NOTHING;

-- name: pauses_forget
DELETE FROM pauses WHERE seen_at < $1;

-- What they finished.

-- name: drained_add
INSERT INTO drained (lane, since, finished) VALUES ($1, $2, $3)
ON CONFLICT (lane, since) DO UPDATE SET finished = drained.finished + excluded.finished;

-- name: drained_forget
DELETE FROM drained WHERE since < $1;

-- name: drained_sum
SELECT lane, CAST(SUM(CASE WHEN since > $1 THEN finished ELSE 0 END) AS BIGINT), MIN(since) FROM drained GROUP BY lane;

-- Holds.

-- name: holds_due
SELECT h.id, h.channel, h.reason, h.until, h.state, n.dedupe_key, n.decisions, {{notification}}
FROM holds h JOIN notifications n ON n.id = h.ntf
WHERE h.state = 'waiting' AND h.due_at <= $1 ORDER BY h.due_at, h.ntf LIMIT $2;

-- name: hold_next
SELECT MIN(due_at) FROM holds WHERE state = 'waiting' AND due_at IS NOT NULL;

-- Housekeeping of the sweep.

-- name: erase_left
SELECT n.id FROM notifications n WHERE n.sensitive = 1 AND n.data <> ''
AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = n.id AND (d.due_at IS NOT NULL OR d.status = 'dead' AND d.expires_at > $2))
AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = n.id AND h.state = 'waiting')
LIMIT $1;

-- One of those; what is dead and expired is of no more use to anybody.
-- name: erase_late
UPDATE notifications SET data = '' WHERE id = $1
AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ntf = notifications.id AND (d.due_at IS NOT NULL OR d.status = 'dead' AND d.expires_at > $2))
AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.ntf = notifications.id AND h.state = 'waiting');

-- name: dedupe_purge
DELETE FROM dedupe_keys WHERE (app, test, key) IN
  (SELECT app, test, key FROM dedupe_keys WHERE expires_at < $1 ORDER BY expires_at LIMIT $2);

-- Strays whose attempt was recorded at the same moment, so that neither saw the other.
-- CROSS JOIN keeps the order of the tables in SQLite: strays are few, attempts are not.
-- name: strays_matched
SELECT s.provider, s.ref, s.status, s.at, s.delivery, s.outcome, s.code, s.received_at, a.ntf, a.n, a.claim_no
FROM stray_receipts s CROSS JOIN attempts a
WHERE a.ref = s.ref AND a.provider = s.provider AND a.ref <> ''
LIMIT $1;

-- Strays that name a delivery whose notification has such an attempt by now, recorded or not. The
-- notification is the newest before the delivery's id, which is the same but for its last bits.
-- name: strays_named
SELECT s.provider, s.ref, s.status, s.at, s.delivery, s.outcome, s.code, s.received_at, s.delivery, s.claim_no
FROM stray_receipts s
WHERE length(s.delivery) > 0 AND EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.ntf = (SELECT c.id FROM notifications c WHERE c.id <= s.delivery ORDER BY c.id DESC LIMIT 1)
    AND substr(d.ntf, 1, 14) = substr(s.delivery, 1, 14) AND d.claim_no > 0 AND d.claim_no >= s.claim_no)
LIMIT $1;

-- name: stray_drop
DELETE FROM stray_receipts WHERE provider = $1 AND ref = $2 AND status = $3 AND at = $4 AND delivery = $5;
