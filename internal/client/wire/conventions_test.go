package wire

import (
	"net/http"
	"testing"
)

func TestReportsFailure(t *testing.T) {
	const (
		no = iota
		yes
		denied
	)
	for text, want := range map[string]int{
		`{"success":false}`:   denied,
		`{"success":"false"}`: denied,
		`{"ok":0}`:            denied,
		`{"isSuccess":false}`: denied,
		`{"Succeeded":"0"}`:   denied,

		`{"data":{"success":false}}`:         denied,
		`{"data":{"item":{"success":false}}`: no, // no JSON
		`{"data":{"item":{"ok":false}}}`:     denied,
		`{"id":1,"success":false}`:           denied,

		`false`:                         yes,
		`[{"success":false}]`:           yes, // but the items of a list that was asked for are about other things
		`{"result":[{"ok":false}]}`:     yes,
		`{"status":"error"}`:            yes,
		`{"STATE":"Failed"}`:            yes,
		`{"result":"n-ok"}`:             yes,
		`{"code":403,"message":"x"}`:    yes,
		`{"status_code":"502"}`:         yes,
		`{"status":404}`:                yes,
		`{"error":"x"}`:                 yes,
		`{"error":{"code":7}}`:          yes,
		`{"error":true}`:                yes,
		`{"errors":[{"field":"x"}]}`:    yes,
		`{"errorMessage":"x"}`:          yes,
		`{"data":{"errors":{"x":"y"}}}`: yes,

		`{}`:                               no,
		`true`:                             no,
		`"error"`:                          no,
		`{"success":true}`:                 no,
		`{"success":null}`:                 no,
		`{"error":null}`:                   no,
		`{"errors":[]}`:                    no,
		`{"errors":{},"error":"","x":1}`:   no,
		`{"error":false}`:                  no,
		`{"error":0}`:                      no,
		`{"code":200}`:                     no,
		`{"code":600}`:                     no,
		`{"code":"E7"}`:                    no,
		`{"status":{"id":1}}`:              no,
		`{"status":"completed"}`:           no,
		`{"status":"rejected"}`:            no,
		`{"id":1,"status":"failed"}`:       no,
		`{"id":1,"status":404}`:            no,
		`{"id":1,"error":"x"}`:             no,
		`{"id":1,"id":2,"error":"x"}`:      no,
		`{"other":{"error":"x"}}`:          no,
		`{"url":"x","status":"failed"}`:    yes,
		`{"url":null,"status":"failed"}`:   yes,
		`{"webhook":{"error":"x"},"id":1}`: no,
	} {
		value, _ := Parse([]byte(text))
		if got := value.ReportsFailure(); got != (want >= yes) {
			t.Errorf("%s is a failure: %v", text, got)
		}
		if got := value.DeniesSuccess(); got != (want == denied) {
			t.Errorf("%s denies success: %v", text, got)
		}
	}
	// What a caller asks for may be about something that failed.
	for _, text := range []string{
		`{"url":"x","status":"failed"}`, `[{"success":false}]`, `{"data":[{"code":"566","name":"Nigeria"}]}`,
	} {
		if parse(t, text).ReportsFailure("url") {
			t.Errorf("%s is a resource", text)
		}
	}
	for _, text := range []string{`{"url":null,"status":"failed"}`, `{"url":"x","ok":false}`} {
		if !parse(t, text).ReportsFailure("url") {
			t.Errorf("%s is a failure", text)
		}
	}
}

func TestHasMore(t *testing.T) {
	for text, want := range map[string]bool{
		`[1,2]`:                                 false,
		`{"items":[1,2],"total":2}`:             false,
		`{"items":[1,2],"total":"3"}`:           true,
		`{"items":[1,2],"page_count":1}`:        false,
		`{"items":[1,2],"lastPage":2}`:          true,
		`{"next":null}`:                         false,
		`{"next":""}`:                           false,
		`{"next":false}`:                        false,
		`{"next":"/x"}`:                         true,
		`{"links":{"next":{"href":"x"}}}`:       true,
		`{"meta":{"a":{"total":3}}}`:            true,
		`{"a":{"a":{"a":{"a":{"more":true}}}}}`: false,
		`{"account":25}`:                        false,
	} {
		if got := parse(t, text).HasMore(nil, 2); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	header := http.Header{"Link": {`</1>; rel="first"`, `</2>; rel=next`}}
	one := parse(t, `[1]`)
	if !one.HasMore(header, 1) || one.HasMore(http.Header{"Link": {`</next>; rel="self"`}}, 1) {
		t.Error("a link to the next page is one by its relation")
	}
}
