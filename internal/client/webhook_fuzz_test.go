package client

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mandate-io/idv/internal/client/wire"
)

// listNames are the names under which an answer may hold the list of webhooks.
var listNames = []string{"webhooks", "subscriptions", "data", "results", "items", "result"}

// allKnown is the strict rule for "what is not listed does not exist": the answer is nothing, or one list, bare or in
// at most two wrappers that hold no other, and every entry of it names a URL.
func allKnown(body []byte) bool {
	if len(body) == 0 {
		return true
	}
	for range 3 {
		kind, entries := entriesOf(body)
		switch kind {
		case '[':
			return !slices.ContainsFunc(entries, func(e entry) bool { return !namesURL(e.value) })
		case '{':
			ways := slices.DeleteFunc(entries, func(e entry) bool { return !e.named(listNames...) || string(e.value) == "null" })
			if namesURL(body) || len(ways) != 1 {
				return false
			}
			body = ways[0].value
		default:
			return false
		}
	}
	return false
}

func namesURL(value []byte) bool {
	kind, members := entriesOf(value)
	return kind == '{' && slices.ContainsFunc(members, func(e entry) bool {
		text, isString := scalarOf(e.value)
		return isString && text != "" && slices.ContainsFunc(webhookURLNames, func(name string) bool { return e.named(name) })
	})
}

// FuzzWebhooks: every URL and id is one that the answer holds, and webhooks are never said to be all that exist unless
// a strict reader says so too. A caller that believes that subscribes again, and the service has no way to unsubscribe.
func FuzzWebhooks(f *testing.F) {
	const one, other = `{"id":9,"url":"https://a.example.com"}`, `{"ID":"8","target_url":"https://b.example.com"}`
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `[null]`, `[{"url":""}]`,
		one,
		`[` + one + `,` + other + `]`,
		`[[` + one + `,` + other + `],7]`,
		`{"data":{"items":[` + one + `]}}`,
		`{"webhooks":[],"Webhooks":[7]}`,
		`{"webhooks":[7],"x":` + one + `}`,
		`{"url":"u","webhooks":[` + one + `]}`,
		`{"webhooks":[` + one + `],"data":[7]}`,
		`{"webhooks":[` + one + `],"other":` + other + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := answered(OpRetrieveWebhook, 200, nil, data)
		failure := answer.judge()
		if readable := len(answer.json) == 0 || json.Valid(answer.json); failure == nil && !readable {
			t.Fatal("neither JSON nor nothing")
		}
		if failure != nil {
			return
		}
		webhooks := parseWebhooks(answer, webhookURLNames)
		texts, ids := scalars(answer.json)
		for _, w := range webhooks.Items {
			if url := w.URL.Reveal(); url == "" || !texts[url] || !ids[w.ID] {
				t.Errorf("%q with id %d is not in the answer", url, w.ID)
			}
		}
		if webhooks.Complete && !allKnown(answer.json) {
			t.Errorf("%d webhooks are said to be all", len(webhooks.Items))
		}
	})
}

// FuzzSubscription: whatever a user merges in, what is sent is one JSON object, or nothing is sent.
func FuzzSubscription(f *testing.F) {
	for _, payload := range []string{
		``, `{}`, `null`, `[]`,
		`{"events":null,"a":{"b":null}}`,
		`{"url":{"x":1}}`,
		`{"a":1,"a":2}`,
		"{\"\xff\":1}",
		`{"a":1e400}`,
	} {
		f.Add("https://hooks.example.com", "target_url", []byte(payload))
	}
	f.Fuzz(func(t *testing.T, url, name string, payload []byte) {
		subscription := Subscription{
			URL: Hide(url), ApplicationID: 4711, FieldNames: map[string]string{"url": name},
			Payload: Hide(json.RawMessage(payload)),
		}
		body, err := subscription.Body()
		if valid := len(payload) == 0 || isObject(payload) && !tooLarge(payload); (err == nil) != valid {
			t.Fatalf("%v, but a JSON object: %v", err, valid)
		}
		if err == nil && !isObject(body) {
			t.Errorf("would send %s", body)
		}
	})
}

func tooLarge(payload []byte) bool {
	_, err := wire.Parse(payload)
	return is[wire.LimitError](err)
}
