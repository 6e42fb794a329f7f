package client

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecodeReferences(t *testing.T) {
	kyc := Reference{ID: 1, Name: "KYC", Code: "kyc", Description: "People"}
	kyb := Reference{ID: 2, Name: "KYB", Code: "kyb"}
	const types = `[{"id":1,"name":"KYC","code":"kyc","description":"People"},{"id":"2","name":"KYB","code":"kyb"}]`
	all := References{
		MandateTypes:  []Reference{kyc, kyb},
		Countries:     []Reference{{Code: "BE", Name: "Belgium"}},
		DocumentTypes: []Reference{{ID: 9, Name: "Passport"}},
	}
	parsed := cmp.Options{
		cmpopts.IgnoreFields(References{}, "Raw", "Complete"), cmpopts.IgnoreUnexported(References{}),
	}
	onlyTypes := References{MandateTypes: all.MandateTypes}
	for name, test := range map[string]struct {
		body string
		want References
	}{
		"object of lists": {`{
			"mandate_types":` + types + `,
			"countries":[{"code":"BE","name":"Belgium"}],
			"document_types":[{"id":9,"name":"Passport"}]
		}`, all},
		"other names": {`{
			"applicationTypes":` + types + `,
			"country_codes":[{"code":"BE","name":"Belgium"}],
			"documents":[{"value":9,"label":"Passport"}]
		}`, all},
		"wrapped in data": {`{"data":{
			"mandates":` + types + `,
			"country":[{"iso_code":"BE","title":"Belgium"}],
			"Document Types":[{"id":9,"text":"Passport"}]
		}}`, all},
		"flat list with type": {`[
			{"type":"mandate_type","id":1,"name":"KYC","code":"kyc","description":"People"},
			{"type":"MANDATE","id":2,"name":"KYB","code":"kyb"},
			{"type":"country","code":"BE","name":"Belgium"},
			{"type":"document","id":9,"name":"Passport"},
			{"type":"gender","id":3}
		]`, all},
		"flat list in results": {
			`{"count":1,"results":[{"kind":"country","code":"BE","name":"Belgium"}]}`, References{Countries: all.Countries},
		},
		"list of objects of lists": {
			`[{"mandate_types":` + types + `},{"countries":{"BE":"Belgium"}}]`,
			References{MandateTypes: all.MandateTypes, Countries: all.Countries},
		},
		"lists wrapped one by one": {`{"mandate_types":{"total":2,"data":` + types + `}}`, onlyTypes},
		"lists in groups": {`{"mandate_types":{
			"states":[{"id":5,"name":"open"}],
			"people":[{"id":1,"name":"KYC","code":"kyc","description":"People"}],
			"companies":[{"id":2,"name":"KYB","code":"kyb"}]
		}}`, onlyTypes},
		"lists in groups by country": {
			`{"document_types":{"United States":[{"id":9,"name":"Passport"}],"links":[{"id":1}]}}`,
			References{DocumentTypes: all.DocumentTypes},
		},
		"map code to name": {`{"countries":{"BE":"Belgium"}}`, References{Countries: all.Countries}},
		"map id to name":   {`{"document_types":{"9":"Passport"}}`, References{DocumentTypes: all.DocumentTypes}},
		"map code to id": {
			`{"mandate_types":{"kyc":1}}`, References{MandateTypes: []Reference{{ID: 1, Code: "kyc"}}},
		},
		"map code to object": {
			`{"mandate_types":{"kyb":{"id":2,"name":"KYB"}}}`, References{MandateTypes: []Reference{kyb}},
		},
		"map id to object": {
			`{"mandate_types":{"2":{"code":"kyb","name":"KYB"}}}`, References{MandateTypes: []Reference{kyb}},
		},
		"list of codes": {
			`{"countries":["BE",null,7]}`, References{Countries: []Reference{{Code: "BE", Name: "BE"}}},
		},
		"states are no types": {`{
			"mandate_types":` + types + `,
			"mandate_statuses":[{"id":1,"name":"completed"}],
			"application_states":[{"id":2,"name":"rejected"}]
		}`, onlyTypes},
		"documents of mandates": {
			`{"mandate_document_types":[{"id":9,"name":"Passport"}]}`, References{DocumentTypes: all.DocumentTypes},
		},
		"nothing known": {`{"x":[1,2],"y":{"z":"a"},"v":null}`, References{}},
		"empty":         {`{}`, References{}},
		"two ids": {
			`{"mandate_types":[{"id":1,"ID":2,"code":"kyc"}]}`, References{MandateTypes: []Reference{{Code: "kyc"}}},
		},
		"too deep": {
			strings.Repeat(`{"a":`, 20) + `{"mandate_types":` + types + `}` + strings.Repeat(`}`, 20), References{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(200, test.body), false)
			got, err := s.client(t).RetrieveReferences(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Raw) != test.body {
				t.Errorf("the raw answer is %s", got.Raw)
			}
			if diff := cmp.Diff(test.want, *got, parsed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, body := range []string{"", "null", "7", `"x"`, "<html>", `{"mandate_types":[`} {
		s := newService(t, answers(200, body), false)
		_, err := s.client(t).RetrieveReferences(t.Context())
		expectFailure(t, err, Unknown, KindUnreadable)
	}
}

// TestReferencesInPages reads them to the end, wherever the next page is named, and says if there is more.
func TestReferencesInPages(t *testing.T) {
	const kyc, kyb = `"mandate_types":[{"id":1,"code":"kyc"}]`, `"mandate_types":[{"id":2,"code":"kyb"}]`
	for name, test := range map[string]struct {
		first, last, link string
		query             string // of the second request, "" if there is none
		complete          bool
	}{
		"one":               {`{` + kyc + `,"next":null,"has_more":false}`, ``, "", "", true},
		"a path":            {`{` + kyc + `,"next":"/x?page=2"}`, `{` + kyb + `,"next":null}`, "", "page=2", true},
		"another host":      {`{` + kyc + `,"next":"https://evil.example/x?after=b"}`, `{` + kyb + `}`, "", "after=b", true},
		"a number":          {`{` + kyc + `,"meta":{"next_page":2}}`, `{` + kyb + `}`, "", "page=2", true},
		"a link object":     {`{` + kyc + `,"links":{"next":{"href":"?o=4"}}}`, `{` + kyb + `}`, "", "o=4", true},
		"a header":          {`{` + kyc + `}`, `{` + kyb + `}`, `</references?page=2>; rel="next"`, "page=2", true},
		"nothing to follow": {`{` + kyc + `,"has_more":true}`, ``, "", "", false},
		"a cursor":          {`{` + kyc + `,"next":"b2Zmc2V0"}`, ``, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			s := newService(t, func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.Host+"?"+r.URL.RawQuery)
				if len(seen) > 1 {
					_, _ = io.WriteString(w, test.last)
					return
				}
				w.Header().Set("Link", test.link)
				_, _ = io.WriteString(w, test.first)
			}, false)
			got, err := s.client(t).RetrieveReferences(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			host, _, _ := strings.Cut(seen[0], "?")
			want := []string{host + "?"}
			if test.query != "" {
				want = append(want, host+"?"+test.query)
			}
			if diff := cmp.Diff(want, seen); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if len(got.MandateTypes) != len(want) || got.Complete != test.complete || !json.Valid(got.Raw) {
				t.Errorf("%+v, %s", got, got.Raw)
			}
		})
	}
}

// TestEndlessPages: a service that always names another page is not read for ever.
func TestEndlessPages(t *testing.T) {
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"next":"?page=`+r.URL.RawQuery+`1"}`)
	}, false)
	got, err := s.client(t).RetrieveReferences(t.Context())
	if requests, _ := s.seen(); err != nil || got.Complete || len(requests) > 2*maxPages {
		t.Errorf("%d requests, %v", len(requests), err)
	}
}

func TestMatchReferences(t *testing.T) {
	mandateTypes := []Reference{
		{ID: 1, Code: "kyc", Name: "Customers"},
		{ID: 2, Code: "kyb", Name: "Customers"},
		{ID: 1, Code: "kyc", Name: "Customers"},
		{ID: 3, Code: "aml", Name: "Money"},
	}
	for name, test := range map[string]struct {
		want  Reference
		found []int64
	}{
		"by id":                          {Reference{ID: 2}, []int64{2}},
		"by code":                        {Reference{Code: "AML"}, []int64{3}},
		"by name":                        {Reference{Name: "money"}, []int64{3}},
		"named twice, the same":          {Reference{Code: "kyc"}, []int64{1}},
		"unknown":                        {Reference{Code: "none"}, nil},
		"nothing asked":                  {Reference{}, nil},
		"two of that name: not a guess":  {Reference{Name: "Customers"}, []int64{1, 2}},
		"a name is not looked up as one": {Reference{Code: "Money"}, nil},
	} {
		var found []int64
		for _, match := range MatchReferences(mandateTypes, test.want) {
			found = append(found, match.ID)
		}
		if !slices.Equal(found, test.found) {
			t.Errorf("%s: got %v", name, found)
		}
	}
}

// Countries have no ids, which must not make two of them one.
func TestMatchReferencesWithoutID(t *testing.T) {
	countries := []Reference{
		{Code: "CG", Name: "Congo"},
		{Code: "CD", Name: "Congo"},
		{Code: "BE", Name: "Belgium"},
		{Code: "BE", Name: "Belgium"},
	}
	for name, test := range map[string]struct {
		want  Reference
		codes []string
	}{
		"one":                  {Reference{Code: "cd"}, []string{"CD"}},
		"two of one name":      {Reference{Name: "congo"}, []string{"CG", "CD"}},
		"listed twice":         {Reference{Name: "Belgium"}, []string{"BE"}},
		"an id that none has":  {Reference{ID: 1}, nil},
		"nothing is asked for": {Reference{}, nil},
	} {
		var codes []string
		for _, match := range MatchReferences(countries, test.want) {
			codes = append(codes, match.Code)
		}
		if diff := cmp.Diff(test.codes, codes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
