package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// answered is a response to an operation, as a decoder gets it.
func answered(op Operation, status int, header http.Header, data []byte) *answer {
	q := newRequest(op, 4711)
	q.reference, q.method = "A-1", http.MethodPost
	return new(Client).read(context.Background(), q, &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)),
	})
}

func retrieved(data []byte) *answer { return answered(OpRetrieveApplication, 200, nil, data) }

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
		answer := retrieved(data)
		application, err := parseApplication(answer)
		want := wrapped(answer.json, "application", "mandate", "data", "result", "item")
		references := valuesOf(want, "reference")
		if want == nil || len(references) > 1 || answer.invalid != nil {
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
		if application.Reference != reference || !bytes.Equal(application.Raw.Reveal(), answer.json) {
			t.Errorf("reference %q, want %q; raw %s", application.Reference, reference, application.Raw.Reveal())
		}
		_, said := scalars(answer.json)
		for _, id := range idsIn(application) {
			if !said[id] {
				t.Errorf("the answer holds no %d", id)
			}
		}
	})
}

// FuzzCreated: a create is done only if one object of the answer has an id beside the reference that was sent, and this
// is the id that is read.
func FuzzCreated(f *testing.F) {
	addBodies(f)
	for _, seed := range []string{
		`{"id":88,"data":{"id":4711,"reference":"A-1"}}`,
		`{"id":88,"reference":"A-1","data":{"id":4711,"reference":"A-1"}}`,
		`[{"id":4711,"reference":"A-1"}]`,
		`{"data":[{"ID":"4711","Reference":"a-1"}]}`,
		`{"id":4711,"reference":"A-1","reference":"A-2"}`,
		`{"id":4711,"reference":"A-1","success":false}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := answered(OpCreateApplication, 200, nil, data)
		if failure := answer.judge(); failure != nil {
			if failure.Outcome.NothingDone() || failure.Outcome == Done {
				t.Errorf("%v of a 200", failure.Outcome)
			}
			return
		}
		created := parseIdentity(answer.shown())
		if ids := idsBeside(answer.json, "A-1", 0); !ids[created.ID] || len(ids) != 1 {
			t.Errorf("created %d, a strict reader finds %v", created.ID, ids)
		}
	})
}

// idsBeside are the ids of all objects of a document with the reference.
func idsBeside(value []byte, reference string, depth int) map[int64]bool {
	ids := map[int64]bool{}
	_, entries := entriesOf(value)
	references := valuesOf(entries, "reference")
	if len(references) == 1 && soleID(entries) != 0 {
		if text, isString := scalarOf([]byte(references[0])); isString && strings.EqualFold(text, reference) {
			ids[soleID(entries)] = true
		}
	}
	for _, e := range entries {
		wraps := e.name == "" || e.named("application", "mandate", "data", "result", "item")
		if depth < 8 && wraps {
			maps.Copy(ids, idsBeside(e.value, reference, depth+1))
		}
	}
	return ids
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
			if application, err := parseApplication(retrieved([]byte(body))); err == nil && application.ID != 4711 {
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
		answer := retrieved(data)
		if answer.invalid != nil {
			return
		}
		want := soleID(wrapped(answer.json, "individual", "data", "result", "item"))
		if got := parseIndividual(answer.value.Unwrap("individual")); got.ID != want {
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
		answer := retrieved(data)
		token, err := parseToken(answer, now)
		if err != nil {
			return
		}
		value := token.value.Reveal()
		texts, _ := scalars(answer.json)
		said := slices.ContainsFunc(slices.Collect(maps.Keys(texts)), func(text string) bool {
			scheme, rest, _ := strings.Cut(text, " ")
			return text == value || strings.EqualFold(scheme, "bearer") && rest == value
		})
		if value == "" || !said {
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
		answer := retrieved(data)
		references, err := new(References).addPage(answer)
		kind, _ := entriesOf(answer.json)
		if (err == nil) != (kind != 0 && answer.invalid == nil) {
			t.Fatalf("%v, but a JSON object or list: %v", err, kind != 0)
		}
		if err != nil {
			return
		}
		texts, ids := scalars(answer.json)
		for _, list := range [][]Reference{references.MandateTypes, references.Countries, references.DocumentTypes} {
			for _, r := range list {
				if !ids[r.ID] || !texts[r.Name] || !texts[r.Code] || !texts[r.Description] {
					t.Errorf("%+v is not in the answer", r)
				}
				if found := MatchReferences(list, Reference{ID: r.ID}); r.ID != 0 && (len(found) != 1 || found[0].ID != r.ID) {
					t.Errorf("%+v is not found by its id", r)
				}
			}
		}
	})
}
