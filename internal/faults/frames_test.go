package faults

import (
	"testing"
)

func TestAStreamOfTheBrokerIsCutIntoFrames(t *testing.T) {
	stream := "INFO {}\r\nPUB tidings.lane.push.bulk _INBOX.a 3\r\na\r\n\r\n" +
		"MSG _INBOX.b 7 $JS.ACK.tidings-push-bulk.workers.1.1.1.1.0 2\r\nhi\r\n" +
		"HPUB $JS.ACK.dom.hash.tidings-sms-bulk.workers.1.1.1.1.0 12 16\r\nNATS/1.0\r\n\r\n+ACK\r\n" +
		"HMSG _INBOX.c 1 12 12\r\nNATS/1.0\r\n\r\n\r\nMSG _INBOX.d 1 27\r\n{\"stream\":\"tidings\",\"seq\":1}\r\nPING\r\n"
	want := []string{"", "publish push.bulk", "entry tidings-push-bulk", "ack tidings-sms-bulk NATS/1.0\r\n\r\n+ACK", "", "stored", ""}
	for _, at := range []int{1, 2, 7, len(stream)} { // whatever the pieces that it comes in
		var got []frame
		var in frames
		for rest := stream; rest != ""; {
			n := min(at, len(rest))
			got = append(got, in.add([]byte(rest[:n]))...)
			rest = rest[n:]
		}
		whole := ""
		for i, f := range got {
			whole += string(f.raw)
			if i < len(want) && f.call().What != want[i] {
				t.Errorf("frame %d is %q, want %q", i, f.call().What, want[i])
			}
		}
		if whole != stream || len(got) != len(want) {
			t.Errorf("in pieces of %d: %d frames, want %d", at, len(got), len(want))
		}
	}
}

func TestAStatementIsNamedByWhatItWrites(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1 FROM deliveries WHERE status = 'queued' FOR UPDATE SKIP LOCKED":                                                      "",
		"UPDATE deliveries SET status = 'sending', reason = ''":                                                                        "update deliveries sending",
		"INSERT INTO users (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET locale = 'x'":                                               "insert users",
		"WITH due AS MATERIALIZED (\n  SELECT ntf FROM deliveries)\nUPDATE deliveries SET status = 'queued' WHERE (ntf) IN (SELECT 1)": "update deliveries queued",
		"DELETE FROM stray_receipts WHERE provider = $1 RETURNING status":                                                              "delete stray_receipts",
	} {
		if got := writing(query); got != want {
			t.Errorf("%q is %q, want %q", query, got, want)
		}
	}
}
