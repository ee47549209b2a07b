package main

import (
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tidings/api/client"
)

// remote is how the commands that speak through the API reach the service.
type remote struct {
	url, key string
	json     bool
}

func (r *remote) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.url, "url", or(os.Getenv("TIDINGS_URL"), "http://127.0.0.1:8080"), "where the service is (TIDINGS_URL)")
	cmd.Flags().StringVar(&r.key, "key", "", "API key as KEY_ID.SECRET (TIDINGS_KEY)")
	cmd.Flags().BoolVar(&r.json, "json", false, "print the answer as JSON")
}

func (r *remote) client() (*client.Client, error) {
	id, secret, ok := strings.Cut(or(r.key, os.Getenv("TIDINGS_KEY")), ".")
	if !ok {
		return nil, errUsage("name an API key as KEY_ID.SECRET with --key or TIDINGS_KEY; make one with: tidings keys create --app NAME")
	}
	if !isAddress(r.url) {
		return nil, errUsage("--url: %q is no address such as http://127.0.0.1:8080", r.url)
	}
	return client.New(r.url, id, secret), nil
}

// isAddress reports whether a text says where a service is, such as http://127.0.0.1:8080.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
