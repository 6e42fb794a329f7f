package notification

import (
	"slices"
	"strings"
	"testing"
)

// Only what can be the id of an application is read as one, and stored. Another number may be a phone number, a birth
// date or the reference of an individual.
func TestPossibleApplications(t *testing.T) {
	many := strings.Repeat(`{"phone":447700900123},`, 2001)
	for name, c := range map[string]struct {
		body string
		want []int64
	}{
		"a thin one":                   {`{"id":4711}`, []int64{4711}},
		"only a number":                {`4711`, []int64{4711}},
		"a float":                      {`{"application":{"id":4711.0},"price":4712.50}`, []int64{4711}},
		"an application":               {`{"application":{"id":4711}}`, []int64{4711}},
		"an application by its name":   {`{"event":"created","application":4711,"id":99}`, []int64{4711}},
		"a list of applications":       {`{"applications":[4711,4712]}`, []int64{4711, 4712}},
		"an id that begins with id":    {`{"id_application":4711}`, []int64{4711}},
		"a mandate":                    {`{"mandateId":4711,"individual_id":99}`, []int64{4711}},
		"the application of a person":  {`{"individual":{"id":99,"application_id":4711}}`, []int64{4711}},
		"the id of an object":          {`{"object_id":4711,"event_id":99}`, []int64{4711}},
		"a link":                       {`{"href":"https://x.example/ext/applications/4711"}`, []int64{4711}},
		"the link of a person":         {`{"href":"https://x.example/ext/individuals/99"}`, nil},
		"a text with names":            {"phone: 447700900123\napplication_id: 4711", []int64{4711}},
		"a form":                       {`phone=447700900123&application_id=4711`, []int64{4711}},
		"the same id of two kinds":     {`{"individual":{"id":77},"id":77}`, []int64{77}},
		"a key of Django":              {`[{"model":"mandates.mandate","pk":4711,"fields":{}}]`, []int64{4711}},
		"a long name":                  {`{"application_identifier":4711,"id":99}`, []int64{4711}},
		"an identifier":                {`{"application":{"identifier":"4711"},"id":99}`, []int64{4711}},
		"JSON:API":                     {`{"data":{"type":"applications","id":"4711"}}`, []int64{4711}},
		"lower case":                   {`{"applicationid":4711,"eventid":99}`, []int64{4711}},
		"names of applications":        {`{"id":4711,"application_reason_code":12}`, []int64{4711}},
		"how many applications":        {`{"data":{"id":4711},"total_applications":17}`, []int64{4711}},
		"a form with brackets":         {`data[application][id]=4711&status=done`, []int64{4711}},
		"a form with a list":           {`application_ids[]=4711&application_ids[]=4712`, []int64{4711, 4712}},
		"a form of an object":          {`data[0][id]=4711`, []int64{4711}},
		"the form of a person":         {`individual[id]=99&individual[phone]=447700900123`, nil},
		"XML of a person":              {`<n><individual id="99"><phone>447700900123</phone></individual></n>`, nil},
		"a number in two places":       {`{"application_reference":"4711","id":4711}`, []int64{4711}},
		"a phone number in an object":  {`{"phone":{"value":"447700900123"}}`, nil},
		"an application's phone":       {`{"id":4711,"applicationPhoneNumber":447700900123}`, []int64{4711}},
		"a postal code":                {`{"id":4711,"application_postal_code":12345}`, []int64{4711}},
		"a field of a list":            {`[{"name":"phone","value":"447700900123"}]`, nil},
		"a national id":                {`{"national_id":"8001015009087"}`, nil},
		"a tax id":                     {`{"applicant":{"tax_id":12345678901}}`, nil},
		"a passport":                   {`{"passport":{"id":"123456789"}}`, nil},
		"a link to a phone":            {`{"contact":"https://wa.me/447700900123"}`, nil},
		"a phone number in a text":     {`Phone: 447700900123`, nil},
		"words that end like an id":    {`{"poids":82,"amount_paid":5000}`, nil},
		"only a word and a number":     {`application.completed 447700900123`, nil},
		"a nameless number in a text":  {`call 447700900123`, nil},
		"a dotted name in a form":      {`application.id=4711&individual.id=99`, []int64{4711}},
		"an id of digits in quotes":    {`{"Mandate_ID":"4711"}`, []int64{4711}},
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
		"an application of many people": {
			`{"people":[` + many + `{}],"application":{"id":4711}}`, []int64{4711},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := NewIndex().match(testKey, Candidates("", []byte(c.body)))
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s may be about the applications %d, want %d", c.body, got, c.want)
			}
		})
	}
}
