-- Files of an older version may be published again, as a new version: their hash is not unique.
CREATE TABLE catalogues_again (
  version    BIGINT PRIMARY KEY,
  hash       TEXT NOT NULL,
  files      TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
INSERT INTO catalogues_again (version, hash, files, created_at) SELECT version, hash, files, created_at FROM catalogues;
DROP TABLE catalogues;
ALTER TABLE catalogues_again RENAME TO catalogues;
CREATE INDEX catalogues_hash ON catalogues (hash);
