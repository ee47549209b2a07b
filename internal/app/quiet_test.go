package app_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bubbles begin at midnight UTC on 1 January 2000, a Saturday.

// night gives a user quiet hours in which it is night now, and says when they end.
func (w *world) night(user, zone string, start, end string) {
	w.t.Helper()
	w.do(http.MethodPatch, "/v1/users/"+user+"/preferences",
		map[string]any{"timezone": zone, "quiet_hours": map[string]any{"start": start, "end": end}}, nil)
}

// sentAt waits until an event is sent and gives the time of day, in UTC.
func (w *world) sentAt(id string, atMost time.Duration) string {
	w.t.Helper()
	w.until(id, "sent", atMost)
	return time.Now().UTC().Format(time.TimeOnly)
}

func TestWhatComesInQuietHoursIsSentAfterTheirEndWithinTheSpread(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.night("u_1", "Europe/Berlin", "22:00", "01:05") // there it is one o'clock
		id := w.post(shipped("u_1", nil))
		short := w.post(shipped("u_1", map[string]any{"expires_in": "2m"}))
		s := w.trail(id)
		if s.Status != "held" || !strings.Contains(s.Summary, "held until 00:05:00 UTC") {
			t.Fatalf("in the night it is %s: %s", s.Status, s.Summary)
		}
		if s := w.trail(short); s.Status != "suppressed" || s.Summary != "Push was not sent: the user's quiet hours last for longer than it is of use." {
			t.Errorf("what is of no use in the morning is %s: %s", s.Status, s.Summary)
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 4, 59, 0, time.UTC)))
		synctest.Wait()
		if n := len(w.accepts()); n != 0 {
			t.Fatalf("%d were sent before the end of quiet hours", n)
		}
		if at := w.sentAt(id, 70*time.Second); at < "00:05:00" || at > "00:06:10" {
			t.Errorf("sent at %s", at)
		}
		w.onceEach(1)
	})
}

func TestABacklogWaitsForTheMorningToo(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.night("u_1", "UTC", "00:01", "00:30")
		w.faults(`[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`)
		id, short := w.post(shipped("u_1", nil)), w.post(shipped("u_1", map[string]any{"expires_in": "25m"}))
		time.Sleep(80 * time.Second) // its tries fail, and the night begins
		w.sim.ClearFaults()
		s := w.trail(id)
		for range 26 { // until the pauses after its failed tries are over
			if time.Sleep(time.Minute); s.Deliveries[0].Reason != "quiet_hours" {
				s = w.trail(id)
			}
		}
		if n := len(w.accepts()); n != 0 {
			t.Fatalf("%d were sent in the night", n)
		}
		if !strings.Contains(s.Summary, "waits for the end of quiet hours at 00:30:00 UTC") || s.Deliveries[0].Reason != "quiet_hours" {
			t.Errorf("in the night: %s, reason %s", s.Summary, s.Deliveries[0].Reason)
		}
		const outlast = "the user's quiet hours last for longer than it is of use."
		if s := w.trail(short); s.Summary != "Push was not sent in time: "+outlast || !tells(s, "expired", outlast) {
			t.Errorf("of no use in the morning, and it says %s %+v", s.Summary, s.Timeline)
		}
		if at := w.sentAt(id, 10*time.Minute); at < "00:30:00" {
			t.Errorf("sent at %s", at)
		}
		if s := w.trail(id); !strings.Contains(s.Timeline[len(s.Timeline)-2].Text+s.Timeline[len(s.Timeline)-1].Text, "accepted it") || !tells(s, "held", "end of quiet hours at 00:30:00 UTC") {
			t.Errorf("the trail does not tell of the night: %+v", s.Timeline)
		}
	})
}

func tells(s shown, kind, text string) bool {
	for _, m := range s.Timeline {
		if m.Kind == kind && strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// Whoever moves, or changes their hours, gets what waits at the first instant that is allowed there.
func TestAChangeOfZoneOrHoursCountsForWhatWaits(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		for n, change := range []func(user string){
			func(user string) { w.night(user, "Asia/Tokyo", "22:00", "07:00") },
			func(user string) {
				w.do(http.MethodPatch, "/v1/users/"+user+"/preferences", map[string]any{"quiet_hours": nil}, nil)
			},
			func(user string) {
				w.do(http.MethodPut, "/v1/users/"+user, map[string]any{"timezone": "Asia/Tokyo"}, nil)
			},
			func(user string) {
				w.post(shipped("", map[string]any{"user": map[string]any{"id": user, "timezone": "Asia/Tokyo"}, "channels": []string{"email"}}))
			},
		} {
			user := []string{"u_1", "u_2", "u_3", "u_4"}[n]
			w.device(user, n)
			w.night(user, "UTC", "22:00", "07:00")
			id := w.post(shipped(user, nil))
			if s := w.trail(id); s.Status != "held" {
				t.Fatalf("%s: %s", user, s.Summary)
			}
			before := time.Now()
			change(user)
			w.until(id, "sent", time.Minute)
			if took := time.Since(before); took > 10*time.Second {
				t.Errorf("%s: sent %v after the change", user, took)
			}
			if s := w.trail(id); !tells(s, "held", "") && !tells(s, "released", "") {
				t.Errorf("%s: the trail tells nothing of the wait: %+v", user, s.Timeline)
			}
		}
	})
}

func TestAnEarlierZoneMakesWhatWaitsWaitLonger(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.night("u_1", "UTC", "22:00", "07:00")
		id := w.post(shipped("u_1", nil))
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"timezone": "America/New_York"}, nil)
		w.until(id, "sent", 10*time.Second) // in New York it is 19:00
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"timezone": "UTC"}, nil)
		later := w.post(shipped("u_1", nil))
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"timezone": "Atlantic/Azores"}, nil) // one hour behind
		time.Sleep(5 * time.Second)
		if s := w.trail(later); !strings.Contains(s.Summary, "held until 08:00:00 UTC") {
			t.Errorf("after moving west: %s", s.Summary)
		}
	})
}

// A scheduled time in quiet hours is neither early nor forgotten when the hours change.
func TestWhatIsScheduledIntoTheNightKeepsItsTime(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.night("u_1", "UTC", "22:00", "07:00")
		at := map[string]any{"send_at": "2000-01-01T00:03:00Z"}
		dropped, kept := w.post(shipped("u_1", at)), w.post(shipped("u_1", map[string]any{"send_at_local": "2000-01-01T00:03"}))
		if s := w.trail(kept); !strings.Contains(s.Summary, "held until 07:00:00 UTC") {
			t.Errorf("scheduled into the night: %s", s.Summary)
		}
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"quiet_hours": nil}, nil)
		time.Sleep(2 * time.Minute)
		if n := len(w.accepts()); n != 0 {
			t.Fatalf("%d were sent before send_at", n)
		}
		for _, id := range []string{dropped, kept} {
			if at := w.sentAt(id, 2*time.Minute); at < "00:03:00" || at > "00:03:30" {
				t.Errorf("sent at %s", at)
			}
		}
	})
}
