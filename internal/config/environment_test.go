package config_test

import (
	"strings"
	"testing"
	"time"

	"tidings/internal/config"
	"tidings/workers"
)

func TestTheEnvironmentSetsWhatTheFileDoesNotName(t *testing.T) {
	c, _, err := load(t, "apps: {Web_Shop: {rate_per_second: 1}}\n",
		"TIDINGS_LANES_SMS_LIMIT=7", "TIDINGS_LANES_SMS_BULK_LIMIT=5", "TIDINGS_LANES_SMS_BULK_MAX_WAIT=3m",
		"TIDINGS_APPS_SHOP_RATE_PER_SECOND=2.5", "TIDINGS_APPS_SHOP_BURST=9", "TIDINGS_APPS_BACK_OFFICE_RATE_PER_SECOND=3",
		"TIDINGS_APPS_WEB_SHOP_BURST=4")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Workers.Lanes["sms"]; got != (workers.LaneConfig{Limit: 7}) {
		t.Errorf("lanes.sms: %+v", got)
	}
	if got := c.Workers.Lanes["sms.bulk"]; got != (workers.LaneConfig{Limit: 5, MaxWait: 3 * time.Minute}) {
		t.Errorf("lanes.sms.bulk: %+v", got)
	}
	for name, want := range map[string]config.App{
		"shop": {RatePerSecond: 2.5, Burst: 9}, "back-office": {RatePerSecond: 3}, "Web_Shop": {RatePerSecond: 1, Burst: 4},
	} {
		if c.Apps[name] != want {
			t.Errorf("apps.%s: %+v, want %+v", name, c.Apps[name], want)
		}
	}
	if len(c.Apps) != 3 || len(c.Workers.Lanes) != 2 {
		t.Errorf("there are %v and %v", c.Apps, c.Workers.Lanes)
	}
}

func TestTheEnvironmentIsCheckedAsTheFileIs(t *testing.T) {
	for variable, want := range map[string]string{
		"TIDINGS_LANES_SMS_LIMIT=0":         "environment variable TIDINGS_LANES_SMS_LIMIT: must be at least 1",
		"TIDINGS_DELIVERY_RETRY_CAP=1ms":    "environment variable TIDINGS_DELIVERY_RETRY_CAP: delivery.retry_cap: 1ms is below",
		"TIDINGS_ROLES=":                    "environment variable TIDINGS_ROLES: roles: name api",
		"TIDINGS_LANES_SMOKE_LIMIT=5":       "TIDINGS_LANES_SMOKE_LIMIT sets nothing",
		"TIDINGS_LANES_SMS_LIMITS=5":        "TIDINGS_LANES_SMS_LIMITS sets nothing",
		"TIDINGS_DELIVERY_LEESE=5s":         "TIDINGS_DELIVERY_LEESE sets nothing",
		"TIDINGS_APPS_SHOP_RATE=1":          "TIDINGS_APPS_SHOP_RATE sets nothing",
		"TIDINGS_DELIVERY=5s":               "TIDINGS_DELIVERY sets nothing",
		"TIDINGS_PROVIDERS=a":               "TIDINGS_PROVIDERS sets nothing",
		"TIDINGS_PROVIDERS_A_NOPE=1":        "TIDINGS_PROVIDERS_A_NOPE sets nothing",
		"TIDINGS_PROVIDERS_B_TIMEOUT=5s":    "TIDINGS_PROVIDERS_B_TIMEOUT sets nothing",
		"TIDINGS_PROVIDERS_TIMEOUT=5s":      "TIDINGS_PROVIDERS_TIMEOUT sets nothing",
		"TIDINGS_ROUTES=a":                  "TIDINGS_ROUTES sets nothing",
		"TIDINGS_ROUTES_SMS=a":              "TIDINGS_ROUTES_SMS sets nothing",
		"TIDINGS_ROUTES_PUSH=a":             "TIDINGS_ROUTES_PUSH sets nothing",
		"TIDINGS_PROVIDERS_A_NAME=c":        "unset TIDINGS_PROVIDERS_A_NAME",
		"TIDINGS_PROVIDERS_A_CONCURRENCY=0": "environment variable TIDINGS_PROVIDERS_A_CONCURRENCY: must be at least 1",
	} {
		_, _, err := load(t, "providers: [{name: a, type: text, token: t}]\nroutes: {sms: [{countries: ['*'], providers: [{name: a}]}]}\n", variable)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", variable, err, want)
		}
	}
}

// Variables of commands, of tests, of Kubernetes, and those that the file itself refers to are no mistakes.
func TestOtherVariablesAreLeftAlone(t *testing.T) {
	t.Setenv("TIDINGS_TEXT_TOKEN", "t")
	t.Setenv("TIDINGS_PROVIDERS_A_SECRET", "t")
	_, _, err := load(t, "providers: [{name: a, type: text, token: 'env:TIDINGS_TEXT_TOKEN', account: 'env:TIDINGS_PROVIDERS_A_SECRET'}]\n", "TIDINGS_TEXT_TOKEN=t",
		"TIDINGS_CONFIG=x", "TIDINGS_URL=x", "TIDINGS_KEY=x", "TIDINGS_TEST_POSTGRES=x", "TIDINGS_PORT=tcp://10.0.0.1:80",
		"TIDINGS_PROVIDERS_A_SECRET=t", "TIDINGS_BINARY=x", "TIDINGS_SERVICE_HOST=10.0.0.1", "TIDINGS_SERVICE_PORT_HTTP=80", "TIDINGS_DB_PORT_5432_TCP_ADDR=10.0.0.2")
	if err != nil {
		t.Error(err)
	}
}
