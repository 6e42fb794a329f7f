package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// trimmed is what a decoder gets to see of a body.
func trimmed(data []byte) *response {
	return &response{
		operation: OpRetrieveApplication, status: 200, body: bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))),
	}
}

func addBodies(f *testing.F) {
	for _, body := range testBodies() {
		if !body.large {
			f.Add([]byte(body.text))
		}
	}
}

// FuzzApplication: id and reference are those of a strict reading or there is no application, and no other id in it is
// one that the answer does not hold.
func FuzzApplication(f *testing.F) {
	addBodies(f)
	for _, seed := range []string{
		`{"id":4711,"ID":4712,"data":{"id":5}}`,
		`{"id":"x","Id":4711,"data":{"id":5}}`,
		`{"data":{"id":1,"id":2,"data":{"id":3}}}`,
		`{"İD":1,"id":2}`,
		`{"id":1,"individuals":[{"id":2,"i d":3,"checks":[{"id":4,"status":{"id":5}}]}],"mandate_type":"6","status":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := trimmed(data)
		application, err := parseApplication(answer)
		want := wrapped(answer.body, "application", "mandate", "data", "result", "item")
		references := valuesOf(want, "reference")
		if want == nil || len(references) > 1 || checkSize(answer.body) != nil {
			if err == nil {
				t.Fatalf("read application %d, a strict reader finds none", application.ID)
			}
			return
		}
		if err != nil || application.ID != soleID(want) {
			t.Fatalf("read %+v, %v; a strict reader finds %d", application, err, soleID(want))
		}
		reference := ""
		if len(references) == 1 {
			if text, isString := scalarOf([]byte(references[0])); isString {
				reference = text
			}
		}
		if application.Reference != reference || !bytes.Equal(application.Raw.Reveal(), answer.body) {
			t.Errorf("reference %q, want %q; raw %s", application.Reference, reference, application.Raw.Reveal())
		}
		_, said := scalars(answer.body)
		for _, id := range idsIn(application) {
			if !said[id] {
				t.Errorf("the answer holds no %d", id)
			}
		}
	})
}

func idsIn(a *Application) []int64 {
	ids := []int64{a.State.ID, a.MandateType.ID}
	for _, action := range a.Actions {
		ids = append(ids, action.ID)
	}
	for _, individual := range a.Individuals {
		ids = append(ids, individual.ID, individual.State.ID)
		for _, check := range individual.Checks {
			ids = append(ids, check.ID, check.State.ID)
		}
	}
	return ids
}

// FuzzHostileMember: whatever member somebody slips into an application, before, behind or around its own, its id stays
// or there is none. The one exception is the documented member itself, which only counts where there is no other.
func FuzzHostileMember(f *testing.F) {
	for _, name := range []string{
		"id", "ID", "Id", "i_d", "\\u0069d", "data", "application", "mandate", "Result", "item", "reference", "individuals",
	} {
		for _, value := range []string{`4712`, `"4711"`, `null`, `{"id":4712}`, `[{"id":4712}]`, `""`} {
			f.Add(name, value, "data", `{"id":4713}`)
		}
	}
	f.Fuzz(func(t *testing.T, name, value, name2, value2 string) {
		for _, format := range []string{
			`{"id":4711,"%[1]s":%[2]s,"%[3]s":%[4]s}`,
			`{"%[1]s":%[2]s,"%[3]s":%[4]s,"id":4711}`,
			`{"%[1]s":%[2]s,"id":4711,"%[3]s":%[4]s}`,
		} {
			body := fmt.Sprintf(format, name, value, name2, value2)
			if kind, entries := entriesOf([]byte(body)); kind != '{' || len(entries) != 3 {
				continue // it broke out of its place, and is another document
			}
			if application, err := parseApplication(trimmed([]byte(body))); err == nil && application.ID != 4711 {
				t.Errorf("%s became %d", body, application.ID)
			}
		}
	})
}

// FuzzIndividual: as FuzzApplication; without an id, it is an individual that says none.
func FuzzIndividual(f *testing.F) {
	addBodies(f)
	f.Add([]byte(`{"data":{"individual":` + someIndividual + `}}`))
	f.Add([]byte(`{"id":1,"ID":2,"individual":{"id":3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		body := trimmed(data).body
		o, err := parseObject(body)
		if err != nil {
			return
		}
		want := soleID(wrapped(body, "individual", "data", "result", "item"))
		if got := new(decoder).individual(o.unwrap("individual")); got.ID != want {
			t.Errorf("read individual %d, a strict reader finds %d", got.ID, want)
		}
	})
}

// FuzzTokenAnswer: a token is a text of the answer that fits into a header, and is renewed between four fifths of a
// second and of a day from now.
func FuzzTokenAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"t","expires_in":3600}`,
		`{"access_token":"t","expires_in":1e400}`,
		`{"access_token":"t","expires_in":"NaN"}`,
		`{"data":{"accessToken":"t","expires_in":"-0"}}`,
		`{"access_token":"\u0000"}`,
		`{"access_token":"é\u0085","expires_in":"0x1p9"}`,
		`{"access_token":"a","ACCESS_TOKEN":"b"}`,
		`null`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := trimmed(data)
		token, err := parseToken(answer, now)
		if err != nil {
			return
		}
		value := token.value.Reveal()
		if texts, _ := scalars(answer.body); !isObject(answer.body) || value == "" || !texts[value] {
			t.Errorf("the answer holds no %q", value)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < '!' || r == 0x7f }) {
			t.Errorf("%q fits into no header", value)
		}
		if lifetime := token.renew.Sub(now); lifetime < 800*time.Millisecond || lifetime > 24*time.Hour/5*4 {
			t.Errorf("renewed after %v", lifetime)
		}
	})
}

// FuzzReferences: every id and text is one that the answer holds, and what is listed once can be found by its id.
func FuzzReferences(f *testing.F) {
	const types = `[{"id":1,"name":"KYC","code":"kyc"},{"id":"2","name":"KYB","Code":"kyb"}]`
	for _, seed := range []string{
		`{"mandate_types":` + types + `}`,
		`[{"type":"country","code":"BE"}]`,
		`{"countries":{"BE":"Belgium"}}`,
		`{"document_types":{"9":{"id":10}}}`,
		`{"mandate_types":{"total":2,"data":` + types + `}}`,
		`{"mandate_types":{"kyc":1},"Mandates":["x",null,7]}`,
		`{"data":[{"applications":` + types + `}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := trimmed(data)
		references, err := parseReferences(answer)
		kind, _ := entriesOf(answer.body)
		if (err == nil) != (kind != 0 && checkSize(answer.body) == nil) {
			t.Fatalf("%v, but a JSON object or list: %v", err, kind != 0)
		}
		if err != nil {
			return
		}
		texts, ids := scalars(answer.body)
		for _, list := range [][]Reference{references.MandateTypes, references.Countries, references.DocumentTypes} {
			for _, r := range list {
				if !ids[r.ID] || !texts[r.Name] || !texts[r.Code] || !texts[r.Description] {
					t.Errorf("%+v is not in the answer", r)
				}
				if found, ok := FindReference(list, Reference{ID: r.ID}); r.ID != 0 && (!ok || found.ID != r.ID) {
					t.Errorf("%+v is not found by its id", r)
				}
			}
		}
	})
}
