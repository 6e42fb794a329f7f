package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecodeApplication(t *testing.T) {
	full := Application{
		ID: 4711, Name: Hide("Acme"), Reference: "A-1", State: State{1, "in review"}, Archived: true,
		MandateType: Reference{3, "KYC", "kyc", "Know your customer"},
		Actions:     []Action{{9, "upload", "Upload a document"}},
		Individuals: []Individual{{
			ID: 12, Reference: Hide("A-1.jane"), Email: Hide("jane@example.com"),
			State: State{2, "invited"}, TermsAccepted: true, ChecksInReview: 1, ChecksPending: 2, ChecksPassed: 3,
			CompletedActions: []Action{{5, "selfie", "Take a selfie"}},
			Checks: []Check{{
				77, "liveness", "Liveness", State{4, "manually_accepted"}, []string{"3"}, Hide("2 \"ok\" 1\n3 \"failed\" 2"),
			}},
		}},
	}
	const documented = `{
		"id":4711,"name":"Acme","reference":"A-1","status":{"id":1,"status":"in review"},"archived":true,
		"mandate_type":{"id":3,"name":"KYC","code":"kyc","description":"Know your customer"},
		"available_actions":[{"id":9,"name":"upload","title":"Upload a document"}],
		"individuals":[{
			"id":12,"email":"jane@example.com","reference":"A-1.jane","status":{"id":2,"status":"invited"},
			"terms_accepted":true,"checks_in_review":1,"checks_in_pending":2,"checks_passed":3,
			"address":{"id":1,"individual":12,"flat_appartment_subbuilding":"","town_city":"Ghent"},
			"completed_actions":[{"id":5,"name":"selfie","title":"Take a selfie"}],
			"checks":[{
				"id":77,"name":"liveness","title":"Liveness","status":{"id":4,"status":"manually_accepted"},
				"individual_checkfield_result":[
					{"id":1,"individual":12,"check_field":2,"result":"ok","status":1},
					{"id":2,"individual":12,"check_field":3,"result":"failed","status":2}
				],
				"instance":{"a":"b"}
			}]
		}]
	}`
	created := Application{ID: 4711, Name: Hide("Acme"), Reference: "A-1", State: State{1, "in review"}}

	for name, test := range map[string]struct {
		body string
		want Application
	}{
		"as documented": {documented, full},
		"other letter case": {strings.NewReplacer(
			`"mandate_type"`, `"mandateType"`,
			`"available_actions"`, `"AvailableActions"`,
			`"terms_accepted"`, `"termsAccepted"`,
			`"checks_in_pending"`, `"checks-in-pending"`,
		).Replace(documented), full},
		"numbers as strings": {strings.NewReplacer(
			`4711`, `"4711"`,
			`"id":3`, `"id":"3"`,
			`"checks_in_review":1`, `"checks_in_review":"1"`,
			`"archived":true`, `"archived":"true"`,
		).Replace(documented), full},
		"wrapped in data":         {`{"data":` + documented + `,"meta":{"id":1}}`, full},
		"wrapped in mandate":      {`{"success":true,"mandate":` + documented + `}`, full},
		"wrapped beside an id":    {`{"id":"request-9","data":` + documented + `}`, full},
		"answer of create":        {someApplication, created},
		"a list of one":           {`[` + documented + `]`, full},
		"unknown members":         {strings.Replace(someApplication, "{", `{"x":{"id":9},"y":[1],"z":null,`, 1), created},
		"own member named result": {strings.Replace(someApplication, "{", `{"result":{"id":9},`, 1), created},
		"nulls": {`{
			"id":4711,"name":null,"reference":null,"status":null,"archived":null,
			"mandate_type":null,"available_actions":null,"individuals":null
		}`, Application{ID: 4711}},
		"empty": {`{
			"id":4711,"name":"","reference":"","status":{},"archived":false,
			"mandate_type":{},"available_actions":[],"individuals":[]
		}`, Application{ID: 4711}},
		"missing": {`{"id":4711}`, Application{ID: 4711}},
		"other types": {
			`{"id":4711,"name":7,"mandate_type":[],"status":[],"archived":"yes","available_actions":{},"individuals":"none"}`,
			Application{ID: 4711, Name: Hide("7")},
		},
		"type as an id": {`{"id":4711,"mandate_type":3}`, Application{ID: 4711, MandateType: Reference{ID: 3}}},
		"state as a string": {
			`{"id":4711,"status":"IN_REVIEW"}`, Application{ID: 4711, State: State{Name: "IN_REVIEW"}},
		},
		"state as a number": {`{"id":4711,"status":6}`, Application{ID: 4711, State: State{6, "6"}}},
		"state under state": {
			`{"id":4711,"state":{"id":6,"name":"draft"}}`, Application{ID: 4711, State: State{6, "draft"}},
		},
		"id above 2^53": {`{"id":9007199254740993}`, Application{ID: 9007199254740993}},
		"what is no individual": {
			`{"id":4711,"individuals":[null,7,"x",[],{"id":12}]}`, Application{ID: 4711, Individuals: []Individual{{ID: 12}}},
		},
		"individuals that are wrapped": {
			`{"id":4711,"individuals":[{"individual":{"id":12}},{"data":{"id":13}}]}`,
			Application{ID: 4711, Individuals: []Individual{{ID: 12}, {ID: 13}}},
		},
		"a list for each kind of check": {
			`{"id":4711,"individuals":[{"id":12,"checks":{
				"identity":[{"id":1,"status":"x"},{"id":2,"status":"y"}],"aml":[{"id":3,"status":"z"}],"links":[{"id":9}]
			}}]}`,
			Application{ID: 4711, Individuals: []Individual{{ID: 12, Checks: []Check{
				{ID: 1, State: State{Name: "x"}}, {ID: 2, State: State{Name: "y"}}, {ID: 3, State: State{Name: "z"}},
			}}}},
		},
		"individual with two ids": {
			`{"id":4711,"individuals":[{"id":12,"Id":13,"reference":"a","reference":"b"}]}`,
			Application{ID: 4711, Individuals: []Individual{{}}},
		},
		"check with two ids": {
			`{"id":4711,"individuals":[{"id":12,"checks":[{"id":1,"id":2,"name":"liveness"}]}]}`,
			Application{ID: 4711, Individuals: []Individual{{ID: 12, Checks: []Check{{Name: "liveness"}}}}},
		},
		"counters that are none": {
			`{"id":4711,"individuals":[{"checks_passed":-1,"checks_in_review":1.5,"checks_in_pending":99999999999}]}`,
			Application{ID: 4711, Individuals: []Individual{{}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(200, "\ufeff \n"+test.body+"\n"), false)
			got, err := s.client(t).RetrieveApplication(t.Context(), test.want.ID)
			if err != nil {
				t.Fatal(err)
			}
			if raw := string(got.Raw.Reveal()); raw != test.body {
				t.Errorf("the raw answer is %s", raw)
			}
			if diff := cmp.Diff(test.want, *got, revealing, cmpopts.IgnoreFields(Application{}, "Raw")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeIndividual(t *testing.T) {
	plain := Individual{ID: 4711, State: State{1, "invited"}}
	for name, test := range map[string]struct {
		body string
		want *Individual // nil: unreadable
	}{
		"an individual":         {someIndividual, &plain},
		"wrapped in data":       {`{"data":` + someIndividual + `}`, &plain},
		"wrapped in individual": {`{"status":"ok","individual":` + someIndividual + `}`, &plain},
		"wrapped twice":         {`{"data":{"individual":` + someIndividual + `}}`, &plain},
		"no id":                 {`{"data":{"status":"invited"}}`, &Individual{State: State{Name: "invited"}}},
		"empty":                 {`{}`, &Individual{}},
		"another one":           {`{"id":4712}`, nil},
		"a list of one":         {`[` + someIndividual + `]`, &plain},
		"a list of two":         {`[` + someIndividual + `,` + someIndividual + `]`, nil},
		"state of a failure": {
			`{"email":"x","status":"failed"}`, &Individual{Email: Hide("x"), State: State{Name: "failed"}},
		},
		"who it is": {
			`{"id":4711,"first_name":"Jane","middle_name":"","last_name":"Doe","date_of_birth":"1990-02-28","gender":"female"}`,
			&Individual{ID: 4711, Personal: []Secret{Hide("Jane"), Hide(""), Hide("Doe"), Hide("1990-02-28")}},
		},
		"a failure": {`{"status":"failed"}`, nil},
		"nothing":   {``, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(200, test.body), false)
			got, err := s.client(t).RetrieveIndividual(t.Context(), 4711)
			if test.want == nil {
				expectFailure(t, err, Unknown, KindUnreadable)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if raw := string(got.Raw.Reveal()); raw != test.body {
				t.Errorf("the raw answer is %s", raw)
			}
			if diff := cmp.Diff(*test.want, *got, revealing, cmpopts.IgnoreFields(Individual{}, "Raw")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeChange(t *testing.T) {
	for status, accepted := range map[int]bool{200: false, 201: false, 202: true} {
		for body, want := range map[string]Change{
			`{"message":"The check was accepted"}`: {
				Message: Hide("The check was accepted"), Raw: Hide(raw(`{"message":"The check was accepted"}`)),
			},
			`"accepted"`:        {Raw: Hide(raw(`"accepted"`))},
			`{"message":["x"]}`: {Raw: Hide(raw(`{"message":["x"]}`))},
			``:                  {},
		} {
			s := newService(t, answers(status, body), false)
			got, err := s.signedIn(t).AcceptCheck(t.Context(), 1, CheckReview{})
			if err != nil {
				t.Fatal(err)
			}
			want.Accepted = accepted
			if diff := cmp.Diff(want, *got, revealing); diff != "" {
				t.Errorf("%d %s (-want +got):\n%s", status, body, diff)
			}
			s.Close()
		}
	}
}

// TestFailedFields: results are what people gave, so a status shows only the names of fields.
func TestFailedFields(t *testing.T) {
	for result, want := range map[string]string{
		`{"check_field":3,"result":"failed"}`:                           "3",
		`{"check_field":"date_of_birth","result":"No Match"}`:           "date_of_birth",
		`{"check_field":{"id":3,"name":"address"},"result":"REJECTED"}`: "address",
		`{"check_field":{"id":3},"result":"mis-match"}`:                 "3",
		`{"id":9,"result":false}`:                                       "9",
		`{"id":9,"check_field":null,"result":"declined by staff"}`:      "9",
		`{"check_field":3,"result":"ok"}`:                               "",
		`{"check_field":3,"result":"Jane"}`:                             "",
		`{"check_field":3,"result":true}`:                               "",
		`{"check_field":3}`:                                             "",
		`"failed"`:                                                      "",
	} {
		body := `{"id":1,"individuals":[{"checks":[{"individual_checkfield_result":[` + result + `]}]}]}`
		s := newService(t, answers(200, body), false)
		got, err := s.client(t).RetrieveApplication(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if fields := strings.Join(got.Individuals[0].Checks[0].FailedFields, " "); fields != want {
			t.Errorf("%s: %q, want %q", result, fields, want)
		}
		s.Close()
	}
}

func TestDetails(t *testing.T) {
	const documented = `{
		"id":7,"email":"jane@example.com","title":"Ms","first_name":"Jane","middle_name":"","lastName":"Doe",
		"address":{"id":1,"individual":7,"road_street":"High Street","post_zip_code":1000}
	}`
	for situation, raw := range map[string]string{
		"as documented":         documented,
		"wrapped in data":       `{"data":` + documented + `}`,
		"wrapped in individual": `{"individual":` + documented + `}`,
	} {
		details := (&Individual{Raw: Hide(json.RawMessage(raw))}).Details().Reveal()
		address := details.Get("address").Object()
		got := details.Text("email") + " " + details.Text("last_name") + details.Text("middle_name") + " " +
			address.Text("road_street") + " " + address.Text("post_zip_code") + address.Text("district")
		if got != "jane@example.com Doe High Street 1000" {
			t.Errorf("%s: %s", situation, got)
		}
	}
	if details := new(Individual).Details().Reveal(); details != nil {
		t.Errorf("an individual of an application has no details: %v", details)
	}
}

// TestResults: the same results in another order are the same, and every other value or status is not.
func TestResults(t *testing.T) {
	const first, second = `{"check_field":2,"result":"ok","status":1}`, `{"check_field":3,"result":"Ghent","status":2}`
	results := func(fields ...string) string {
		body := `{"id":1,"individuals":[{"checks":[{"individual_checkfield_result":[` + strings.Join(fields, ",") + `]}]}]}`
		s := newService(t, answers(200, body), false)
		defer s.Close()
		application, err := s.client(t).RetrieveApplication(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return application.Individuals[0].Checks[0].Results.Reveal()
	}
	want := results(first, second)
	if got := results(second, first); got != want {
		t.Errorf("in another order: %q, want %q", got, want)
	}
	for name, other := range map[string]string{
		"value":  strings.Replace(second, "Ghent", "Bruges", 1),
		"status": strings.Replace(second, `"status":2`, `"status":1`, 1),
		"field":  strings.Replace(second, `"check_field":3`, `"check_field":4`, 1),
	} {
		if results(first, other) == want {
			t.Errorf("another %s is not seen", name)
		}
	}
	if results(first) == want {
		t.Error("a result that is gone is not seen")
	}
}
