package channels

import (
	"net"
	"strings"
)

// Host spells a host so that two spellings of one compare equal: in lower case, without the dot
// of the root, and every name of this machine itself as 127.0.0.1. It asks no name server.
func Host(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(host)), ".")
	ip := net.ParseIP(strings.Trim(host, "[]"))
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback():
		return "127.0.0.1"
	case ip != nil:
		return ip.String()
	}
	return host
}
