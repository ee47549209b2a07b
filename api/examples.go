package api

// The bodies that the document shows. The decoder accepts each of them.
const (
	eventExample = `{
  "type": "order.shipped",
  "user": {"id": "u_4711", "email": "ann@example.test"},
  "data": {"order": "4711", "carrier": "UPS"},
  "dedupe_key": "order-4711-shipped",
  "channels": ["push", "email"],
  "send_at": "2026-12-01T08:00:00Z",
  "expires_in": "24h",
  "collapse_key": "order-4711"
}`
	batchExample = `{
  "events": [
    {"type": "order.shipped", "user": "u_4711", "data": {"order": "4711", "carrier": "UPS"}},
    {"type": "order.shipped", "user": "u_4712", "data": {"order": "4712", "carrier": "UPS"}}
  ]
}`
	userExample = `{
  "locale": "de",
  "timezone": "Europe/Berlin",
  "email": "ann@example.test",
  "phone": "+15550100",
  "attributes": {"first_name": "Ann"}
}`
	addressExample = `{
  "channel": "push",
  "provider": "apns",
  "token": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
}`
	preferencesExample = `{
  "categories": {"orders": {"email": false}, "offers": false},
  "locale": "de",
  "version": 7
}`
	consentExample = `{
  "category": "offers",
  "action": "give",
  "wording": "Send me offers by e-mail. I can unsubscribe at any time.",
  "version": "2026-11"
}`
	laneExample    = `{"rate_per_second": 50}`
	redriveExample = `{
  "channel": "sms",
  "reason": "retries_spent",
  "since": "2026-12-01T08:00:00Z",
  "rate_per_second": 20,
  "dry_run": true
}`
	replayExample = `{
  "since": "2026-12-01T08:00:00Z",
  "files": {
    "catalog.yaml": "default_locale: en\ncategories: {orders: {kind: transactional}}\nevents: {order.shipped: {category: orders, channels: [sms]}}\n",
    "templates/order.shipped/sms.en.txt": "Your order {{ .data.order }} is on its way."
  }
}`
	catalogExample = `{
  "files": {
    "catalog.yaml": "default_locale: en\ncategories: {orders: {kind: transactional}}\nevents: {order.shipped: {category: orders, channels: [sms]}}\n",
    "templates/order.shipped/sms.en.txt": "Your order {{ .data.order }} is on its way."
  }
}`
)
