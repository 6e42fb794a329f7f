package provider

import (
	"encoding/json"
	"strings"
)

// personalMembers are the members that the interface knows as data about a person (interface: Individual, Address), in
// lower case without '_'. Not among them are name, title and reference, which webhooks may have too: a person's are in
// an individual, which goes as a whole.
var personalMembers = map[string]bool{
	"individual": true, "individuals": true, "email": true, "firstname": true, "middlename": true, "lastname": true,
	"dateofbirth": true, "gender": true,
	"flatappartmentsubbuilding": true, "buildingnumber": true, "buildingname": true, "roadstreet": true, "district": true,
	"towncity": true, "stateprovincename": true, "stateprovincecode": true, "postzipcode": true,
}

// withoutPersons takes what is about persons out of JSON that goes into a state. The shape of most answers is not
// documented: one about a webhook could show what was delivered.
func withoutPersons(raw json.RawMessage) json.RawMessage {
	value, err := decodeJSON(raw)
	if err != nil {
		return nil
	}
	removePersons(value)
	cleaned, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return cleaned
}

func removePersons(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			removePersons(item)
		}
	case map[string]any:
		for name, member := range value {
			if personalMembers[foldName(name)] {
				delete(value, name)
				continue
			}
			removePersons(member)
		}
	}
}

func foldName(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}
