package store

import (
	"bytes"
	"slices"
	"time"

	"tidings"
)

const (
	// strikeWindow is how close together two strikes must be to count.
	strikeWindow = 24 * time.Hour
	// okEvery is how exact last_ok_at is.
	okEvery = 24 * time.Hour
)

// An effect is what one result or receipt does to an address.
type effect struct {
	AddressEffect
	address  tidings.AddressID
	channel  tidings.Channel
	delivery tidings.DeliveryID
	reason   tidings.Reason // why it is taken out of use
	source   string         // the provider that said so
	at       time.Time
	retired  *bool // set when the address was retired by this
}

// apply does all effects, each kind in the order of the addresses.
func (t *tx) apply(effects []effect, category func(name string) (tidings.Category, bool)) error {
	kinds := map[EffectKind][]effect{}
	for _, e := range effects {
		if e.Kind != EffectNone && !e.address.IsZero() {
			kinds[e.Kind] = append(kinds[e.Kind], e)
		}
	}
	for _, list := range kinds {
		slices.SortStableFunc(list, func(a, b effect) int { return bytes.Compare(a.address[:], b.address[:]) })
	}
	var said []remark
	steps := []func() error{
		func() error { return t.worked(kinds[EffectOK]) },
		func() error { return t.retireDead(kinds[EffectRetire], &said) },
		func() error { return t.strike(kinds[EffectStrike], tidings.AddressQuarantined, &said) },
		func() error { return t.strike(kinds[EffectStrikeOut], tidings.AddressRetired, &said) },
		func() error { return t.suppress(kinds[EffectSuppress], category) },
		func() error { return t.remark(said) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) worked(list []effect) error {
	return t.each("address_ok", len(list), func(i int) []any {
		e := list[i]
		return []any{e.address[:], e.at.UnixMicro(), e.at.Add(-okEvery).UnixMicro()}
	}, nil)
}

// retireDead takes addresses out of use, but for those registered after the service last saw them work.
func (t *tx) retireDead(list []effect, said *[]remark) error {
	return t.each("address_dead", len(list), func(i int) []any {
		e := list[i]
		before := e.DeadSince
		if before.IsZero() {
			before = e.at.AddDate(100, 0, 0) // whenever it was registered
		}
		return []any{e.address[:], string(e.reason), e.at.UnixMicro(), before.UnixMicro()}
	}, func(i int, r row) error {
		var id tidings.AddressID
		*list[i].retired = true
		*said = append(*said, list[i].remark(kindRetired, "the provider says that the address is gone, so it is not used any more"))
		return r.Scan(into(&id))
	})
}

// strike counts refusals of addresses, of which the second gives them a status.
func (t *tx) strike(list []effect, to tidings.AddressStatus, said *[]remark) error {
	return t.each("address_strike", len(list), func(i int) []any {
		e := list[i]
		return []any{e.address[:], string(to), string(e.reason), e.at.UnixMicro(), e.at.Add(-strikeWindow).UnixMicro()}
	}, func(i int, r row) error {
		var status tidings.AddressStatus
		err := r.Scan(&status)
		switch status {
		case tidings.AddressRetired:
			*list[i].retired = true
			*said = append(*said, list[i].remark(kindRetired, "the address was refused for the second time within a day, so it is not used any more"))
		case tidings.AddressQuarantined:
			*said = append(*said, list[i].remark(kindAside, "the address is set aside, since it was refused again"))
		}
		return err
	})
}

// remark tells of what the effect came to, beside the delivery that brought it.
func (e *effect) remark(kind, text string) remark {
	return remark{id: e.delivery, at: e.at, kind: kind, text: text}
}

// effectOf is what a receipt of a delivery does to its address.
func effectOf(r tidings.Receipt, c tidings.Channel, address tidings.AddressID) effect {
	kind, reason := receiptEffect(r, c)
	return effect{AddressEffect: AddressEffect{Kind: kind, DeadSince: r.At}, address: address, channel: c,
		delivery: r.Delivery, reason: reason, source: r.Provider, at: r.ReceivedAt, retired: new(bool)}
}

// receiptEffect is what a receipt does to the address. A number is retired at the second refusal
// only: carriers also call handsets unknown that are switched off.
func receiptEffect(r tidings.Receipt, c tidings.Channel) (EffectKind, tidings.Reason) {
	if r.Status == tidings.ReceiptComplained {
		return EffectSuppress, tidings.ReasonSuppressedComplaint
	}
	if !r.Refuses() {
		return EffectNone, ""
	}
	switch r.Outcome {
	case tidings.RecipientDead:
		if c == tidings.SMS {
			return EffectStrikeOut, tidings.ReasonRecipientDead
		}
		return EffectRetire, tidings.ReasonRecipientDead
	case tidings.RecipientSuspect:
		return EffectStrike, tidings.ReasonQuarantined
	case tidings.RecipientOptout:
		return EffectSuppress, tidings.ReasonOptedOutChannel
	}
	return EffectNone, ""
}
