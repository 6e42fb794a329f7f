package sandbox

import (
	"encoding/json"
	"mime"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

const (
	mediaForm = "application/x-www-form-urlencoded"
	mediaJSON = "application/json"

	mediaHTML    = "text/html; charset=utf-8"
	mediaProblem = "application/problem+json"
)

// bodyRule says what an operation takes as its body.
type bodyRule struct {
	mediaType string // "" if the body is ignored
	empty     bool   // an object without members
	// dialectSwitch chooses between an object and no body, where the interface leaves it open.
	dialectSwitch func(dialect.Dialect) string
}

var (
	noBody          = bodyRule{}
	formBody        = bodyRule{mediaType: mediaForm}
	objectBody      = bodyRule{mediaType: mediaJSON}
	emptyObjectBody = bodyRule{mediaType: mediaJSON, empty: true}
	transitionBody  = bodyRule{
		mediaType: mediaJSON, dialectSwitch: func(d dialect.Dialect) string { return d.TransitionBody },
	}
	resendResetBody = bodyRule{
		mediaType: mediaJSON, dialectSwitch: func(d dialect.Dialect) string { return d.ResendResetBody },
	}
)

func (b bodyRule) check(r *request) error {
	if b.mediaType == "" {
		if r.dialect.ContentType == dialect.ContentTypeAlways {
			return checkMediaType(r, mediaJSON)
		}
		return nil
	}
	if b.dialectSwitch != nil {
		wanted := b.dialectSwitch(r.dialect)
		switch none := len(r.body) == 0; {
		case none && wanted == dialect.BodyEmptyTyped:
			return checkMediaType(r, mediaJSON)
		case none && wanted == dialect.BodyEmptyUntyped && r.Header.Get("Content-Type") != "":
			return malformed("a request without a body must have no Content-Type")
		case none && wanted != dialect.BodyObject:
			return nil
		case !none && wanted != dialect.BodyObject && wanted != "":
			return malformed("the body must be empty")
		}
	}
	if err := checkMediaType(r, b.mediaType); err != nil {
		return err
	}
	if b.mediaType != mediaJSON {
		return nil
	}
	return b.checkObject(r.body)
}

func (b bodyRule) checkObject(body []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil || object == nil {
		return malformed("the body must be a JSON object")
	}
	if b.empty && len(object) > 0 {
		return malformed("the body must be an empty JSON object")
	}
	return nil
}

func checkMediaType(r *request, wanted string) error {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != wanted {
		return malformed("the Content-Type must be " + wanted)
	}
	return nil
}
