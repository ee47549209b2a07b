package store

import (
	"bytes"
	"testing"
	"time"

	"tidings"
)

func TestSealedDataOpensOnlyWhereItBelongs(t *testing.T) {
	s, err := newSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	other, err := newSeal([32]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	id, data := tidings.NewNotificationID(time.Now()), []byte(`{"code":"482913"}`)
	sealed := s.close(id, data)
	if bytes.Contains([]byte(sealed), []byte("482913")) || sealed == s.close(id, data) {
		t.Fatal("the data shows")
	}
	if got, err := s.open(id, sealed); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("opened %s, %v", got, err)
	}
	if got, err := s.open(id, string(data)); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("what is not sealed is itself: %s, %v", got, err)
	}
	if _, err := other.open(id, sealed); err == nil {
		t.Fatal("another secret opens it")
	}
	if _, err := s.open(tidings.NewNotificationID(time.Now()), sealed); err == nil {
		t.Fatal("it opens under another notification")
	}
}

func TestTwoSpellingsOfAnAddressHaveOneHash(t *testing.T) {
	s, err := newSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.hash(tidings.Email, "Ann@Example.Test"), s.hash(tidings.Email, "ann@example.test")) {
		t.Error("the case of an e-mail address counts")
	}
	if bytes.Equal(s.hash(tidings.Push, "A"), s.hash(tidings.Push, "a")) {
		t.Error("the case of a token does not count")
	}
	if bytes.Equal(s.hash(tidings.SMS, "+15550100"), s.hash(tidings.Webhook, "+15550100")) {
		t.Error("the channel does not count")
	}
}
