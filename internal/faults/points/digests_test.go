package points

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"tidings"
	"tidings/internal/config"
	"tidings/internal/faults"
)

// togetherFolder is a catalogue whose comments are told of together.
const togetherFolder = "testdata/digests"

func together(c *config.Config) { c.Catalog = togetherFolder }

// comment has a mark of its own, by which the message is known that tells of it.
func comment(user, post, mark string) map[string]any {
	return map[string]any{"type": "comment.created", "user": user, "dedupe_key": "comment-" + mark,
		"data": map[string]any{"post": post, "text": mark}}
}

// comments posts some at once, as many callers as comments, until all are answered.
func (w *world) comments(post string, from, to int) {
	w.t.Helper()
	posts := make([]faults.Post, to-from)
	var callers sync.WaitGroup
	for i := range posts {
		callers.Go(func() {
			mark := fmt.Sprint(from + i)
			e := comment("u_1", post, mark)
			var a struct{ ID tidings.NotificationID }
			w.must(http.MethodPost, "/v1/events", e, &a)
			posts[i] = faults.Post{Key: e["dedupe_key"].(string), ID: a.ID, Mark: mark}
		})
	}
	callers.Wait()
	w.told.posts = append(w.told.posts, posts...)
}

// gatherTwo wait until their digest closes; one of them is cancelled.
func gatherTwo(w *world) {
	w.comments("Bread", 0, 2)
	w.cancelOne(w.told.posts[0].ID)
}

// gatherMany fill some digests, and some are left for their time, while others of another key come.
func gatherMany(w *world) {
	w.comments("Bread", 0, 7)
	w.comments("Cake", 7, 9)
	time.Sleep(9900 * time.Millisecond) // what comes now comes while the last closes
	w.comments("Bread", 9, 13)
}

// optOutOfDigest finds what is gathered, and what was told of already and waits for another try.
func optOutOfDigest(w *world) {
	w.comments("Bread", 0, 5)
	time.Sleep(300 * time.Millisecond)
	w.optOut("u_1", "social")
	w.sim.ClearFaults()
}

// cancelOne cancels; that there is nothing left to cancel is an answer too.
func (w *world) cancelOne(id tidings.NotificationID) {
	w.t.Helper()
	if status := w.do(http.MethodPost, "/v1/notifications/"+id.String()+"/cancel", nil, nil); status != http.StatusOK && status != http.StatusConflict {
		w.t.Errorf("cancel: %d", status)
	}
}

// digestScenarios are those in which events are told of together.
func digestScenarios() []scenario {
	return []scenario{
		{name: "a digest closes at its time", edit: together, prepare: oneDevice, happens: gatherTwo, within: 3 * time.Minute},
		{name: "digests close while others come", edit: together, prepare: oneDevice, happens: gatherMany, within: 5 * time.Minute},
		{name: "an opt-out finds a digest", edit: together, prepare: troubled(down), happens: optOutOfDigest, within: 5 * time.Minute},
	}
}
