package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tidings/channels/simulator"
)

func comment(post string, n int) map[string]any {
	return map[string]any{"type": "comment.created", "user": "u_1", "channels": []string{"push"},
		"data": map[string]any{"post": post, "author": fmt.Sprint("Ann ", n), "text": "This worked!"}}
}

// titles counts the pushes by their title.
func (w *world) titles() map[string]int {
	w.t.Helper()
	counts := map[string]int{}
	for line := range bytes.Lines(w.ledger.bytes()) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		counts[e.Title]++
	}
	return counts
}

func TestCommentsAreToldOfTogetherAndOnceThoughTheServiceRestarts(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		var ids []string
		for i := range 60 { // fifty fill one digest, the others wait for the window
			ids = append(ids, w.post(comment("Bread", i)))
		}
		single := w.post(comment("Cake", 1))
		w.until(ids[0], "sent", time.Minute)
		if s := w.trail(ids[59]); s.Status != "held" {
			t.Errorf("the last is %s: %s", s.Status, s.Summary)
		}
		w.stop()
		time.Sleep(11 * time.Minute) // it closes while nobody is there
		w.start()
		ids = append(ids, single)
		for _, id := range ids {
			w.until(id, "sent", time.Minute)
		}
		want := map[string]int{"50 new comments on Bread": 1, "10 new comments on Bread": 1, "Ann 1 commented on Cake": 1}
		if got := w.titles(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("pushes %v, want %v", got, want)
		}
		w.onceEach(3)
	})
}

// What a user mutes while a digest of it waits in its lane is not told, and its parts say why.
func TestADigestInAPausedLaneIsNotSentOnceItsThreadIsMuted(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		ids := []string{w.post(comment("Bread", 1)), w.post(comment("Bread", 2)), w.post(comment("Cake", 1))}
		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		time.Sleep(10*time.Minute + 30*time.Second)
		w.until(ids[0], "accepted", time.Minute)
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"threads": map[string]any{"social": map[string]any{"Bread": false, "Cake": false}}}, nil)
		w.do(http.MethodPost, "/v1/lanes/push.bulk/resume", nil, nil)
		for _, id := range ids {
			w.until(id, "suppressed", time.Minute)
			if s := w.trail(id); !strings.HasSuffix(s.Summary, "was not sent: the user muted this thread of social.") {
				t.Errorf("it is %s: %s", s.Status, s.Summary)
			}
		}
	})
}

func TestADigestInAPausedLaneTellsOfWhatIsStillOfUse(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		late, off, kept := comment("Bread", 1), comment("Bread", 2), comment("Bread", 3)
		late["expires_in"] = "11m"
		ids := []string{w.post(late), w.post(off), w.post(kept)}
		alone := comment("Cake", 1)
		alone["expires_in"] = "11m"
		single := w.post(alone)
		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		time.Sleep(10*time.Minute + 30*time.Second)
		w.until(ids[0], "accepted", time.Minute)
		w.do(http.MethodPost, "/v1/notifications/"+ids[1]+"/cancel", nil, nil)
		time.Sleep(2 * time.Minute)
		w.do(http.MethodPost, "/v1/lanes/push.bulk/resume", nil, nil)
		w.until(ids[2], "sent", time.Minute)
		if got := fmt.Sprint(w.titles()); got != "map[Ann 3 commented on Bread:1]" {
			t.Errorf("pushes %s", got)
		}
		w.until(single, "expired", time.Minute)
		for i, want := range []string{"Push was not sent: it would have come too late to be of use.", "Push was called off before its digest was sent."} {
			if s := w.trail(ids[i]); s.Summary != want {
				t.Errorf("it is %s: %s; want %s", s.Status, s.Summary, want)
			}
		}
	})
}
