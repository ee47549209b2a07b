package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"tidings/api/client"
	"tidings/api/problem"
)

func TestErrorsAreSentencesWithTheMend(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"trace", "write it as: tidings trace ID [flags]; tidings trace --help says more"},
		{"trace x --url " + nobody + " --key a.b", "no service answers at " + nobody + ": start one with tidings serve or tidings demo, or say where it is with --url or TIDINGS_URL"},
		{"trace x --url nonsense --key a.b", `--url: "nonsense" is no address such as http://127.0.0.1:8080; see --help`},
		{"lanes bogus", `there is no command "bogus"; tidings lanes --help lists those there are`},
		{"lanes pause", "write it as: tidings lanes pause LANE [flags]; tidings lanes pause --help says more"},
		{"lanes rate push.bulk NaN", `"NaN" is no rate: take a number above 0, or off; see --help`},
		{"lanes rate push.bulk -3", "unknown shorthand flag: '3' in -3; tidings lanes rate --help lists the flags"},
		{"keys revoke", "write it as: tidings keys revoke KEY_ID [flags]; tidings keys revoke --help says more"},
		{"send --type order.shipped --user u_1 --data 5", `--data: not a JSON object, such as {"order":"4711"}; see --help`},
		{"send order.shipped", "write it as: tidings send --type TYPE --user ID [flags]; tidings send --help says more"},
		{"bench extra", "write it as: tidings bench [accept|drain|blast]... [flags]; tidings bench --help says more"},
		{"bench --rounds 0", "--rounds, --deliveries and --span must be above 0; see --help"},
		{"simulate --listen-base 0 --hooks nonsense", `--hooks: "nonsense" is not a URL such as http://127.0.0.1:8080; see --help`},
		{"serve --roles api", "--roles: roles: SQLite serves api and worker in one process; set database_url to split them"},
		{"serve --roles nope", `--roles: roles: "nope" is neither api nor worker`},
		{"serve --roles=", "--roles: roles: name api, worker or both"},
		{"migrate extra", "write it as: tidings migrate [flags]; tidings migrate --help says more"},
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(c.args))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if err == nil {
			t.Errorf("tidings %s: no error", c.args)
		} else if got := sentence(err); got != c.want {
			t.Errorf("tidings %s\nsays  %s\nwant  %s", c.args, got, c.want)
		}
	}
}

func TestRefusalsOfTheServiceAreSaidOnce(t *testing.T) {
	for _, c := range []struct {
		why, want string
		refused   client.Error
	}{
		{"no such thing", "there is no such lane", client.Error{Status: http.StatusNotFound, Problem: problem.Problem{Code: "not_found", Detail: "there is no such lane"}}},
		{"one member, told in the detail", "/since must be a time", client.Error{Status: 422, Problem: problem.Problem{Code: "invalid_input", Detail: "/since must be a time",
			Errors: []problem.At{{Pointer: "/since", Detail: "must be a time"}}}}},
		{"two members", "the event has no data for it; /data/order is missing; /data/carrier is missing", client.Error{Status: 422, Problem: problem.Problem{Code: "missing_data", Detail: "the event has no data for it",
			Errors: []problem.At{{Pointer: "/data/order", Detail: "is missing"}, {Pointer: "/data/carrier", Detail: "is missing"}}}}},
		{"a key that is not known", "the key is not known or was revoked; name another with --key or TIDINGS_KEY, or make one with: tidings keys create --app NAME",
			client.Error{Status: 401, Problem: problem.Problem{Code: "unauthenticated", Detail: "the key is not known or was revoked"}}},
		{"another service", "the service answered 502 and not as tidings does: is --url right?", client.Error{Status: 502}},
	} {
		if got := sentence(&c.refused); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}
