package intake

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings/deploy"
	"tidings/internal/group"
	"tidings/templates"
)

func TestWhileTheWriterDoesNotKeepUpCallersAreToldInOrder(t *testing.T) {
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { crowd(t, catalogue) })
}

func crowd(t *testing.T, catalogue *templates.Catalogue) {
	in := &Intake{Settings: Settings{Catalogue: func() (*templates.Catalogue, int64) { return catalogue, 1 }}}
	stuck := make(chan struct{})
	g := group.New(group.Config{Max: 1, Wait: time.Millisecond, Queue: waitingPosts}, func(posts []post) ([]outcome, error) {
		<-stuck
		return make([]outcome, len(posts)), nil
	})
	ctx, giveUp := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	waits := func(n int) {
		for g.Waiting() < n {
			for range n - g.Waiting() {
				callers.Go(func() { _, _ = g.Do(ctx, post{}) })
			}
			synctest.Wait()
		}
	}
	expect := func(why string, marketing, transactional, critical bool) {
		t.Helper()
		for event, want := range map[string]bool{"offer.weekly": marketing, "order.shipped": transactional, "login.code": critical, "no.such": false} {
			if got := in.crowded(&Event{Type: event}, g); got != want {
				t.Errorf("%s, with %d waiting: %s turned away: %v, want %v", why, g.Waiting(), event, got, want)
			}
		}
	}
	expect("at rest", false, false, false)
	waits(waitingPosts*8/10 + 1)
	expect("four fifths full", true, false, false)
	waits(waitingPosts)
	expect("full", true, true, false)
	giveUp()
	close(stuck)
	callers.Wait()
	g.Close()
}
