-- What decisions depend on, for a JSON list of users.

-- name: user_facts
SELECT u.id, u.locale, u.timezone, u.email, u.phone, u.attributes, u.created_at, u.updated_at, p.doc, p.version
FROM users u LEFT JOIN preferences p ON p.user_id = u.id WHERE u.id IN ({{list}});

-- name: address_facts
SELECT a.id, a.user_id, a.channel, a.provider, a.value, a.status, a.reason, a.strikes, a.struck_at, a.registered_at, a.last_ok_at,
  a.retired_at, s.reason, s.at
FROM addresses a LEFT JOIN suppressions s ON s.channel = a.channel AND s.hash = a.hash
WHERE a.user_id IN ({{list}}) ORDER BY a.id;

-- name: contact_suppression
SELECT reason, at FROM suppressions WHERE channel = $1 AND hash = $2;
