package faults

import (
	"slices"
	"strings"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
)

// digests checks that whatever waited for a digest was told of by one, and by one alone.
func (c *checker) digests() {
	tellers := map[tidings.NotificationID][]*wire.Trail{}
	for i := range c.Trails {
		digest := &c.Trails[i]
		if len(digest.Parts) > 0 {
			c.figures.Digests++
		}
		for _, part := range digest.Parts {
			tellers[part] = append(tellers[part], digest)
			if c.trails[part] == nil {
				c.broken(Conserved, digest.ID, "tells of %s, which the log does not have", part)
			}
		}
	}
	for i := range c.Trails {
		t := &c.Trails[i]
		c.gathered(t, tellers[t.ID])
		c.named(t, tellers[t.ID])
	}
	c.messages(tellers)
}

// gathered checks one notification by the digests that tell of it.
func (c *checker) gathered(t *wire.Trail, tellers []*wire.Trail) {
	for _, h := range t.Holds {
		if h.Reason != tidings.ReasonDigested || h.State != tidings.HoldReleased {
			continue
		}
		n := 0
		for _, digest := range tellers {
			if d := decisionOn(digest, h.Channel); d != nil && d.Reason != tidings.ReasonNotRequested {
				n++
			}
		}
		left := decisionOn(t, h.Channel)
		switch refused := left != nil && left.Action == tidings.ActionSuppress; {
		case n > 1:
			c.figures.Unexplained += n - 1
			c.broken(Once, t.ID, "%d digests tell of it by %s", n, h.Channel)
		case n == 0 && !refused:
			c.figures.Lost++
			c.broken(Ends, t.ID, "no digest tells of it by %s, for which it waited, and nothing says why", h.Channel)
		}
		c.figures.Gathered += n
	}
}

// named checks that a notification names a digest that tells of it, and is no part of one that was
// made when it had been called off or was late.
func (c *checker) named(t *wire.Trail, tellers []*wire.Trail) {
	names := func(digest *wire.Trail) bool { return digest.ID == t.Digest }
	if len(tellers) > 0 != !t.Digest.IsZero() || len(tellers) > 0 && !slices.ContainsFunc(tellers, names) {
		c.broken(Told, t.ID, "says that the digest %s tells of it, and %d others do", t.Digest, len(tellers))
	}
	for _, digest := range tellers {
		made := digest.AcceptedAt.Add(-c.Slack)
		if !t.CancelledAt.IsZero() && made.After(t.CancelledAt.Time) {
			c.broken(Stopped, t.ID, "the digest %s tells of it, though it had been cancelled", digest.ID)
		}
		for _, d := range digest.Deliveries {
			if len(c.accepts[d.ID]) > 0 && made.After(t.ExpiresAt.Time) {
				c.broken(Stopped, t.ID, "the digest %s tells of it, though it had expired", digest.ID)
			}
		}
	}
}

func decisionOn(t *wire.Trail, channel tidings.Channel) *wire.Decision {
	i := slices.IndexFunc(t.Decisions, func(d wire.Decision) bool { return d.Channel == channel })
	if i < 0 {
		return nil
	}
	return &t.Decisions[i]
}

// leftOut is what the trail of a part says where some on its channel were told of it, and others are not.
const leftOut = "left out of what the digest still sends"

// messages checks marked events by what people read: each message that the trails say tells of an
// event does, no other, and nobody reads of it in two.
func (c *checker) messages(tellers map[tidings.NotificationID][]*wire.Trail) {
	said := c.said()
	checked := map[tidings.NotificationID]bool{}
	for _, p := range c.Posts {
		t := c.trails[p.ID]
		if p.Mark == "" || t == nil || checked[p.ID] {
			continue
		}
		checked[p.ID] = true
		read := map[string]tidings.DeliveryID{} // by address
		should := map[tidings.DeliveryID]bool{}
		for _, teller := range append([]*wire.Trail{t}, tellers[t.ID]...) {
			for _, d := range teller.Deliveries {
				should[d.ID] = len(c.accepts[d.ID]) > 0
			}
		}
		for id, address := range said[p.Mark] {
			if !should[id] {
				c.broken(Told, t.ID, "%s tells of it, and its trail does not say so", id)
			}
			if other, twice := read[address]; twice {
				c.figures.Unexplained++
				c.broken(Once, t.ID, "both %s and %s tell the same person of it", other, id)
			}
			read[address], should[id] = id, false
		}
		for id, missing := range should {
			if missing && !c.leftOut(t, id) {
				c.broken(Told, t.ID, "its trail says that %s tells of it, and the message does not", id)
			}
		}
	}
}

// leftOut reports whether a trail says that what a digest still sent by then does not tell of it.
func (c *checker) leftOut(t *wire.Trail, by tidings.DeliveryID) bool {
	return slices.ContainsFunc(t.Timeline, func(m wire.Moment) bool {
		return m.Kind == "released" && strings.Contains(m.Text, leftOut) &&
			!slices.ContainsFunc(c.accepts[by], func(e simulator.Entry) bool { return e.At.Before(m.At.Add(-c.Slack)) })
	})
}

// said are the deliveries that tell of each mark, with the address of each.
func (c *checker) said() map[string]map[tidings.DeliveryID]string {
	said := map[string]map[tidings.DeliveryID]string{}
	for id, accepts := range c.accepts {
		for _, e := range accepts {
			for _, mark := range marks(e.Title + " " + e.Text) {
				if said[mark] == nil {
					said[mark] = map[tidings.DeliveryID]string{}
				}
				said[mark][id] = e.Provider + " " + e.Address
			}
		}
	}
	return said
}

// marks are the words of a text that stand between # and a semicolon.
func marks(text string) (found []string) {
	for {
		_, rest, any := strings.Cut(text, "#")
		mark, after, whole := strings.Cut(rest, ";")
		if !any || !whole {
			return found
		}
		found, text = append(found, mark), after
	}
}
