-- What did not fit into a digest goes on in another, which limits do not count once more.
ALTER TABLE digests ADD COLUMN continued BIGINT NOT NULL DEFAULT 0;
