-- Why a hold was called off: cancelled, superseded, erased, or what its user decided meanwhile; '': it was not.
ALTER TABLE holds ADD COLUMN called_off TEXT NOT NULL DEFAULT '';
UPDATE holds SET called_off = CASE
  WHEN EXISTS (SELECT 1 FROM timeline t WHERE t.ntf = holds.ntf AND t.kind = 'cancelled' AND t.n = -1 AND t.text LIKE '%held for%' || holds.channel || '% is superseded by %') THEN 'superseded'
  WHEN EXISTS (SELECT 1 FROM timeline t WHERE t.ntf = holds.ntf AND t.kind = 'cancelled' AND t.n = -1 AND t.text = 'the user was erased') THEN 'erased'
  ELSE 'cancelled' END
WHERE state = 'cancelled';
