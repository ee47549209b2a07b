-- Publishers take turns, so that what is looked for and what is added next belong together.
-- name: catalogue_mutex
SELECT {{mutex}}(CAST($1 AS BIGINT));

-- name: catalogue_add
INSERT INTO catalogues (version, hash, files, created_at)
SELECT COALESCE(MAX(version), 0) + 1, CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM catalogues
RETURNING version;

-- name: catalogue_of_hash
SELECT version FROM catalogues WHERE hash = $1 ORDER BY version DESC LIMIT 1;

-- name: catalogue_newest_of_hash
SELECT version FROM catalogues WHERE hash = $1 AND version = (SELECT MAX(version) FROM catalogues);

-- name: catalogue
SELECT version, hash, files, created_at FROM catalogues WHERE version = $1;

-- name: catalogue_newest
SELECT version, hash, files, created_at FROM catalogues ORDER BY version DESC LIMIT 1;

-- name: catalogue_versions
SELECT version, hash, created_at FROM catalogues ORDER BY version DESC;
