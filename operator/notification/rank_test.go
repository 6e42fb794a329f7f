package notification

import (
	"slices"
	"testing"
)

// Only what can be the id of an application is read as one, and stored. Another number may be a phone number, a birth
// date or the reference of an individual.
func TestPossibleApplications(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []int64
	}{
		"a thin one":                   {`{"id":4711}`, []int64{4711}},
		"only a number":                {`4711`, []int64{4711}},
		"an application":               {`{"application":{"id":4711}}`, []int64{4711}},
		"an application by its name":   {`{"event":"created","application":4711,"id":99}`, []int64{4711}},
		"a list of applications":       {`{"applications":[4711,4712]}`, []int64{4711, 4712}},
		"the number of an application": {`{"applicationNumber":"4711"}`, []int64{4711}},
		"an id that begins with id":    {`{"id_application":4711}`, []int64{4711}},
		"a mandate":                    {`{"mandateId":4711,"individual_id":99}`, []int64{4711}},
		"the application of a person":  {`{"individual":{"id":99,"application_id":4711}}`, []int64{4711}},
		"a resource":                   {`{"resource":4711,"resource_type":"application"}`, []int64{4711}},
		"the id of an object":          {`{"object_id":4711,"event_id":99}`, []int64{4711}},
		"a link":                       {`{"href":"https://x.example/ext/applications/4711"}`, []int64{4711}},
		"the link of a person":         {`{"href":"https://x.example/ext/individuals/99"}`, nil},
		"a text":                       {`application.completed 4711`, []int64{4711}},
		"a text with names":            {"phone: 447700900123\napplication_id: 4711", []int64{4711}},
		"a form":                       {`phone=447700900123&application_id=4711`, []int64{4711}},
		"XML":                          {`<event id="99"><application id="4711"/></event>`, []int64{4711}},
		"the same id of two kinds":     {`{"individual":{"id":77},"id":77}`, []int64{77}},
		"a person":                     {`{"individual":{"id":99,"reference":"8001015009087"}}`, nil},
		"the phone number of a person": {`{"individual":{"phone":"447700900123"}}`, nil},
		"a phone number":               {`{"event":"updated","phone":447700900123}`, nil},
		"a birth date":                 {`{"data":{"birth_date":19800101}}`, nil},
		"a document":                   {`{"document_number":"8001015009087"}`, nil},
		"a reference of digits":        {`{"reference":"8001015009087"}`, nil},
		"the reference of a person":    {`{"individual_ref":"8001015009087","event":"x"}`, nil},
		"a person beside a number":     {`{"id":4711,"phone":"447700900123","birth":19800101}`, []int64{4711}},
		"a person of an application":   {`{"application":{"id":4711,"phone":"447700900123"}}`, []int64{4711}},
		"the kind of an application":   {`{"application_type_id":3,"mandate_status_id":4}`, nil},
		"an event":                     {`{"event":{"id":99},"check_id":98}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewIndex().match(testKey, Candidates("", []byte(c.body))).unknownIDs
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s may be about the applications %d, want %d", c.body, got, c.want)
			}
		})
	}
}
