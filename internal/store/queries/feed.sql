-- Feeding a lane from what waits in the log, app by app. The apps are found by stepping over the
-- index from one to the next: how much each of them has waiting costs nothing.

-- name: due_apps
WITH RECURSIVE apps(app) AS (
  SELECT MIN(app) FROM deliveries WHERE lane = $1 AND status = 'parked'
  UNION ALL
  SELECT (SELECT MIN(d.app) FROM deliveries d WHERE d.lane = $1 AND d.status = 'parked' AND d.app > apps.app)
  FROM apps WHERE apps.app IS NOT NULL),
firsts AS (
  SELECT apps.app, (SELECT MIN(d.due_at) FROM deliveries d WHERE d.lane = $1 AND d.status = 'parked' AND d.app = apps.app) AS first
  FROM apps WHERE apps.app IS NOT NULL)
SELECT app FROM firsts WHERE first <= $2 ORDER BY first LIMIT $3;

-- How many of an app are due, counted no further than there is room.
-- name: due_count
SELECT COUNT(*) FROM (
  SELECT 1 AS one FROM deliveries WHERE lane = $1 AND app = $2 AND status = 'parked' AND due_at <= $3 LIMIT $4) AS due;

-- name: due_take
WITH due AS MATERIALIZED (
  SELECT ntf, n FROM deliveries WHERE lane = $1 AND app = $2 AND status = 'parked' AND due_at <= $3
  ORDER BY due_at LIMIT $4 {{skip}})
UPDATE deliveries SET status = 'queued', due_at = $3
WHERE (ntf, n) IN (SELECT ntf, n FROM due)
RETURNING ntf, n;
