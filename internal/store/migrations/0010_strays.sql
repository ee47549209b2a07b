-- Receipts that name a delivery and no message of the provider are told apart by the delivery:
-- of two with one instant none is lost. Empty: it names none.
CREATE TABLE stray_receipts_again (
  provider    TEXT NOT NULL,
  ref         TEXT NOT NULL,
  status      TEXT NOT NULL,
  at          BIGINT NOT NULL,
  delivery    {{bytes}} NOT NULL,
  claim_no    BIGINT NOT NULL,
  outcome     TEXT NOT NULL,
  code        TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (provider, ref, status, at, delivery)
);
INSERT INTO stray_receipts_again (provider, ref, status, at, delivery, claim_no, outcome, code, received_at)
SELECT provider, ref, status, at, COALESCE(delivery, CAST('' AS {{bytes}})), claim_no, outcome, code, received_at FROM stray_receipts;
DROP TABLE stray_receipts;
ALTER TABLE stray_receipts_again RENAME TO stray_receipts;
