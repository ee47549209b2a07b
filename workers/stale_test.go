package workers

import (
	"encoding/json"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// What a digest leaves out says whether the user switched it off, or muted the thread.
func TestWhatADigestLeavesOutSaysWhy(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	event := &tidings.EventType{Name: "comment", Category: tidings.Category{Name: "social", Kind: tidings.Transactional}, Thread: "post"}
	var items []tidings.DigestItem
	for i, post := range []string{"Bread", "Cake", "Tea"} {
		data, err := json.Marshal(map[string]string{"post": post})
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, tidings.DigestItem{ID: tidings.NewNotificationID(now.Add(time.Duration(i) * time.Millisecond)), Data: data, ExpiresAt: now.Add(time.Hour)})
	}
	items[2].ExpiresAt = now
	data, err := tidings.DigestData(items, false)
	if err != nil {
		t.Fatal(err)
	}
	c := &store.Claimed{Notification: tidings.Notification{Parts: len(items), Data: data}}
	p := preferences.Preferences{Threads: map[string]map[string]bool{"social": {"Cake": false}}}
	address := tidings.Address{Channel: tidings.Push, Status: tidings.AddressActive}
	_, stale := checked(c, preferences.Recheck{Event: event, Channel: tidings.Push, Preferences: p, Address: address}, now)
	want := []store.Leaving{
		{Part: items[1].ID, Reason: tidings.ReasonOptedOutCategory, Cause: tidings.CauseThread},
		{Part: items[2].ID, Reason: tidings.ReasonExpired},
	}
	if len(stale) != 2 || stale[0] != want[0] || stale[1] != want[1] {
		t.Errorf("leaves out %+v, want %+v", stale, want)
	}
}
