package store

import (
	"slices"
	"strings"
	"testing"
)

func TestNoHotStatementReadsAWholeTable(t *testing.T) {
	s := openSQLiteStore(t)
	may := []string{ // be read from end to end
		"SCAN due", "SCAN apps", "SCAN turns", "SCAN (subquery", "SCAN firsts", "SCAN late", "SCAN lost", "SCAN c", "CONSTANT ROW", // what the statement itself gathered
		"SCAN json_each",                      // the keys that the caller asks for
		"deliveries_live",                     // the live rows, from their index alone
		"notifications_sealed",                // what is sealed, which is what is live
		"holds_waiting", "dedupe_keys_expiry", // up to a limit, in order
		"SCAN s", // strays are few
	}
	hot := []string{"replay", "waiting", "waiting_came", "waiting_apps",
		"dedupe_take", "dedupe_find", "user_make", "user_add", "user_amend", "address_add", "notification_add", "delivery_add", "hold_consume", "release_facts",
		"delivery_lock", "claim_facts", "claim_take", "claim_refuse", "erase_data", "record_facts", "attempt_outcomes", "receipt_statuses", "delivery_settle",
		"stray_take", "attempt_add", "receipt_add", "due_apps", "due_count", "due_take", "aside_take", "aside_apps", "aside_count", "aside_queue", "turns_advance", "unqueue", "lost_take", "absurd_take", "overdue", "expired_take", "settle_facts", "holds_due", "hold_next",
		"dedupe_purge", "attempt_by_ref", "attempt_refs", "receipt_facts", "engaged", "cancel_find", "cancel_rows", "cancel_deliveries", "cancel_holds",
		"collapse_find", "collapse_deliveries", "collapse_marks", "collapse_holds", "collapse_end", "user_facts", "address_facts", "address_ok", "address_dead", "address_strike", "address_suppress", "expired_queued", "lane_head", "lane_waiting", "erase_left", "erase_late", "strays_matched", "strays_named", "dedupe_holders", "list_floor", "list_of_user_floor", "list_of_user",
		"outlived", "forget_lock", "forget_lock_deliveries", "forget_facts", "forget_sums", "daily_add", "forget_attempts", "forget_receipts", "forget_timeline",
		"forget_deliveries", "forget_holds", "forget_digest_items", "forget_notification", "digests_forget", "forget_items_of_digest", "detail_end", "detail_sums", "daily_read",
		"contact_holders", "user_there", "addresses_page", "addresses_of_user", "consents_of_user", "consent_asked", "opt_outs_of_user", "notification_person", "dead_list", "dead_oldest", "dead_one", "claim_seize", "claim_unseize", "counter_take", "counter_lock", "counter_put", "counter_purge", "refund_find", "refund_whose", "counters_of", "digest_join", "digests_gathering", "digest_next", "digests_close", "digest_waiting",
		"digest_hold", "digest_flushed", "digest_of", "digests_of", "digest_content", "digest_stands", "digest_holds", "digest_part_off", "digest_part_on", "digest_shrink", "digest_shrink_deliveries", "digest_deliveries", "digest_waits", "standing_notification", "digest_parts", "digest_clean", "standing_deliveries", "standing_holds",
		"digest_split", "digest_item_move", "engaged_unsubscribed",
		"erase_mark", "erase_told", "erase_words", "erase_user_data", "erase_deliveries", "erase_under_way", "erase_holds", "erase_counters", "erase_preferences", "erase_dedupe", "erase_digest_items", "erase_digests", "erase_consents", "erase_addresses", "erase_user", "notifications_of_user", "holds_of_user", "digests_of_user", "digest_items_of_user", "counters_of_user"}
	err := s.read(t.Context(), func(tx *tx) error {
		for _, name := range hot {
			for _, step := range plan(t, tx, name) {
				if strings.HasPrefix(step, "SCAN") && !slices.ContainsFunc(may, func(m string) bool { return strings.Contains(step, m) }) {
					t.Errorf("%s: %s", name, step)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func plan(t *testing.T, tx *tx, name string) []string {
	t.Helper()
	text := tx.queries[name]
	args := make([]any, strings.Count(text, "$"))
	rows, err := tx.conn.QueryContext(tx.ctx, "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
