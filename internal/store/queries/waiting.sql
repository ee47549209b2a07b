-- What waits in the log, for those who let more in.

-- What was not tried and is due later waits for its turn at a provider, which its lane cannot pass on as fast.
-- name: waiting
SELECT lane, status, COUNT(*) FROM deliveries
WHERE lane IN ({{lanes}}) AND status = 'queued' AND due_at IS NOT NULL GROUP BY lane, status
UNION ALL
SELECT lane, status, COUNT(*) FROM deliveries
WHERE lane IN ({{lanes}}) AND status = 'parked' AND due_at <= $1 GROUP BY lane, status
UNION ALL
SELECT lane, 'turn', COUNT(*) FROM deliveries
WHERE lane IN ({{lanes}}) AND {{turn}} AND due_at > $1 GROUP BY lane
UNION ALL
SELECT lane, 'late', COUNT(*) FROM deliveries
WHERE lane IN ({{lanes}}) AND status = 'parked' AND reason = 'sidelined' AND due_at > $1 GROUP BY lane
UNION ALL
SELECT lane, 'late', COUNT(*) FROM deliveries
WHERE lane IN ({{lanes}}) AND {{any turn}} AND sidelined_at IS NOT NULL AND due_at > $1 GROUP BY lane;

-- Ids are ordered by time, so what came since is the end of the table.
-- name: waiting_came
SELECT lane, COUNT(*) FROM deliveries WHERE ntf >= $1 GROUP BY lane;

-- name: waiting_apps
SELECT app, COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'parked' AND due_at <= $2 GROUP BY app
UNION ALL
SELECT app, COUNT(*) FROM deliveries WHERE lane = $1 AND status = 'queued' AND due_at IS NOT NULL GROUP BY app
UNION ALL
SELECT app, COUNT(*) FROM deliveries WHERE lane = $1 AND {{turn}} AND due_at > $2 GROUP BY app;
