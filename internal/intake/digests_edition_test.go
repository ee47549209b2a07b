package intake_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/templates"
)

// publish makes another edition of a catalogue the current one.
func (r *rig) publish(t *testing.T, editions *[]*templates.Catalogue, files map[string]string) {
	t.Helper()
	r.files = files
	in, _ := r.another(t)
	catalogue, _ := in.Catalogue()
	*editions = append(*editions, catalogue)
	all := *editions
	r.Intake.Catalogue = func() (*templates.Catalogue, int64) { return catalogue, int64(len(all)) }
	r.Intake.Version = func(v int64) (*templates.Catalogue, error) { return all[v-1], nil }
}

// with is a catalogue with another file.
func with(files map[string]string, name, text string) map[string]string {
	files = maps.Clone(files)
	files[name] = text
	return files
}

func TestADigestOutlivesAnEditOfItsTemplate(t *testing.T) {
	const name = "templates/comment.created/push.en.yaml"
	for why, c := range map[string]struct{ edit, want string }{
		"another title":       {strings.Replace(crowded[name], "Comments", "News", 1), "[3 by 2]"},
		"needs what is newer": {strings.Replace(crowded[name], ".data.text", ".data.extra", 1), "[1 by 2 2 by 1]"},
	} {
		t.Run(why, func(t *testing.T) {
			eachCrowd(t, func(t *testing.T, r *rig) {
				var editions []*templates.Catalogue
				r.publish(t, &editions, crowded)
				for n := range 3 {
					e := comment("u_1", "p", n)
					if n == 2 {
						r.publish(t, &editions, with(crowded, name, c.edit))
						e.Data = json.RawMessage(`{"post":"p","text":"t2","extra":"more"}`)
					}
					r.accept(t, hashed(e))
				}
				r.flush(t, time.Now().Add(11*time.Minute))
				var told []string
				for _, d := range r.digests(t) {
					told = append(told, fmt.Sprintf("%d by %d", len(d.Parts), d.Notification.CatalogVersion))
				}
				if slices.Sort(told); fmt.Sprint(told) != c.want {
					t.Errorf("parts by version of the catalogue: %q, want %s", told, c.want)
				}
			})
		})
	}
}

func TestAChannelThatIsTakenFromAnEventTypeIsRefusedByADigest(t *testing.T) {
	for _, channels := range []string{"[email]", "[sms]"} {
		eachCrowd(t, func(t *testing.T, r *rig) {
			var editions []*templates.Catalogue
			r.publish(t, &editions, crowded)
			id := r.accept(t, comment("u_1", "p", 1)).ID
			less := with(crowded, "catalog.yaml", strings.Replace(crowded["catalog.yaml"], "[push, email]", channels, 1))
			delete(less, "templates/comment.created/push.en.yaml")
			if channels == "[sms]" {
				delete(less, "templates/comment.created/email.en.yaml")
				delete(less, "templates/comment.created/email.en.txt")
				less["templates/comment.created/sms.en.txt"] = "a comment"
			}
			r.publish(t, &editions, less)
			r.flush(t, time.Now().Add(11*time.Minute))
			told := r.trail(t, id).Notification.Decisions
			if told[0].Action != tidings.ActionSuppress || told[0].Reason != tidings.ReasonNotRequested {
				t.Errorf("%s: decided %+v", channels, told)
			}
		})
	}
}

func TestADigestFitsInAnyLanguageOfItsReader(t *testing.T) {
	eachCrowd(t, func(t *testing.T, r *rig) {
		r.files = with(crowded, "templates/comment.created/push.de.yaml", "title: Kommentare\nbody: \""+strings.Repeat("Neu! ", 50)+"{{range .digest.items}}{{.data.text}};{{end}}\"\n")
		r.Intake, r.metrics = r.another(t)
		for n := range 2 {
			r.accept(t, longComment("u_1", n, 1950)) // both fit in English
		}
		r.flush(t, time.Now().Add(11*time.Minute))
		if digests := r.digests(t); len(digests) != 2 {
			t.Errorf("%d digests: who changes to German gets nothing", len(digests))
		}
	})
}
