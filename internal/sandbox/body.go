package sandbox

import (
	"encoding/json"
	"mime"
)

// bodyRule says what an operation takes as its body.
type bodyRule struct {
	mediaType string // "" if the body is not looked at
	optional  bool
	empty     bool // an object without members
}

var (
	noBody          = bodyRule{}
	formBody        = bodyRule{mediaType: "application/x-www-form-urlencoded"}
	objectBody      = bodyRule{mediaType: "application/json"}
	emptyObjectBody = bodyRule{mediaType: "application/json", empty: true}
	// anyObjectBody is for operations whose payload is not documented.
	anyObjectBody = bodyRule{mediaType: "application/json", optional: true}
)

func (b bodyRule) check(c *call) error {
	if b.mediaType == "" || b.optional && len(c.body) == 0 {
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || mediaType != b.mediaType {
		return malformed("the Content-Type must be " + b.mediaType)
	}
	if b == formBody {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &object); err != nil || object == nil {
		return malformed("the body must be a JSON object")
	}
	if b.empty && len(object) > 0 {
		return malformed("the body must be an empty JSON object")
	}
	return nil
}
