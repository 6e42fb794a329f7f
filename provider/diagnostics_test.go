package provider

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mandate-io/idv/internal/client"
)

func complaint(message string, names ...string) client.FieldError {
	c := client.FieldError{Messages: []client.Secret{client.Hide(message)}}
	for _, name := range names {
		c.Path = append(c.Path, client.PathStep{Index: -1, Name: client.Hide(name)})
	}
	return c
}

func TestAddRefusal(t *testing.T) {
	sent := sentRequest{
		fields:  map[string]path.Path{"targeturl": path.Root("url"), "events": path.Root("events")},
		items:   map[string][]string{"events": {"first.kind", "second.kind"}},
		secrets: []string{"canary-secret"},
	}
	cases := map[string]struct {
		complaints []client.FieldError
		at         []string // attributes, "" for the resource
		says, not  []string
	}{
		"no field": {at: []string{""}, says: []string{"400"}},
		"a renamed field": {
			complaints: []client.FieldError{complaint("is not reachable", "target_url")},
			at:         []string{"url"}, says: []string{"is not reachable"},
		},
		"several, sorted, with what lies deeper": {
			complaints: []client.FieldError{complaint("first", "target_url"), complaint("unknown kind", "events"), complaint("second", "target_url", "host")},
			at:         []string{"events", "url"}, says: []string{"first; second", "unknown kind"},
		},
		"an item of a list, in whatever form the index comes": {
			complaints: []client.FieldError{
				{Path: client.Path{{Index: -1, Name: client.Hide("events")}, {Index: 1}, {Index: -1, Name: client.Hide("name")}}, Messages: []client.Secret{client.Hide("is unknown")}},
				complaint("is old", "events", "0"),
			},
			at: []string{"events"}, says: []string{`about "second.kind": is unknown`, `about "first.kind": is old`},
		},
		"another way to write the name": {
			complaints: []client.FieldError{complaint("is not reachable", "targetUrl")},
			at:         []string{"url"}, says: []string{"is not reachable"},
		},
		"a message about one field that repeats a secret of another": {
			complaints: []client.FieldError{complaint("does not answer to canary-secret", "target_url")},
			at:         []string{"url"}, says: []string{"not shown"}, not: []string{"canary"},
		},
		"a field without a word": {
			complaints: []client.FieldError{{Path: client.Path{{Index: -1, Name: client.Hide("events")}}}},
			at:         []string{"events"}, says: []string{"nothing more"},
		},
		"a field of the payload: its message may repeat a secret": {
			complaints: []client.FieldError{complaint("canary is too short", "secret")},
			at:         []string{""}, says: []string{"secret", "payload_json"}, not: []string{"canary"},
		},
		"a field whose name is no name": {
			complaints: []client.FieldError{complaint("m", "canary jane@example.com")},
			at:         []string{""}, says: []string{"unusual name"}, not: []string{"canary"},
		},
		"control characters": {
			complaints: []client.FieldError{complaint("red \x1b[31m\nalert", "events")},
			at:         []string{"events"}, says: []string{"red  [31m alert"}, not: []string{"\x1b"},
		},
		"endless text": {
			complaints: []client.FieldError{complaint(strings.Repeat("ä", maxMessage)+"canary", "events")},
			at:         []string{"events"}, not: []string{"canary"},
		},
	}
	for situation, test := range cases {
		t.Run(situation, func(t *testing.T) {
			var diags diag.Diagnostics
			addRefusal(&diags, "Cannot subscribe", &client.Error{
				Operation: client.OpSubscribeWebhook, Outcome: client.Refused, Kind: client.KindInvalid, Status: 400,
				Problem: &client.Problem{Errors: test.complaints},
			}, sent)
			var at []string
			var text strings.Builder
			for _, d := range diags {
				place := ""
				if d, ok := d.(diag.DiagnosticWithPath); ok {
					place = d.Path().String()
				}
				at = append(at, place)
				text.WriteString(d.Summary() + d.Detail())
			}
			if diff := cmp.Diff(test.at, at); diff != "" {
				t.Errorf("attributes: %s", diff)
			}
			for _, words := range test.says {
				if !strings.Contains(text.String(), words) {
					t.Errorf("lacks %q: %s", words, text.String())
				}
			}
			for _, words := range test.not {
				if strings.Contains(text.String(), words) {
					t.Errorf("holds %q: %s", words, text.String())
				}
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	for kind, want := range map[client.Kind]string{
		client.KindCredentials: "API permissions",
		client.KindUnreachable: "base_url",
		client.KindRateLimited: "max_requests_per_second",
		client.KindServer:      "Try again",
		client.KindUnreadable:  "/api/v1",
	} {
		if text := describe(&client.Error{Operation: client.OpRetrieveReferences, Kind: kind}); !strings.Contains(text, want) {
			t.Errorf("%s: lacks %q: %s", kind, want, text)
		}
	}
	if got := sentence(errors.New("ärger")); got != "Ärger." {
		t.Errorf("got %q", got)
	}
}
