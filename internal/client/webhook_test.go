package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSubscriptionBody(t *testing.T) {
	whole := someSubscription()
	for name, test := range map[string]struct {
		change func(*Subscription)
		want   string // "": refused
	}{
		"whole": {
			func(*Subscription) {}, `{"url":"https://hooks.example.com","events":["completed"],"application_id":4711}`,
		},
		"only the URL": {func(s *Subscription) { s.Events, s.ApplicationID = nil, 0 }, `{"url":"https://hooks.example.com"}`},
		"renamed": {func(s *Subscription) {
			s.FieldNames = map[string]string{"url": "target_url", "application_id": "mandate"}
		}, `{"target_url":"https://hooks.example.com","events":["completed"],"mandate":4711}`},
		"payload adds": {
			func(s *Subscription) { s.Payload = Hide(raw(`{"secret":"x","format":{"kind":"json"}}`)) }, `{
				"url":"https://hooks.example.com","events":["completed"],"application_id":4711,
				"secret":"x","format":{"kind":"json"}
			}`,
		},
		"payload replaces": {
			func(s *Subscription) { s.Payload = Hide(raw(`{"events":["all"]}`)) },
			`{"url":"https://hooks.example.com","events":["all"],"application_id":4711}`,
		},
		"payload removes": {
			func(s *Subscription) { s.Payload = Hide(raw(`{"events":null}`)) },
			`{"url":"https://hooks.example.com","application_id":4711}`,
		},
		"payload is all": {
			func(s *Subscription) { *s = Subscription{Payload: Hide(raw(` {"a":9007199254740993} `))} },
			`{"a":9007199254740993}`,
		},
		"payload is a list":  {func(s *Subscription) { s.Payload = Hide(raw(`["x"]`)) }, ""},
		"payload is no JSON": {func(s *Subscription) { s.Payload = Hide(raw(`{"x":`)) }, ""},
		"payload is null":    {func(s *Subscription) { s.Payload = Hide(raw(`null`)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(201, ""), false)
			subscription := whole
			test.change(&subscription)
			_, err := s.client(t).SubscribeWebhook(t.Context(), subscription)
			requests, _ := s.seen()
			if test.want == "" {
				expectFailure(t, err, NotSent, KindInvalid)
				s.expect(t, 0, 0)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(t, requests[0].body, test.want) {
				t.Errorf("sent %s, want %s", requests[0].body, test.want)
			}
		})
	}
}

func TestDecodeSubscriptionResponse(t *testing.T) {
	for body, want := range map[string]SubscriptionResponse{
		`{"id":9}`:                           {ID: 9},
		`{"id":"9"}`:                         {ID: 9},
		`{"webhook_id":9,"message":"ok"}`:    {ID: 9},
		`{"data":{"subscription":{"id":9}}}`: {ID: 9},
		`{"id":9,"ID":10}`:                   {},
		`{"message":"ok"}`:                   {},
		`"ok"`:                               {},
		``:                                   {},
	} {
		s := newService(t, answers(202, body), false)
		want.Accepted = true
		got, err := s.client(t).SubscribeWebhook(t.Context(), someSubscription())
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid([]byte(body)) {
			want.Raw = Hide(raw(body))
		}
		if diff := cmp.Diff(want, *got, revealing); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestDecodeWebhooks(t *testing.T) {
	const one = `{"id":9,"url":"https://a.example.com","events":["completed",7]}`
	a := Webhook{ID: 9, URL: Hide("https://a.example.com"), Events: []string{"completed"}}
	b := Webhook{URL: Hide("https://b.example.com")}
	noEvents := Webhook{URL: Hide("https://b.example.com"), Events: []string{}}
	for name, test := range map[string]struct {
		body     string
		want     []Webhook
		complete bool
	}{
		"object":              {one, []Webhook{a}, false},
		"list":                {`[` + one + `,{"target_url":"https://b.example.com"}]`, []Webhook{a, b}, true},
		"wrapped object":      {`{"data":{"webhook":` + one + `}}`, []Webhook{a}, false},
		"wrapped list":        {`{"webhooks":[` + one + `]}`, []Webhook{a}, true},
		"list, twice wrapped": {`{"data":{"items":[` + one + `]}}`, []Webhook{a}, true},
		"other names": {
			`{"webhook_id":"9","callbackUrl":"https://a.example.com","topics":["completed"]}`, []Webhook{a}, false,
		},
		"configured name":     {`{"deliver_to":"https://b.example.com"}`, []Webhook{b}, false},
		"name without a URL":  {`{"url":"","target_url":"https://b.example.com"}`, []Webhook{b}, false},
		"two ids":             {`{"id":9,"ID":8,"url":"https://b.example.com"}`, []Webhook{b}, false},
		"entry not known":     {`[` + one + `,{"somewhere":"https://b.example.com"}]`, []Webhook{a}, false},
		"two lists":           {`{"webhooks":[` + one + `],"data":[7]}`, []Webhook{a}, false},
		"list beside a URL":   {`{"url":"https://b.example.com","webhooks":[` + one + `]}`, []Webhook{b}, false},
		"as many, outside":    {`{"webhooks":[7],"other":` + one + `}`, []Webhook{a}, false},
		"one more, outside":   {`{"webhooks":[` + one + `],"other":{"url":"https://b.example.com"}}`, []Webhook{a, b}, false},
		"as many, nested":     {`[[` + one + `,{"url":"https://b.example.com"}],7]`, []Webhook{a, b}, false},
		"empty list":          {`[]`, nil, true},
		"empty list, wrapped": {`{"data":[]}`, nil, true},
		"empty object":        {`{}`, nil, false},
		"null":                {`null`, nil, false},
		"nothing":             {``, nil, false},
		"nothing, wrapped":    {`{"data":{"webhook":null},"meta":{}}`, nil, false},
		"no events":           {`{"url":"https://b.example.com","events":[]}`, []Webhook{noEvents}, false},
		"URL that is none":    {`{"id":9,"url":null,"endpoint":7}`, nil, false},
		"a next page": {
			`{"count":1,"next":"https://idv.example.com/?page=2","results":[` + one + `]}`, []Webhook{a}, false,
		},
		"no next page":       {`{"count":1,"next":null,"previous":null,"results":[` + one + `]}`, []Webhook{a}, true},
		"more than are here": {`{"total":"25","items":[` + one + `]}`, []Webhook{a}, false},
		"more, said nearby":  {`{"data":[` + one + `],"meta":{"pagination":{"total_count":25}}}`, []Webhook{a}, false},
		"more pages":         {`{"data":[` + one + `],"page":1,"totalPages":2}`, []Webhook{a}, false},
		"the only page": {
			`{"data":[` + one + `],"page":1,"totalPages":1,"hasMore":false,"nextCursor":""}`, []Webhook{a}, true,
		},
		"a flag":                    {`{"has_more":true,"data":[` + one + `]}`, []Webhook{a}, false},
		"other numbers":             {`{"application_id":4711,"account":25,"webhooks":[` + one + `]}`, []Webhook{a}, true},
		"too deep":                  {`[[[[[[` + one + `]]]]]]`, nil, false},
		"one that failed":           {`{"url":"https://b.example.com","status":"failed","error":"x"}`, []Webhook{b}, false},
		"one in a list that failed": {`[{"url":"https://b.example.com","success":false}]`, []Webhook{b}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(200, test.body), false)
			got, err := s.client(t).RetrieveWebhook(t.Context(), 1, "deliver_to")
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Raw.Reveal()) != test.body || got.Complete != test.complete {
				t.Errorf("complete: %v, raw answer: %s", got.Complete, got.Raw.Reveal())
			}
			if empty := strings.HasPrefix(name, "nothing") || name == "null" || name == "empty object"; got.Empty != empty {
				t.Errorf("empty: %v", got.Empty)
			}
			if diff := cmp.Diff(test.want, got.Items, revealing, cmpopts.IgnoreFields(Webhook{}, "Raw")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for body, kind := range map[string]Kind{"<html>": KindUnreadable, `{"url":`: KindUnreadable} {
		s := newService(t, answers(200, body), false)
		_, err := s.client(t).RetrieveWebhook(t.Context(), 1)
		expectFailure(t, err, Unknown, kind)
	}
}

// A 404 is a proof only in the form that the interface has for errors. Proxies have their own.
func TestIsNotFound(t *testing.T) {
	for body, want := range map[string]bool{
		`{"type":"","title":"Not found","exception":{},"status":"404"}`: true,
		`{"title":"Not found"}`:                                                 true,
		`{"title":"Not found","status":"502"}`:                                  false,
		`{"message":"no Route matched with those values"}`:                      false,
		`{"detail":"Not Found"}`:                                                false,
		`{"timestamp":"2026-11-22T15:00:00Z","status":404,"error":"Not Found"}`: false,
		`<html><head><title>404 Not Found</title></head></html>`:                false,
		`404 page not found`:                                                    false,
		``:                                                                      false,
	} {
		for _, status := range []int{404, 410} {
			s := newService(t, answers(status, body), false)
			if _, err := s.client(t).RetrieveWebhook(t.Context(), 1); IsNotFound(err) != want || OutcomeOf(err) != Refused {
				t.Errorf("%d %s: %v is %v, want %v", status, body, err, !want, want)
			}
			s.Close()
		}
	}
}

// A list whose continuation is in a header alone (RFC 8288).
func TestWebhooksWithANextPageInTheHeader(t *testing.T) {
	for link, complete := range map[string]bool{
		`<https://idv.example.com/?page=2>; rel="next", <https://idv.example.com/?page=9>; rel="last"`: false,
		`<https://idv.example.com/?page=2>; rel=next`:                                                  false,
		`<https://idv.example.com/next>; rel="self"`:                                                   true,
	} {
		s := newService(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", link)
			answers(200, `[{"url":"https://a.example.com"}]`)(w, r)
		}, false)
		if got, err := s.client(t).RetrieveWebhook(t.Context(), 1); err != nil || got.Complete != complete {
			t.Errorf("%s: complete is %v, %v", link, got.Complete, err)
		}
	}
}

// The service may write a URL in another form. A caller that takes it for another URL subscribes again.
func TestWebhooksByURLHoweverWritten(t *testing.T) {
	const own = "https://hooks.example.com/Idv?Token=a"
	for shown, want := range map[string]bool{
		"HTTPS://hooks.example.com/Idv?Token=a":     true,
		"https://Hooks.Example.com/Idv?Token=a":     true,
		"https://hooks.example.com:443/Idv?Token=a": true,
		"https://hooks.example.com:80/Idv?Token=a":  false,
		"http://hooks.example.com/Idv?Token=a":      false,
		"https://hooks.example.com/idv?Token=a":     false,
		"https://hooks.example.com/Idv/?Token=a":    false,
		"https://hooks.example.com/Idv?token=a":     false,
		"https://hooks.example.com/Idv":             false,
	} {
		for _, pair := range [][2]string{{shown, own}, {own, shown}} {
			webhooks := &Webhooks{Items: []Webhook{{URL: Hide(pair[0])}}}
			if found := len(webhooks.WithURL(pair[1])) == 1; found != want {
				t.Errorf("%s and %s: the same is %v, want %v", pair[0], pair[1], found, want)
			}
		}
	}
	for _, url := range []string{
		"https://hooks.example.com", "https://hooks.example.com/", "http://[::1]:80", "https://%zz", "a",
	} {
		webhooks := &Webhooks{Items: []Webhook{
			{URL: Hide("https://hooks.example.com")},
			{URL: Hide("http://[::1]/")},
			{URL: Hide("https://%zz")},
			{URL: Hide("a")},
		}}
		if found := webhooks.WithURL(url); len(found) != 1 {
			t.Errorf("%s: found %d", url, len(found))
		}
	}
}

func TestWebhooksByURL(t *testing.T) {
	webhooks := &Webhooks{Items: []Webhook{{ID: 1, URL: Hide("a")}, {ID: 2, URL: Hide("b")}, {ID: 3, URL: Hide("a")}}}
	got := webhooks.WithURL("a")
	if len(got) != 2 || got[0].ID != 1 || got[1].ID != 3 || len(webhooks.Items) != 3 || webhooks.Items[1].ID != 2 {
		t.Errorf("got %v of %v", got, webhooks.Items)
	}
}
