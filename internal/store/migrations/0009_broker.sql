-- With which broker the log is worked: all of its processes must share one, or each has lanes of
-- its own and judges by them what is lost. One row at most.
CREATE TABLE broker (
  one     BIGINT PRIMARY KEY CHECK (one = 1),
  id      {{bytes}} NOT NULL, -- of an embedded one, which serves one process alone; empty: it is external
  about   TEXT NOT NULL, -- where the process runs that said so last
  seen_at BIGINT NOT NULL
);
