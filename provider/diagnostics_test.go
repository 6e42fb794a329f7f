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

func fieldError(message string, names ...string) client.FieldError {
	c := client.FieldError{Messages: []client.Secret{client.Hide(message)}}
	for _, name := range names {
		c.Path = append(c.Path, client.PathStep{Index: -1, Name: client.Hide(name)})
	}
	return c
}

func TestAddRejection(t *testing.T) {
	fields := requestFields{
		attributes: map[string]path.Path{"targeturl": path.Root("url"), "events": path.Root("events")},
		items:      map[string][]string{"events": {"first.kind", "second.kind"}},

		messageFilter: messageFilter{secrets: []string{"canary-secret"}},
	}
	cases := map[string]struct {
		errors    []client.FieldError
		at        []string // attributes, "" for the resource
		want, not []string
	}{
		"no field": {
			at:   []string{""},
			want: []string{"The service rejected the request (HTTP 400 Bad Request); nothing was created."},
		},
		"a renamed field": {
			errors: []client.FieldError{fieldError("is not reachable", "target_url")},
			at:     []string{"url"}, want: []string{"is not reachable", "Invalid fields: target_url."},
		},
		"several fields, sorted, with a nested one": {
			errors: []client.FieldError{
				fieldError("first", "target_url"),
				fieldError("unknown kind", "events"),
				fieldError("second", "target_url", "host"),
				fieldError("canary", "secret"),
			},
			at:   []string{"events", "url", ""},
			want: []string{"first; second", "unknown kind", "Invalid fields: events, secret, target_url."},
			not:  []string{"canary"},
		},
		"an item of a list, in whatever form the index comes": {
			errors: []client.FieldError{
				{
					Path: client.Path{
						{Index: -1, Name: client.Hide("events")},
						{Index: 1},
						{Index: -1, Name: client.Hide("name")},
					},
					Messages: []client.Secret{client.Hide("is unknown")},
				},
				fieldError("is old", "events", "0"),
			},
			at: []string{"events"}, want: []string{`"second.kind": is unknown`, `"first.kind": is old`},
		},
		"another form of the name": {
			errors: []client.FieldError{fieldError("is not reachable", "targetUrl")},
			at:     []string{"url"}, want: []string{"is not reachable"},
		},
		"a message about one field that repeats a secret of another": {
			errors: []client.FieldError{fieldError("does not answer to canary-secret", "target_url")},
			at:     []string{"url"}, want: []string{"not shown"}, not: []string{"canary"},
		},
		"a field without a message": {
			errors: []client.FieldError{{Path: client.Path{{Index: -1, Name: client.Hide("events")}}}},
			at:     []string{"events"}, want: []string{"about this field: (none)"},
		},
		"a field of the payload: its message may repeat a secret": {
			errors: []client.FieldError{fieldError("canary is too short", "secret")},
			at:     []string{""}, want: []string{"secret", "payload_json"}, not: []string{"canary"},
		},
		"a field whose name is not a name": {
			errors: []client.FieldError{fieldError("m", "canary jane@example.com")},
			at:     []string{""}, want: []string{"unusual name"}, not: []string{"canary"},
		},
		"control characters": {
			errors: []client.FieldError{fieldError("red \x1b[31m\nalert", "events")},
			at:     []string{"events"}, want: []string{"red \ufffd[31m alert"}, not: []string{"\x1b"},
		},
		"a long text": {
			errors: []client.FieldError{fieldError(strings.Repeat("ä", maxMessageLength)+"canary", "events")},
			at:     []string{"events"}, not: []string{"canary"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			addRejection(&diags, "Cannot create the webhook subscription", &client.Error{
				Operation: client.OpSubscribeWebhook, Outcome: client.Refused, Kind: client.KindInvalid, Status: 400,
				Problem: &client.Problem{Errors: test.errors},
			}, fields)
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
			for _, words := range test.want {
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

func TestErrorDetail(t *testing.T) {
	for kind, want := range map[client.Kind]string{
		client.KindCredentials: "API permissions",
		client.KindUnreachable: "base_url",
		client.KindRateLimited: "max_requests_per_second",
		client.KindServer:      "Try again",
		client.KindUnreadable:  "/api/v1",
	} {
		text := errorDetail(&client.Error{Operation: client.OpRetrieveReferences, Kind: kind})
		if !strings.Contains(text, want) {
			t.Errorf("%s: lacks %q: %s", kind, want, text)
		}
	}
	rejected := &client.Error{
		Operation: client.OpRetrieveApplication, Outcome: client.Refused, Kind: client.KindInvalid, Status: 400,
		Problem: &client.Problem{Errors: []client.FieldError{
			{Path: client.Path{{Index: -1, Field: "reference", Name: client.Hide("reference")}}},
			fieldError("canary", "canary"),
		}},
	}
	want := "The service rejected the request (HTTP 400 Bad Request). Invalid fields: reference."
	if got := errorDetail(rejected); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := asSentence(errors.New("ärger")); got != "Ärger." {
		t.Errorf("got %q", got)
	}
}
