-- What has not been tried and waits for its turn at a provider: it is due, but for that.
CREATE INDEX deliveries_turn ON deliveries (lane, due_at, app) WHERE status = 'parked' AND reason = '' AND claim_no = 0;
