package all_test

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"tidings/channels"
	"tidings/channels/all"
)

// Two configurations that differ only in what the first names are one account, and in what the
// second names are two.
func TestVendorsSayWhatIsOneAccount(t *testing.T) {
	for typ, c := range map[string]struct{ base, same, other string }{
		"apns":    {"{key_id: k, topic: t, environment: sandbox}", "{key_file: other.p8}", "{environment: production}"},
		"fcm":     {"{project: p, credentials_file: a.json}", "{credentials_file: b.json}", "{project: q}"},
		"twilio":  {"{account_sid: AC1, from: '+15550100'}", "{from: '+15550101'}", "{account_sid: AC2}"},
		"aws_sms": {"{region: eu-west-1, access_key_id: a}", "{origination_identity: '+15550101'}", "{region: eu-west-2}"},
		"smtp":    {"{host: mail.example.test, username: u}", "{from: 'Shop <shop@example.test>'}", "{host: mail2.example.test}"},
	} {
		vendors := all.Vendors()
		i := slices.IndexFunc(vendors, func(v channels.Vendor) bool { return v.Type == typ })
		if i < 0 {
			t.Errorf("%s is not listed", typ)
			continue
		}
		account := func(texts ...string) string {
			config := vendors[i].Config()
			for _, text := range texts {
				if err := yaml.Unmarshal([]byte(text), config); err != nil {
					t.Fatal(err)
				}
			}
			return config.(interface{ Account() string }).Account()
		}
		if base := account(c.base); account(c.base, c.same) != base || account(c.base, c.other) == base {
			t.Errorf("%s: %q with %s, and with %s", typ, base, c.same, c.other)
		}
	}
}
