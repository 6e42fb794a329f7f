package provider

import (
	"encoding/json"
	"slices"
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

// secretWords are in the names of members that hold a secret. A webhook's would otherwise come into the state after all,
// whatever was done to send it past it.
var secretWords = []string{"secret", "token", "password", "apikey", "signature", "signingkey"}

// fitForState takes what is about persons, and secrets, out of JSON that goes into a state. The shape of most answers is
// not documented: one about a webhook could show what was delivered.
func fitForState(raw json.RawMessage) json.RawMessage {
	value, err := decodeJSON(raw)
	if err != nil {
		return nil
	}
	removeUnfit(value)
	cleaned, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return cleaned
}

func removeUnfit(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			removeUnfit(item)
		}
	case map[string]any:
		for name, member := range value {
			if isUnfit(name) {
				delete(value, name)
				continue
			}
			removeUnfit(member)
		}
	}
}

func isUnfit(name string) bool {
	name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	return personalMembers[name] || slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}
