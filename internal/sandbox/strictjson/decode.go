// Package strictjson decodes what people write: a misspelled member is an error, and an error names the member.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
)

// Decode decodes one JSON object into value. Members that the object omits keep their value. Unknown members are an
// error, because ignoring a misspelled one would hide a mistake; such an error says where the members are listed.
func Decode(object io.Reader, value any, listed string) error {
	decoder := json.NewDecoder(object)
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(value); err != nil {
		return decodeError(err, listed)
	}
	if decoder.More() {
		return errors.New("the body must be one JSON object; remove what follows it")
	}
	return nil
}

// embedded is the name of an embedded struct in the path of a member. Names of members begin with a small letter.
var embedded = regexp.MustCompile(`\b[A-Z]\w*\.`)

// decodeError says what is wrong, and with which member.
func decodeError(err error, listed string) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if mistyped.Field == "" {
			return fmt.Errorf("the body must be a JSON object, not a JSON %s", mistyped.Value)
		}
		field := embedded.ReplaceAllString(mistyped.Field, "")
		return fmt.Errorf("%s: must be %s, not a JSON %s", field, kindName(mistyped.Type.Kind()), mistyped.Value)
	}
	// The decoder has no error type for an unknown member.
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("%s: unknown field; %s", strings.Trim(name, `"`), listed)
	}
	if _, malformed := errors.AsType[*json.SyntaxError](err); malformed || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the body must be a JSON object: %w", err)
	}
	return err // of a member that decodes itself
}

func kindName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "an integer"
	}
}
