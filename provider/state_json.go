package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// personalMembers are the members that the interface knows as data about a person (interface: Individual, Address), in
// lower case without '_'. Not among them are name, title and reference, which webhooks may have too: a person's are in
// an individual, which goes as a whole, or have a longer name.
var personalMembers = map[string]bool{
	"firstname": true, "middlename": true, "lastname": true,
	"dateofbirth": true, "gender": true,
	"flatappartmentsubbuilding": true, "buildingnumber": true, "buildingname": true, "roadstreet": true, "district": true,
	"towncity": true, "stateprovincename": true, "stateprovincecode": true, "postzipcode": true,
}

// personalWords are in the names of members about a person, such as individual_reference.
var personalWords = []string{"individual", "email"}

// secretWords are in the names of members that hold a secret. A webhook's would otherwise come into the state after all,
// whatever was done to send it past it.
var secretWords = []string{"secret", "token", "password", "apikey", "signature", "signingkey"}

// fitForState takes what is about persons, and secrets, out of JSON that goes into a state. The shape of most answers is
// not documented: one about a webhook could show what was delivered.
func fitForState(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	remove(value, isUnfit)
	return encodeJSON(value)
}

func remove(value any, unfit func(name string) bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			remove(item, unfit)
		}
	case map[string]any:
		for name, member := range value {
			if unfit(name) {
				delete(value, name)
				continue
			}
			remove(member, unfit)
		}
	}
}

// isUnfit tells what does not belong into a state if the service can be asked for it again.
func isUnfit(name string) bool { return isPersonal(name) || holds(name, secretWords) }

// isPersonal tells what never belongs into a state.
func isPersonal(name string) bool {
	return personalMembers[client.FoldName(name)] || holds(name, personalWords)
}

func holds(name string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(client.FoldName(name), word) })
}
