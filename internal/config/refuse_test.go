package config_test

import (
	"fmt"
	"strings"
	"testing"
)

// What cannot be meant is refused with the line where it stands, which is the second of each text.
func TestLoadRefusesWhatCannotBeMeantAndSaysWhere(t *testing.T) {
	const a = "providers:\n  - {name: a, type: text, token: t%s}\n"
	for text, want := range map[string]string{
		"#\nlisten: '8080'":                                              "listen: \"8080\" is no address",
		"#\nlisten: localhost":                                           "listen: \"localhost\" is no address",
		"#\nlisten: 'localhost:http'":                                    "listen: \"localhost:http\" is no address",
		"#\nlisten: ':70000'":                                            "listen: \":70000\" is no address",
		"#\npublic_url: notify.example.test":                             "public_url: it must read like",
		"#\npublic_url: ftp://notify.example.test":                       "public_url: it must read like",
		"#\npublic_url: https://notify.example.test/?a=b":                "public_url: it must read like",
		"#\ndata_dir: ''":                                                "data_dir: it is empty",
		"#\nsecret_file: ''":                                             "secret_file: it is empty",
		"#\ndatabase_url: mysql://localhost/canary":                      "database_url: it must read like",
		"nats_url: nats://localhost\nnats_credentials: a.creds":          "nats_credentials: it is the content of a credentials file",
		"nats_url: nats://localhost\nnats_replicas: 0":                   "nats_replicas: must be at least 1",
		"#\nroles: []":                                                   "roles: name api, worker or both",
		"#\nroles: [api, worker, api]":                                   "roles: \"api\" stands twice",
		"#\nshutdown_timeout: 0s":                                        "shutdown_timeout: must be above 0",
		"listen: 127.0.0.1:0\n---\nlisten: 127.0.0.1:1":                  "a second document stands here",
		"listen: 127.0.0.1:0\n---\n":                                     "a second document stands here",
		"listen: 127.0.0.1:0\n\tx: 1":                                    "this is no YAML",
		"#\nshutdown_timeout: '200'":                                     "shutdown_timeout: \"200\" is not a duration",
		"#\nshutdown_timeout: [1s]":                                      "shutdown_timeout: want a single value",
		"#\nnats_replicas: three":                                        "nats_replicas: \"three\" is not a whole number",
		"#\ndatabase_url: 'env:NO_SUCH_VARIABLE'":                        "database_url: environment variable NO_SUCH_VARIABLE is not set",
		"#\ndatabase_url: 'file:no-such-file'":                           "database_url: read secret: open ",
		"#\nroles: {a: b}":                                               "roles: want a list",
		"#\ndelivery: often":                                             "delivery: want a mapping",
		"delivery:\n  max_attempts: three":                               "delivery.max_attempts: \"three\" is not a whole number",
		"delivery:\n  retry_base: 0s":                                    "delivery.retry_base: must be above 0",
		"delivery:\n  retry_cap: 100ms":                                  "delivery.retry_cap: 100ms is below retry_base 1s",
		"delivery:\n  max_attempts: 0":                                   "delivery.max_attempts: must be at least 1",
		"delivery:\n  lease: -1m":                                        "delivery.lease: must be above 0",
		"delivery:\n  sweep: 0s":                                         "delivery.sweep: must be above 0",
		"delivery:\n  dedupe_window: 721h":                               "delivery.dedupe_window: must be at most 720h",
		"delivery:\n  expires_in: 721h":                                  "delivery.expires_in: must be at most 720h",
		"delivery:\n  expires_in: 1ms":                                   "delivery.expires_in: must be at least 1s",
		"lanes:\n  sms: {limit: 0}":                                      "lanes.sms.limit: must be at least 1",
		"lanes:\n  sms.bulk: {limit: -5}":                                "lanes.sms.bulk.limit: must be at least 1",
		"lanes:\n  sms: {max_wait: 0s}":                                  "lanes.sms.max_wait: must be above 0",
		"lanes:\n  sms: {workers: 0}":                                    "lanes.sms.workers: must be at least 1",
		"lanes:\n  sms: {ack_wait: -1s}":                                 "lanes.sms.ack_wait: must be above 0",
		"lanes:\n  sms: {ack_wait: 2m}":                                  "lanes.sms.ack_wait: 2m0s must be below delivery.lease 1m0s",
		"lanes:\n  sms: {side_rate: 0}":                                  "lanes.sms.side_rate: must be above 0",
		"lanes:\n  sms: {side_rate: .nan}":                               "is not a number",
		"lanes:\n  smoke: {workers: 1}":                                  "lanes.smoke: \"smoke\" is neither a channel nor a lane",
		"breaker:\n  failures: 0":                                        "breaker.failures: must be at least 1",
		"breaker:\n  window: 0s":                                         "breaker.window: must be above 0",
		"breaker:\n  open_for: -1s":                                      "breaker.open_for: must be above 0",
		"breaker:\n  slow: -0.1":                                         "breaker.slow: must be at least 0",
		"disk:\n  bulk_percent: 101":                                     "disk.bulk_percent: must be at most 100",
		"disk:\n  all_mib: -1":                                           "disk.all_mib: must be at least 0",
		"disk:\n  all_percent: 20":                                       "disk.all_percent: 20 is above bulk_percent 15",
		"disk:\n  all_mib: 4096":                                         "disk.all_mib: 4096 is above bulk_mib 2048",
		"apps:\n  shop: {rate_per_second: -1}":                           "apps.shop.rate_per_second: must be at least 0",
		"apps:\n  shop: {rate_per_second: .inf}":                         "is not a number",
		"apps:\n  shop: {rate_per_second: 1, burst: -1}":                 "apps.shop.burst: must be at least 0",
		"apps:\n  shop: {burst: 5}":                                      "apps.shop.burst: it bounds nothing without a rate_per_second",
		"apps:\n  'a shop': {rate_per_second: 1}":                        "is not a name of an app",
		"defaults:\n  timezone: Mars/Olympus":                            "defaults.timezone: \"Mars/Olympus\" is not an IANA time zone",
		"defaults:\n  locale: no such":                                   "defaults.locale: \"no such\" is not a locale",
		fmt.Sprintf(a, ", timeout: '200'"):                               "providers.a.timeout: \"200\" is not a duration",
		fmt.Sprintf(a, ", account: 'env:NO_SUCH_VARIABLE'"):              "providers.a.account: environment variable NO_SUCH_VARIABLE is not set",
		fmt.Sprintf(a, ", timeout: 0s"):                                  "providers.a.timeout: must be above 0",
		fmt.Sprintf(a, ", timeout: 40s"):                                 "providers.a.timeout: 40s must be below ack_wait 30s",
		fmt.Sprintf(a, ", connect_timeout: 0s"):                          "providers.a.connect_timeout: must be above 0",
		fmt.Sprintf(a, ", answer_timeout: 11s"):                          "providers.a: connect_timeout 0s and answer_timeout 11s are parts",
		fmt.Sprintf(a, ", concurrency: 0"):                               "providers.a.concurrency: must be at least 1",
		fmt.Sprintf(a, ", rate_per_second: -1"):                          "providers.a.rate_per_second: must be at least 0",
		fmt.Sprintf(a, ", endpoint: 'localhost:9001'"):                   "providers.a.endpoint: it must read like",
		"#\nroutes: {smoke: []}":                                         "routes.smoke: \"smoke\" is not a channel",
		"#\nroutes: {sms: [{countries: ['*'], providers: [{name: b}]}]}": "no sms provider is named \"b\"",
		"providers: [{name: o, type: other, token: t}]\nroutes: {sms: [{countries: ['*'], providers: [{name: o}]}]}":            "that one carries push",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: ['*'], providers: [{name: a, weight: 0}]}]}":  "routes.sms[0].providers[0].weight: must be at least 1",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: ['*'], providers: [{name: a, weight: -3}]}]}": "weight: must be at least 1",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: [Germany], providers: [{name: a}]}]}":         "\"Germany\" is not a country",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: [XX], providers: [{name: a}]}]}":              "routes.sms[0].countries: \"XX\" is not a country",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: [DE, DE], providers: [{name: a}]}]}":          "DE stands twice",
		"providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{providers: [{name: a}]}]}":                               "a route needs countries and providers",
	} {
		_, _, err := load(t, text+"\n")
		if got := fmt.Sprint(err); !strings.Contains(got, "tidings.yaml:2: ") || !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %v\nwant tidings.yaml:2: … %s", text, err, want)
		}
		if strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
}

func TestLoadRefusesOneNameTwiceAndSaysWhereBothStand(t *testing.T) {
	_, _, err := load(t, "providers:\n  - {name: a, type: text, token: t}\n  - {name: a, type: other, token: t}\n")
	if got := fmt.Sprint(err); !strings.Contains(got, "tidings.yaml:3: ") || !strings.Contains(got, "tidings.yaml:2") {
		t.Error(err)
	}
}

func TestLoadKnowsAnAccountInEverySpelling(t *testing.T) {
	t.Setenv("ACCOUNT_ONE", "one")
	const pair = "providers:\n  - {name: a, type: text, token: t, account: %s, endpoint: '%s'}\n  - {name: b, type: text, token: t, account: %s, endpoint: '%s'}\n"
	for why, c := range map[string][4]string{
		"this machine by name and number": {"one", "http://localhost:9003", "one", "http://127.0.0.1:9003"},
		"and in IPv6":                     {"one", "http://[::1]:9003", "one", "http://127.0.0.1:9003"},
		"a slash at the end":              {"one", "https://text.example.test/v1/", "one", "https://text.example.test/v1"},
		"capitals":                        {"one", "HTTPS://Text.Example.Test", "one", "https://text.example.test"},
		"the default port":                {"one", "https://text.example.test:443", "one", "https://text.example.test"},
		"and of http":                     {"one", "http://text.example.test:80/", "one", "http://text.example.test"},
		"the vendor's own, and the same":  {"one", "", "one", "https://text.example.test"},
		"a reference":                     {"one", "", "'env:ACCOUNT_ONE'", ""},
	} {
		_, _, err := load(t, fmt.Sprintf(pair, c[0], c[1], c[2], c[3]))
		if !strings.Contains(fmt.Sprint(err), "a and b are one account") {
			t.Errorf("%s: %v", why, err)
		}
	}
}
