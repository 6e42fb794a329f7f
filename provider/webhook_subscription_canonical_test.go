package provider

import (
	"encoding/json"
	"testing"

	"github.com/mandate-io/idv/internal/client"
)

func TestSameRequest(t *testing.T) {
	base := client.Subscription{
		URL: client.Hide("https://hooks.example.com/idv"), Events: []string{"a", "b"}, ApplicationID: 4711,
	}
	payload := func(text string) func(*client.Subscription) {
		return func(s *client.Subscription) { s.Payload = client.Hide(json.RawMessage(text)) }
	}
	for name, test := range map[string]struct {
		change func(*client.Subscription)
		want   bool
	}{
		"no change":             {func(*client.Subscription) {}, true},
		"an empty payload":      {payload(`{}`), true},
		"a null in the payload": {payload(`{"note":null}`), true},
		"a repetition":          {payload(`{"url":"https://hooks.example.com/idv","application_id":4711}`), true},
		"the default port": {
			func(s *client.Subscription) { s.URL = client.Hide("HTTPS://HOOKS.example.com:443/idv") }, true,
		},
		"another path": {
			func(s *client.Subscription) { s.URL = client.Hide("https://hooks.example.com/idv/") }, false,
		},
		"another order":          {func(s *client.Subscription) { s.Events = []string{"b", "a", "a"} }, true},
		"an event less":          {func(s *client.Subscription) { s.Events = []string{"a"} }, false},
		"events in the payload":  {payload(`{"events":["b","a"]}`), true},
		"another kind of events": {payload(`{"events":["a",1]}`), false},
		"no events":              {payload(`{"events":null}`), false},
		"a further field":        {payload(`{"note":"x"}`), false},
		"another type":           {payload(`{"application_id":"4711"}`), false},
		"a large number":         {payload(`{"application_id":4711.0000000000000001}`), false},
		"a default field name":   {func(s *client.Subscription) { s.FieldNames = map[string]string{"url": "url"} }, true},
		"another field name":     {func(s *client.Subscription) { s.FieldNames = map[string]string{"url": "target"} }, false},
		"a field name undone by the payload": {func(s *client.Subscription) {
			s.FieldNames = map[string]string{"url": "target"}
			payload(`{"target":null,"url":"https://hooks.example.com:443/idv"}`)(s)
		}, true},
		"no JSON": {payload(`{`), false},
	} {
		t.Run(name, func(t *testing.T) {
			other := base
			test.change(&other)
			if sameRequest(base, other) != test.want || sameRequest(other, base) != test.want {
				t.Errorf("want %v, got %v", test.want, !test.want)
			}
		})
	}
}
