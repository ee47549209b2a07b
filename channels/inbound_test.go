package channels_test

import (
	"testing"

	"tidings/channels"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]channels.Word{
		"STOP": channels.WordStop, "stop": channels.WordStop, " Stop. ": channels.WordStop, "\"STOP\"": channels.WordStop, "StopAll": channels.WordStop,
		"unsubscribe": channels.WordStop, "cancel": channels.WordStop, "end": channels.WordStop, "quit!": channels.WordStop, "revoke": channels.WordStop,
		"optout": channels.WordStop, "opt out": channels.WordStop, "OPT-OUT": channels.WordStop, "opt  out\n": channels.WordStop,
		"stopp": channels.WordStop, "Arrêt": channels.WordStop, "arret": channels.WordStop,
		"START": channels.WordStart, "unstop": channels.WordStart, "Yes": channels.WordStart,
		"": channels.WordNone, "HELP": channels.WordNone, "do not stop": channels.WordNone, "yes please": channels.WordNone, "STOP it": channels.WordNone,
		"S T O P": channels.WordNone, "no": channels.WordNone, "stopping": channels.WordNone, "\x00": channels.WordNone, "!!!": channels.WordNone,
	} {
		if got := channels.WordOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
