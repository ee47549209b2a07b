package points

import (
	"fmt"
	"net/http"
	"time"

	"tidings/internal/config"
)

// A scenario is one way through the service. What prepares it is not counted; what happens is.
type scenario struct {
	name      string
	edit      func(*config.Config) // of the configuration; nil: none
	prepare   func(w *world)       // nil: nothing
	happens   func(w *world)
	within    time.Duration // in which everything comes to an end, a death included
	delay     time.Duration // how long a provider may take to accept
	fromStart bool          // the start on empty files is counted too
}

func shipped(user string) map[string]any {
	return map[string]any{
		"type": "order.shipped", "user": user, "channels": []string{"push"},
		"data": map[string]any{"order": "4711", "carrier": "UPS"},
	}
}

func code(user string) map[string]any {
	return map[string]any{"type": "login.code", "user": user, "data": map[string]any{"code": "482913"}}
}

func owed(user string) map[string]any {
	return map[string]any{"type": "payment.failed", "user": user, "channels": []string{"sms"},
		"data": map[string]any{"amount": 5, "currency": "EUR"}}
}

func offer(user string) map[string]any {
	return map[string]any{"type": "offer.weekly", "user": user, "channels": []string{"email"},
		"data": map[string]any{"headline": "Ten percent"}}
}

func with(event map[string]any, name string, value any) map[string]any {
	event[name] = value
	return event
}

func oneDevice(w *world) { w.device("u_1", 1) }

// troubled prepares a user with a device and rules for the providers.
func troubled(rules string) func(w *world) {
	return func(w *world) {
		w.device("u_1", 1)
		w.contact("u_1", 1)
		w.faults(rules)
	}
}

const down = `[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`

func scenarios() []scenario {
	return []scenario{
		{name: "a first start", happens: func(w *world) { w.device("u_1", 1); w.post(shipped("u_1")) }, within: 2 * time.Minute, fromStart: true},
		{name: "a push is accepted", prepare: oneDevice, happens: func(w *world) { w.post(shipped("u_1")) }, within: 2 * time.Minute},
		{name: "a provider is down twice", prepare: troubled(`[{"provider":"apns","times":2,"do":{"status":503,"reason":"ServiceUnavailable"}}]`), happens: func(w *world) { w.post(shipped("u_1")) }, within: 3 * time.Minute},
		{name: "a text falls back to the second provider", prepare: troubled(`[{"provider":"twilio","times":1,"do":{"status":503}}]`), happens: func(w *world) { w.post(code("u_1")) }, within: 5 * time.Minute},
		{name: "a lost answer is retried", prepare: troubled(`[{"provider":"twilio","times":1,"do":{"reset":"after"}}]`), happens: func(w *world) { w.post(code("u_1")) }, within: 5 * time.Minute},
		{name: "a lost answer waits for a receipt", prepare: troubled(`[{"provider":"twilio","times":1,"do":{"reset":"after"}}]`), happens: func(w *world) { w.post(owed("u_1")) }, within: 10 * time.Minute},
		{name: "a lost answer is given up", prepare: troubled(`[{"provider":"smtp","times":1,"do":{"reset":"after"}}]`), happens: func(w *world) { w.post(offer("u_1")) }, within: 5 * time.Minute},
		{name: "a receipt overtakes the record", prepare: troubled(`[{"provider":"twilio","receipts":{"order":["delivered"],"delay":"1ns"}}]`), happens: func(w *world) { w.post(owed("u_1")) }, within: 10 * time.Minute},
		{name: "an opt-out finds it parked", prepare: troubled(down), happens: optOutWhileParked, within: 5 * time.Minute},
		{name: "a cancel finds it sending", prepare: troubled(`[{"provider":"apns","do":{"delay":"3s"}}]`), happens: cancelWhileSending, within: 5 * time.Minute, delay: 3 * time.Second},
		{name: "a hold is released", prepare: oneDevice, happens: func(w *world) {
			w.post(with(shipped("u_1"), "send_at", time.Now().Add(3*time.Second).UTC().Format(time.RFC3339)))
		}, within: 5 * time.Minute},
		{name: "it expires", prepare: troubled(down), happens: func(w *world) { w.post(with(shipped("u_1"), "expires_in", "5s")) }, within: 3 * time.Minute},
		{name: "a dead letter is tried again", edit: oneTry, prepare: deadLetter, happens: redrive, within: 3 * time.Minute},
		{name: "a batch of 120", prepare: manyDevices, happens: batchOf120, within: 3 * time.Minute},
	}
}

func optOutWhileParked(w *world) {
	w.post(shipped("u_1"))
	time.Sleep(300 * time.Millisecond)
	w.optOut("u_1", "orders")
	w.sim.ClearFaults()
}

func cancelWhileSending(w *world) {
	w.post(shipped("u_1"))
	time.Sleep(time.Second)
	w.cancelOne(w.told.posts[0].ID)
	w.sim.ClearFaults()
}

func oneTry(c *config.Config) { c.Workers.Delivery.MaxAttempts = 1 }

// deadLetter is a delivery that used up its one try.
func deadLetter(w *world) {
	w.device("u_1", 1)
	w.faults(down)
	w.post(shipped("u_1"))
	w.rest(time.Minute)
	w.sim.ClearFaults()
}

// redrive asks until it is answered; the second time there may be nothing left to try.
func redrive(w *world) {
	w.must(http.MethodPost, "/v1/dead-letters/redrive", map[string]any{"rate_per_second": 10}, nil)
}

func manyDevices(w *world) {
	for i := range 12 {
		w.device(fmt.Sprint("u_", i), i)
	}
}

func batchOf120(w *world) {
	var events []map[string]any
	for i := range 120 {
		events = append(events, shipped(fmt.Sprint("u_", i%12)))
	}
	w.batch(events)
}
