-- The trail of a digest lists its parts.
CREATE INDEX digests_became ON digests (ntf) WHERE ntf IS NOT NULL;
