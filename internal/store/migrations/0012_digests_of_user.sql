-- An export and an erasure look at the digests of one user.
CREATE INDEX digests_of_user ON digests (user_id);
