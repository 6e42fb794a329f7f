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

// readJSON decodes the body of a control request into value, which keeps what the
// body does not mention. Unknown members are refused: a misspelled one would
// quietly do something else.
func readJSON(r *http.Request, value any) error {
	decoder := json.NewDecoder(io.LimitReader(r.Body, bodyLimit))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return bodyError(err)
	}
	if decoder.More() {
		return errors.New("the body must be one JSON object, and more comes after it")
	}
	return nil
}

// bodyError says what is wrong with a body, and with which field of it.
func bodyError(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if mistyped.Field == "" {
			return fmt.Errorf("the body must be a JSON object, not a JSON %s", mistyped.Value)
		}
		return fmt.Errorf("%s: it is %s, not a JSON %s", mistyped.Field, jsonName(mistyped.Type.Kind()), mistyped.Value)
	}
	// The decoder has no type for this one.
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("%s: this route takes no such field; GET %s/ tells what it takes", strings.Trim(name, `"`), control.Prefix)
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
