package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// personalFields are the fields that the interface knows as data about a person (interface: Individual, Address),
// folded. The fields name, title and reference are not among them, because webhooks may have them too. Those of a
// person are in an individual, which is removed as a whole, or have a longer name.
var personalFields = map[string]bool{
	"firstname": true, "middlename": true, "lastname": true,
	"dateofbirth": true, "gender": true,
	"flatappartmentsubbuilding": true, "buildingnumber": true, "buildingname": true, "roadstreet": true, "district": true,
	"towncity": true, "stateprovincename": true, "stateprovincecode": true, "postzipcode": true,
}

// personalNameParts mark the name of a field about a person, such as individual_reference.
var personalNameParts = []string{"individual", "email"}

// secretNameParts mark the name of a field that holds a secret. Without them, the secret of a webhook would reach the
// state in a response of the service, although it was sent as a write-only argument.
var secretNameParts = []string{"secret", "token", "password", "apikey", "signature", "signingkey"}

// redactForState removes personal data and secrets from a response. The format of most responses is not documented: one
// about a webhook may contain what was delivered.
func redactForState(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	removeFields(value, isPersonalOrSecret)
	return encodeJSON(value)
}

func removeFields(value any, unwanted func(name string) bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			removeFields(item, unwanted)
		}
	case map[string]any:
		for name, field := range value {
			if unwanted(name) {
				delete(value, name)
				continue
			}
			removeFields(field, unwanted)
		}
	}
}

// isPersonalOrSecret reports what no state may hold if the service can return it again.
func isPersonalOrSecret(name string) bool {
	return isPersonal(name) || containsAny(name, secretNameParts)
}

// isPersonal reports what no state may hold at all.
func isPersonal(name string) bool {
	return personalFields[client.FoldName(name)] || containsAny(name, personalNameParts)
}

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(client.FoldName(name), part) })
}
