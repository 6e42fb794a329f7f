package client

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPerson(t *testing.T) {
	jane := Person{Email: "jane@example.com", Title: "Ms", FirstName: "Jane", LastName: "Doe", DateOfBirth: "1990-02-03",
		Gender:  "female",
		Address: Address{Flat: "2b", RoadStreet: "High Street", PostZipCode: "1000", DateFrom: "2020-01-01"}}
	const members = `"id":7,"email":"jane@example.com","title":"Ms","first_name":"Jane","middle_name":"",` +
		`"last_name":"Doe",` +
		`"date_of_birth":"1990-02-03","gender":"female",` +
		`"address":{"id":1,"individual":7,"flat_appartment_subbuilding":"2b","road_street":"High Street","district":null,` +
		`"post_zip_code":1000,"date_from":"2020-01-01"}`
	for situation, test := range map[string]struct {
		raw  string
		want Person
	}{
		"as documented":         {`{` + members + `}`, jane},
		"wrapped in data":       {`{"data":{` + members + `}}`, jane},
		"wrapped in individual": {`{"individual":{` + members + `}}`, jane},
		"other letter case": {
			`{"Id":7,"Email":"jane@example.com","lastName":"Doe"}`, Person{Email: "jane@example.com", LastName: "Doe"},
		},
		"address as text":  {`{"id":7,"address":"High Street 1"}`, Person{}},
		"nothing":          {`{}`, Person{}},
		"an Application's": {``, Person{}},
	} {
		individual := Individual{Raw: Hide(json.RawMessage(test.raw))}
		if diff := cmp.Diff(test.want, individual.Person().Reveal()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", situation, diff)
		}
	}
}
