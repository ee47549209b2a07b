package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"tidings/internal/faults"
)

// What is private of the people of a run begins with a mark, so that it is found wherever it leaks.
const (
	people    = 120
	phoneMark = "+1555014" // and four digits
	mailMark  = "canary-mailbox-"
	tokenMark = "ca11ab1eca11ab1e" // of APNs tokens, which are hexadecimal
	fcmMark   = "canary-registration-"
	codeMark  = "7351900" // and more digits
)

// What is told of together: half of the comments go to one person about one post, so that digests fill up.
const (
	commentType = "comment.created"
	wellRead    = 1 // the number of that person, who has two devices
	readPost    = "Bread"
)

func userID(n int) string { return fmt.Sprintf("u_%04d", n) }

// register makes everybody known; one in twenty has a device that is gone.
func (t *traffic) register(ctx context.Context) error {
	failed := make(chan error, callers)
	var wait sync.WaitGroup
	for first := range callers {
		wait.Go(func() {
			for n := first; n < people; n += callers {
				if err := t.person(ctx, n); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(failed)
	return <-failed
}

func (t *traffic) person(ctx context.Context, n int) error {
	api, path := t.services[0].Client, "/v1/users/"+userID(n)
	user := map[string]any{"locale": "en", "timezone": "UTC", "email": fmt.Sprintf("%s%d@example.test", mailMark, n), "phone": fmt.Sprintf("%s%04d", phoneMark, 1000+n)}
	if err := api.Do(ctx, http.MethodPut, path, user, nil); err != nil {
		return err
	}
	token := tokenMark + fmt.Sprintf("%048x", n)
	if n%20 == 0 {
		token = "dead" + token[4:]
	}
	devices := []map[string]any{{"channel": "push", "provider": "apns", "token": token}, {"channel": "push", "provider": "fcm", "token": fmt.Sprintf("%s%d", fcmMark, n)}}
	for _, device := range devices[:1+n%2] {
		if err := api.Do(ctx, http.MethodPost, path+"/addresses", device, nil); err != nil {
			return err
		}
	}
	return nil
}

// canaries are the marks, and the secret of the key.
func (t *traffic) canaries(key string) []faults.Canary {
	_, secret, _ := strings.Cut(key, ".")
	return []faults.Canary{
		{What: "a phone number", Text: phoneMark}, {What: "a mailbox", Text: mailMark}, {What: "a device token", Text: tokenMark},
		{What: "a registration token", Text: fcmMark}, {What: "a login code", Text: codeMark}, {What: "the secret of a key", Text: secret},
	}
}

// An event is one as an app posts it.
type event struct {
	Type      string         `json:"type"`
	User      string         `json:"user"`
	Channels  []string       `json:"channels,omitempty"`
	Data      map[string]any `json:"data"`
	DedupeKey string         `json:"dedupe_key"`
	SendAt    *time.Time     `json:"send_at,omitempty"`
	ExpiresIn string         `json:"expires_in,omitempty"`
	Mark      string         `json:"-"` // of a message that tells of it; empty: none
}

// newEvent is the event with a number: mostly to be sent now, some later, some not for long.
func newEvent(n int, random *rand.Rand) event {
	e := event{User: userID(random.IntN(people)), DedupeKey: fmt.Sprintf("event-%d", n)}
	switch kind := random.Float64(); {
	case kind < 0.2:
		e.Type, e.Data = "login.code", map[string]any{"code": fmt.Sprintf("%s%06d", codeMark, n)}
	case kind < 0.4:
		e.Type, e.Data = "payment.failed", map[string]any{"amount": n, "currency": "EUR"}
	case kind < 0.5:
		e.Type, e.Data = "security.alert", map[string]any{"device": "Phone", "place": "Lisbon"}
	case kind < 0.65:
		e = newComment(n, e.User, fmt.Sprintf("Cake %d", random.IntN(2)))
		if random.Float64() < 0.5 {
			e = newComment(n, userID(wellRead), readPost)
		}
	case kind < 0.8:
		e.Type, e.Data = "offer.weekly", map[string]any{"headline": fmt.Sprintf("Ten percent off number %d", n)}
	default:
		e.Type, e.Data = "order.shipped", map[string]any{"order": fmt.Sprint(n), "carrier": "UPS"}
	}
	switch chance := random.Float64(); {
	case chance < 0.03:
		later := time.Now().Add(time.Duration(1+random.IntN(4000)) * time.Millisecond).UTC().Truncate(time.Microsecond)
		e.SendAt = &later
	case chance < 0.06:
		e.ExpiresIn = fmt.Sprintf("%ds", 1+random.IntN(10))
	}
	return e
}

// newComment is a comment with a mark, by which the messages are known that tell of it.
func newComment(n int, user, post string) event {
	return event{Type: commentType, User: user, Channels: []string{"push"}, DedupeKey: fmt.Sprintf("event-%d", n), Mark: fmt.Sprint(n),
		Data: map[string]any{"post": post, "author": "Ann", "text": fmt.Sprint(n)}}
}
