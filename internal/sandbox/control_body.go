package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// readJSON decodes the body of a control request into value. Members that the body omits keep their value. Unknown
// members are an error, because ignoring a misspelled one would hide a mistake.
func readJSON(r *http.Request, value any) error {
	decoder := json.NewDecoder(io.LimitReader(r.Body, bodyLimit))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return bodyError(err)
	}
	if decoder.More() {
		return errors.New("the body must be one JSON object; remove what follows it")
	}
	return nil
}

// bodyError says what is wrong with a body, and with which field of it.
func bodyError(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if mistyped.Field == "" {
			return fmt.Errorf("the body must be a JSON object, not a JSON %s", mistyped.Value)
		}
		return fmt.Errorf("%s: must be %s, not a JSON %s", mistyped.Field, jsonName(mistyped.Type.Kind()), mistyped.Value)
	}
	// The decoder has no error type for an unknown field.
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("%s: unknown field; GET %s/ lists the fields", strings.Trim(name, `"`), control.Prefix)
	}
	return fmt.Errorf("the body must be a JSON object: %w", err)
}

func jsonName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "an integer"
	}
}
