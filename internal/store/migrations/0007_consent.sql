-- One address of a user in two spellings is one address: the hash is over the form in which both
-- are equal. Of those registered twice the older one stays.
DELETE FROM addresses WHERE EXISTS (SELECT 1 FROM addresses o WHERE o.user_id = addresses.user_id AND o.channel = addresses.channel
  AND o.provider = addresses.provider AND o.hash = addresses.hash AND o.id < addresses.id);
DROP INDEX addresses_of_user;
CREATE UNIQUE INDEX addresses_of_user ON addresses (user_id, channel, provider, hash);

-- Who has a number or a mailbox, for whoever says stop there.
CREATE INDEX addresses_contact ON addresses (hash) WHERE channel IN ('sms', 'email');
