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

-- Late work. What is fresh no more is set aside: parked until its turn comes, at a rate.

-- name: aside_mutex
SELECT {{mutex}}(CAST($1 AS BIGINT));

-- The turns of an app follow on the last one that it has, one each $4 microseconds, and never come
-- before a row's own time; what has such a time ahead is not let go early either. The turn that it had
-- at a provider is none. What an operator wants tried again is not late.
-- name: aside_take
WITH late AS MATERIALIZED (
  SELECT ntf, n, app, fresh_until, (CASE WHEN due_at <= $2 OR {{turn}} THEN 1 ELSE 0 END) AS aside FROM deliveries
  WHERE lane = $1 AND status = 'parked' AND fresh_until <= $2 AND reason <> 'redriven'
  ORDER BY fresh_until LIMIT $3 {{skip}}),
turns AS MATERIALIZED (
  SELECT ntf, n, aside, $4 * ROW_NUMBER() OVER (PARTITION BY app ORDER BY fresh_until, ntf, n) + COALESCE((
    SELECT MAX(d.due_at) FROM deliveries d
    WHERE d.lane = $1 AND d.app = late.app AND d.status = 'parked' AND d.reason = 'sidelined' AND d.due_at > $2), $2) AS turn
  FROM late)
UPDATE deliveries SET reason = CASE WHEN aside = 1 THEN 'sidelined' ELSE reason END, fresh_until = NULL, sidelined_at = $2,
  due_at = CASE WHEN aside = 1 OR turns.turn > deliveries.due_at THEN turns.turn ELSE deliveries.due_at END
FROM turns WHERE deliveries.ntf = turns.ntf AND deliveries.n = turns.n;

-- As due_apps, due_count and due_take, for what waits aside, before its turn.

-- name: aside_apps
WITH RECURSIVE apps(app) AS (
  SELECT MIN(app) FROM deliveries WHERE lane = $1 AND status = 'parked' AND reason = 'sidelined'
  UNION ALL
  SELECT (SELECT MIN(d.app) FROM deliveries d WHERE d.lane = $1 AND d.status = 'parked' AND d.reason = 'sidelined' AND d.app > apps.app)
  FROM apps WHERE apps.app IS NOT NULL),
firsts AS (
  SELECT apps.app, (
    SELECT MIN(d.due_at) FROM deliveries d WHERE d.lane = $1 AND d.status = 'parked' AND d.reason = 'sidelined' AND d.app = apps.app) AS first
  FROM apps WHERE apps.app IS NOT NULL)
SELECT app FROM firsts WHERE first >= $2 ORDER BY first LIMIT $3;

-- name: aside_count
SELECT COUNT(*) FROM (
  SELECT 1 AS one FROM deliveries WHERE lane = $1 AND app = $2 AND status = 'parked' AND reason = 'sidelined' AND due_at >= $3 LIMIT $4) AS due;

-- name: aside_queue
WITH due AS MATERIALIZED (
  SELECT ntf, n FROM deliveries WHERE lane = $1 AND app = $2 AND status = 'parked' AND reason = 'sidelined' AND due_at >= $3
  ORDER BY due_at LIMIT $4 {{skip}})
UPDATE deliveries SET status = 'queued', due_at = $3
WHERE (ntf, n) IN (SELECT ntf, n FROM due)
RETURNING ntf, n;

-- What waits for a turn at a provider that has room before it: the next ones come one each $3 microseconds. $5 is 1
-- for what is late.
-- name: turns_advance
WITH due AS MATERIALIZED (
  SELECT ntf, n, due_at FROM deliveries WHERE lane = $1 AND {{any turn}} AND (sidelined_at IS NOT NULL) = ($5 = 1) AND due_at > $2
  ORDER BY due_at LIMIT $4 {{skip}}),
turns AS MATERIALIZED (SELECT ntf, n, $2 + $3 * ROW_NUMBER() OVER (ORDER BY due_at, ntf, n) AS turn FROM due)
UPDATE deliveries SET due_at = turns.turn
FROM turns WHERE deliveries.ntf = turns.ntf AND deliveries.n = turns.n AND deliveries.due_at > turns.turn;
