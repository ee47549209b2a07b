package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tidings/api/client"
)

// sentence is what a person is told of an error: what is wrong, and the mend.
func sentence(err error) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		return refusal(refused)
	}
	var call *url.Error
	var unreached *net.OpError
	if errors.As(err, &call) && errors.As(err, &unreached) && unreached.Op == "dial" {
		where := call.URL
		if u, err := url.Parse(call.URL); err == nil {
			where = u.Scheme + "://" + u.Host
		}
		return "no service answers at " + where + ": start one with tidings serve or tidings demo, or say where it is with --url or TIDINGS_URL"
	}
	return strings.Join(strings.Split(err.Error(), "\n"), "; ")
}

// refusal is what the service refused, in its own words, with the mend where those do not name it.
func refusal(e *client.Error) string {
	if e.Problem.Code == "" {
		return fmt.Sprintf("the service answered %d and not as tidings does: is --url right?", e.Status)
	}
	parts := []string{strings.TrimSuffix(e.Problem.Detail, ".")}
	for _, m := range e.Problem.Errors {
		if at := strings.TrimSpace(m.Pointer + " " + m.Detail); !strings.Contains(e.Problem.Detail, m.Detail) {
			parts = append(parts, at)
		}
	}
	switch e.Status {
	case http.StatusUnauthorized:
		parts = append(parts, "name another with --key or TIDINGS_KEY, or make one with: tidings keys create --app NAME")
	case http.StatusForbidden:
		parts = append(parts, "make a key that may with: tidings keys create --app NAME --scopes …")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// sayUsage lets every command say how it is written when it is called in another way, where cobra
// would count arguments.
func sayUsage(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		sayUsage(c)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch err := check(cmd, args); {
		case err == nil:
			return nil
		case cmd.HasAvailableSubCommands():
			return errNoCommand(cmd, args[0])
		}
		return fmt.Errorf("write it as: %s; %s --help says more", cmd.UseLine(), cmd.CommandPath())
	}
}

func errNoCommand(cmd *cobra.Command, name string) error {
	return fmt.Errorf("there is no command %q; %s --help lists those there are", name, cmd.CommandPath())
}
