package sandbox

import (
	"encoding/json"
	"mime"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

const (
	mediaForm = "application/x-www-form-urlencoded"
	mediaJSON = "application/json"
)

// bodyRule says what an operation takes as its body.
type bodyRule struct {
	mediaType string // "" if the body is not looked at
	empty     bool   // an object without members
	// undocumented is the switch that decides between an object and no body.
	undocumented func(dialect.Dialect) string
}

var (
	noBody          = bodyRule{}
	formBody        = bodyRule{mediaType: mediaForm}
	objectBody      = bodyRule{mediaType: mediaJSON}
	emptyObjectBody = bodyRule{mediaType: mediaJSON, empty: true}
	transitionBody  = bodyRule{mediaType: mediaJSON, undocumented: func(d dialect.Dialect) string { return d.TransitionBody }}
	resendResetBody = bodyRule{mediaType: mediaJSON, undocumented: func(d dialect.Dialect) string { return d.ResendResetBody }}
)

func (b bodyRule) check(c *call) error {
	if b.mediaType == "" {
		if c.dialect.ContentType == dialect.ContentTypeAlways {
			return checkMediaType(c, mediaJSON)
		}
		return nil
	}
	if b.undocumented != nil {
		wanted := b.undocumented(c.dialect)
		switch none := len(c.body) == 0; {
		case none && wanted != dialect.BodyObject:
			return nil
		case !none && wanted == dialect.BodyEmpty:
			return malformed("the body must be empty")
		}
	}
	if err := checkMediaType(c, b.mediaType); err != nil {
		return err
	}
	if b.mediaType != mediaJSON {
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

func checkMediaType(c *call, wanted string) error {
	mediaType, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || mediaType != wanted {
		return malformed("the Content-Type must be " + wanted)
	}
	return nil
}
