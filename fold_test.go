package tidings_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidings"
)

func TestFold(t *testing.T) {
	type (
		a = tidings.Attempt
		r = tidings.Receipt
	)
	cases := []struct {
		why      string
		attempts []a
		receipts []r
		want     tidings.Status
		reason   tidings.Reason
	}{
		{why: "nothing known ends nothing"},
		{why: "a transient failure ends nothing", attempts: []a{{Number: 1, Outcome: tidings.Transient}}},
		{why: "an accepted attempt is sent", attempts: []a{{Number: 1, Outcome: tidings.OK}}, want: tidings.Sent},
		{why: "a receipt alone tells that an unanswered attempt was accepted",
			attempts: []a{{Number: 1, Outcome: tidings.OutcomeUnknown}},
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptAccepted}}, want: tidings.Sent},
		{why: "a late answer counts beside the unknown one",
			attempts: []a{{Number: 1, Outcome: tidings.OutcomeUnknown}, {Number: 1, Late: true, Outcome: tidings.OK}}, want: tidings.Sent},
		{why: "delivered wins over a bounce",
			attempts: []a{{Number: 1, Outcome: tidings.OK}},
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptBounced}, {Attempt: 1, Status: tidings.ReceiptDelivered}}, want: tidings.Delivered},
		{why: "an accepted attempt that bounced is bounced",
			attempts: []a{{Number: 1, Outcome: tidings.OK}},
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptBounced, Outcome: tidings.RecipientDead}},
			want:     tidings.Bounced, reason: tidings.ReasonRecipientDead},
		{why: "the refusal of one attempt does not undo another that was accepted",
			attempts: []a{{Number: 1, Outcome: tidings.OK}, {Number: 2, Outcome: tidings.OK}},
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed}}, want: tidings.Sent},
		{why: "the latest refusal gives the reason",
			receipts: []r{{Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientSuspect}, {Attempt: 1, Status: tidings.ReceiptBounced}},
			want:     tidings.Failed, reason: tidings.ReasonRecipientRejected},
		{why: "that the person said stop outweighs a later refusal",
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientOptout}, {Attempt: 2, Status: tidings.ReceiptBounced}},
			want:     tidings.Suppressed, reason: tidings.ReasonOptedOutChannel},
		{why: "that it came too late outweighs a bounce of the same attempt",
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.OutcomeExpired}, {Attempt: 1, Status: tidings.ReceiptBounced}},
			want:     tidings.Expired, reason: tidings.ReasonExpired},
		{why: "a later attempt's bounce outweighs that an earlier one came too late",
			receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.OutcomeExpired}, {Attempt: 2, Status: tidings.ReceiptBounced}},
			want:     tidings.Bounced, reason: tidings.ReasonProviderRejected},
		{why: "a phone that was off for too long is no refusal of the message",
			attempts: []a{{Number: 1, Outcome: tidings.OK}}, receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientTemp}},
			want: tidings.Failed, reason: tidings.ReasonRetriesSpent},
		{why: "a report that our account is at fault says so",
			attempts: []a{{Number: 1, Outcome: tidings.OK}}, receipts: []r{{Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.ConfigFault}},
			want: tidings.Failed, reason: tidings.ReasonProviderBroken},
		{why: "engagement ends nothing", receipts: []r{{Attempt: 1, Status: tidings.ReceiptOpened}}},
	}
	for _, c := range cases {
		got, reason := tidings.Fold(c.attempts, c.receipts)
		if got != c.want || reason != c.reason {
			t.Errorf("%s: got %q %q, want %q %q", c.why, got, reason, c.want, c.reason)
		}
	}
}

func TestFoldDoesNotDependOnTheOrderOfNews(t *testing.T) {
	outcomes := append(tidings.Faults(), tidings.OK)
	statuses := []tidings.ReceiptStatus{tidings.ReceiptAccepted, tidings.ReceiptSent, tidings.ReceiptDelivered,
		tidings.ReceiptFailed, tidings.ReceiptBounced, tidings.ReceiptOpened}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(1, 3)
		attempts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tidings.Attempt {
			return tidings.Attempt{Number: number.Draw(t, "n"), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")}
		}), 0, 5).Draw(t, "attempts")
		receipts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tidings.Receipt {
			return tidings.Receipt{Attempt: number.Draw(t, "n"), Status: rapid.SampledFrom(statuses).Draw(t, "status"),
				Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome")}
		}), 0, 6).Draw(t, "receipts")
		want, reason := tidings.Fold(attempts, receipts)

		mixedA := rapid.Permutation(attempts).Draw(t, "order of attempts")
		mixedR := rapid.Permutation(slices.Concat(receipts, receipts)).Draw(t, "order of receipts, each twice")
		if got, why := tidings.Fold(mixedA, mixedR); got != want || why != reason {
			t.Fatalf("one order gives %q %q, another %q %q", want, reason, got, why)
		}
	})
}
