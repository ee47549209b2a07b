package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"tidings"
)

// raw runs a statement that is not a named one, to write what other verbs will.
func raw(t *testing.T, s *Store, text string, args ...any) {
	t.Helper()
	err := s.write(t.Context(), Normal, func(t *tx) error {
		_, err := t.conn.ExecContext(t.ctx, text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// onItsWay is a notification of u_1 with one delivery of that status to an address.
func onItsWay(t *testing.T, s *Store, a tidings.Address, status string) tidings.NotificationID {
	t.Helper()
	id := tell(t, s, tale{app: "shop", user: a.UserID, kind: "order.shipped", at: morning(), deliveries: []string{"push.bulk " + status}})[0]
	raw(t, s, "UPDATE deliveries SET address_id = $1 WHERE ntf = $2", a.ID[:], id[:])
	return id
}

func device(t *testing.T, s *Store, user string) tidings.Address {
	t.Helper()
	a, _, err := s.RegisterAddress(t.Context(), tidings.Address{UserID: user, Channel: tidings.Push, Provider: "apns", Value: "a1b2c3"}, morning())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestATrailHasTheAttemptsAndReceiptsOfEachDelivery(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		id := tell(t, s, tale{app: "shop", user: "u_1", kind: "order.shipped", at: morning(),
			deliveries: []string{"push.bulk sent", "sms.priority failed recipient_dead"}, holds: []string{"email quiet_hours released"}})[0]
		at := morning().UnixMicro()
		const attempt = `INSERT INTO attempts (ntf, n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, retry_at, ref)
			VALUES ($1, $2, $3, $4, 'twilio', $5, $6, $7, 200, 'c', 't', NULL, 'r')`
		raw(t, s, attempt, id[:], 0, 2, 0, at, at+5, "ok")
		raw(t, s, attempt, id[:], 0, 1, 0, at, at+5, "unknown")
		raw(t, s, attempt, id[:], 0, 1, 1, at, at+9, "ok")
		raw(t, s, attempt, id[:], 1, 1, 0, at, at+5, "ok")
		const receipt = `INSERT INTO receipts (ntf, n, claim_no, status, at, provider, ref, outcome, code, received_at)
			VALUES ($1, $2, $3, $4, $5, 'twilio', 'r', '', '30005', $6)`
		raw(t, s, receipt, id[:], 0, 2, "delivered", at+1, at+30)
		raw(t, s, receipt, id[:], 1, 1, "sent", at+1, at+20)
		raw(t, s, receipt, id[:], 1, 1, "bounced", at+2, at+10)

		trail, err := s.Trail(t.Context(), "shop", id)
		if err != nil {
			t.Fatal(err)
		}
		push, sms := trail.Deliveries[0], trail.Deliveries[1]
		if push.ID != tidings.DeliveryOf(id, 0) || push.Channel != tidings.Push || sms.Reason != tidings.ReasonRecipientDead {
			t.Errorf("deliveries = %+v", trail.Deliveries)
		}
		var told []bool
		for _, a := range append(push.Attempts, sms.Attempts...) {
			told = append(told, a.Late, a.Delivered, a.Refused)
		}
		if want := []bool{false, false, false, true, false, false, false, true, false, false, false, true}; !slices.Equal(told, want) {
			t.Errorf("late, delivered and refused of the attempts: %v, want %v", told, want)
		}
		if len(sms.Receipts) != 2 || sms.Receipts[0].Status != tidings.ReceiptBounced || sms.Receipts[0].Code != "30005" {
			t.Errorf("receipts = %+v, want them in order of arrival", sms.Receipts)
		}
		if len(trail.Holds) != 1 || trail.Holds[0].State != tidings.HoldReleased {
			t.Errorf("holds = %+v", trail.Holds)
		}
	})
}

func TestATrailOfAnotherAppIsNotFound(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		id := tell(t, s, tale{app: "shop", user: "u_1", kind: "order.shipped", at: morning()})[0]
		for app, want := range map[string]error{"shop": nil, "": nil, "forum": ErrNotFound} {
			if _, err := s.Trail(t.Context(), app, id); !errors.Is(err, want) {
				t.Errorf("app %q: %v, want %v", app, err, want)
			}
		}
	})
}

func TestATrailNeverShowsSensitiveData(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		id := tell(t, s, tale{app: "shop", user: "u_1", kind: "login.code", at: morning()})[0]
		raw(t, s, "UPDATE notifications SET sensitive = 1, data = $2 WHERE id = $1", id[:], s.seal.close(id, []byte(`{"code":"482913"}`)))
		trail, err := s.Trail(t.Context(), "", id)
		if err != nil || trail.Notification.Data != nil {
			t.Errorf("data = %s, %v", trail.Notification.Data, err)
		}
		export, err := s.notifications(t, "u_1")
		if err != nil || len(export) != 1 || export[0].Data != nil {
			t.Errorf("exported %+v, %v", export, err)
		}
	})
}

// notifications are those of an export.
func (s *Store) notifications(t *testing.T, user string) (list []tidings.Notification, err error) {
	err = s.read(t.Context(), func(t *tx) error {
		list, err = s.notificationsOf(t, user)
		return err
	})
	return list, err
}

func TestWhatIsOnItsWayLearnsOfItsAddress(t *testing.T) {
	for _, c := range []struct {
		why, status, kind string
		change            func(t *testing.T, s *Store, a tidings.Address) error
		want              []string
	}{
		{"a token moves", "queued", "address_moved", moves, []string{"address_moved"}},
		{"a token moves while it is being sent", "sending", "address_moved", moves, []string{"address_moved"}},
		{"a token moves after the end", "sent", "address_moved", moves, nil},
		{"an address is deleted", "parked", "address_retired", retires, []string{"address_retired"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			onBoth(t, func(t *testing.T, s *Store) {
				a := device(t, s, "u_1")
				id := onItsWay(t, s, a, c.status)
				if err := c.change(t, s, a); err != nil {
					t.Fatal(err)
				}
				trail, err := s.Trail(t.Context(), "", id)
				if err != nil {
					t.Fatal(err)
				}
				var kinds []string
				for _, m := range trail.Timeline {
					kinds = append(kinds, m.Kind)
					if m.Delivery != tidings.DeliveryOf(id, 0) || m.Text == "" || !m.At.Equal(morning().Add(time.Hour)) {
						t.Errorf("moment = %+v", m)
					}
				}
				if !slices.Equal(kinds, c.want) {
					t.Errorf("timeline has %v, want %v", kinds, c.want)
				}
			})
		})
	}
}

func moves(t *testing.T, s *Store, a tidings.Address) error {
	a.ID, a.UserID = tidings.AddressID{}, "u_2"
	_, _, err := s.RegisterAddress(t.Context(), a, morning().Add(time.Hour))
	return err
}

func retires(t *testing.T, s *Store, a tidings.Address) error {
	return s.RetireAddress(t.Context(), a.UserID, a.ID, morning().Add(time.Hour))
}

func TestAnErasureEndsWhatIsNotSentAndForgetsTheData(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		a := device(t, s, "u_1")
		id := tell(t, s, tale{app: "shop", user: "u_1", kind: "order.shipped", key: "k1", at: morning(),
			deliveries: []string{"push.bulk queued", "push.bulk parked", "push.bulk sending", "push.bulk sent"}, holds: []string{"email quiet_hours waiting"}})[0]
		raw(t, s, "UPDATE deliveries SET address_id = $1 WHERE ntf = $2", a.ID[:], id[:])
		done := onItsWay(t, s, a, "sent")
		other := tell(t, s, tale{app: "shop", user: "u_2", kind: "order.shipped", at: morning(), deliveries: []string{"push.bulk queued"}})[0]
		if err := s.EraseUser(t.Context(), "u_1", morning().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}

		trail, err := s.Trail(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		var statuses []tidings.Status
		for _, d := range trail.Deliveries {
			statuses = append(statuses, d.Status)
			if d.Address != "" {
				t.Errorf("the address is still there: %q", d.Address)
			}
		}
		if want := []tidings.Status{tidings.Cancelled, tidings.Cancelled, tidings.Sending, tidings.Sent}; !slices.Equal(statuses, want) {
			t.Errorf("statuses = %v, want %v", statuses, want)
		}
		first := trail.Deliveries[0]
		if first.Reason != tidings.ReasonErased || !first.DueAt.IsZero() || first.FinishedAt.IsZero() || trail.Holds[0].State != tidings.HoldCancelled {
			t.Errorf("first delivery %+v, hold %+v", first, trail.Holds[0])
		}
		if trail.Notification.Data != nil || trail.Notification.CancelledAt.IsZero() {
			t.Errorf("data %s, marked %v: what is under way would be tried again", trail.Notification.Data, trail.Notification.CancelledAt)
		}

		trail, err = s.Trail(t.Context(), "", done)
		if err != nil || !trail.Notification.CancelledAt.IsZero() || trail.Notification.Data != nil {
			t.Errorf("finished: %+v, %v", trail.Notification, err)
		}
		trail, err = s.Trail(t.Context(), "", other)
		if err != nil || trail.Deliveries[0].Status != tidings.Queued || trail.Notification.Data == nil {
			t.Errorf("another user's: %+v, %v", trail, err)
		}
	})
}

func TestTrailsThatAreReadTogetherAreThoseOfEach(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		phone := device(t, s, "u_1")
		var tales []tale
		for i := range 6 {
			tales = append(tales, tale{app: "shop", user: fmt.Sprintf("u_%d", i%3), kind: "order.shipped", at: morning().Add(time.Duration(i) * time.Hour),
				deliveries: []string{"push.bulk sent", "sms.bulk suppressed opted_out_channel"}[:i%3], holds: []string{"email quiet_hours waiting", "inbox scheduled released"}[:i%2]})
		}
		ids := append(tell(t, s, tales...), onItsWay(t, s, phone, "queued"))
		if err := s.RetireAddress(t.Context(), "u_1", phone.ID, morning()); err != nil {
			t.Fatal(err)
		}
		at := morning().UnixMicro()
		for i, id := range ids {
			raw(t, s, `INSERT INTO attempts (ntf, n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, retry_at, ref)
				VALUES ($1, 0, 1, 0, 'twilio', $2, $2, 'ok', 200, $3, 't', NULL, 'r')`, id[:], at, fmt.Sprint(i))
			raw(t, s, `INSERT INTO receipts (ntf, n, claim_no, status, at, provider, ref, outcome, code, received_at)
				VALUES ($1, 0, 1, 'delivered', $2, 'twilio', 'r', '', $3, $2)`, id[:], at, fmt.Sprint(i))
		}
		for i, user := range []string{"u_1", "u_2"} {
			line := tidings.NewConsentID(morning())
			raw(t, s, `INSERT INTO consents (id, user_id, category, channel, action, wording, version, source, app, at, about, value)
				VALUES ($1, $2, 'orders', 'sms', 'withdrawn', '', '', 'api', 'shop', $3, '', '')`, line[:], user, at+int64(i))
		}
		for i := range 3 { // over when some had been accepted, and when others had not
			since := morning().Add(time.Duration(2*i) * time.Hour)
			pause := Pause{Name: fmt.Sprintf("apns_%d", i), Channel: tidings.Push, Cause: PauseAsked, Since: since, Over: since.Add(time.Minute)}
			err := s.write(t.Context(), Normal, func(t *tx) error { return t.tellPauses(ProcessID{}, []Pause{pause}, since.Add(time.Minute)) })
			if err != nil {
				t.Fatal(err)
			}
		}
		asked := append([]tidings.NotificationID{tidings.NewNotificationID(morning())}, ids...)
		together, err := s.Trails(t.Context(), "shop", asked)
		if err != nil || len(together) != len(ids) {
			t.Fatalf("%d trails, %v; want %d", len(together), err, len(ids))
		}
		for i, id := range ids {
			alone, err := s.Trail(t.Context(), "shop", id)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(together[i], alone) {
				t.Errorf("with others it is\n%+v\nalone\n%+v", together[i], alone)
			}
		}
		if of, err := s.Trails(t.Context(), "other", ids); err != nil || len(of) != 0 {
			t.Errorf("another app reads %d trails, %v", len(of), err)
		}
		raw(t, s, "UPDATE notifications SET decisions = 'damaged' WHERE id = $1", ids[2][:])
		if left, err := s.Trails(t.Context(), "", ids); err != nil || len(left) != len(ids)-1 || left[2].Notification.ID != ids[3] {
			t.Errorf("beside a damaged one %d of %d are read, %v", len(left), len(ids), err)
		}
		if _, err := s.Trail(t.Context(), "", ids[2]); err == nil {
			t.Error("a damaged one is read")
		}
	})
}
