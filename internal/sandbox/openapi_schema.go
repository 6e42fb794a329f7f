package sandbox

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// schemas describes Go types as they are encoded in JSON, by the names of the types.
type schemas map[string]any

// of describes a type of responses. Members are required unless they are omitempty.
func (s schemas) of(value any) any { return s.describe(reflect.TypeOf(value), "") }

// input describes a type of requests. No member is required: what an operation needs depends on the dialect.
func (s schemas) input(value any) any { return s.describe(reflect.TypeOf(value), "Input") }

var scalarTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer",
}

func (s schemas) describe(t reflect.Type, suffix string) any {
	switch {
	case t == nil || t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return object{}
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case scalarTypes[t.Kind()] != "":
		return object{"type": scalarTypes[t.Kind()]}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{s.describe(t.Elem(), suffix), object{"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.describe(t.Elem(), suffix)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.describe(t.Elem(), suffix)}
	default:
		return s.reference(t, suffix)
	}
}

// reference describes a struct once, and refers to the description.
func (s schemas) reference(t reflect.Type, suffix string) any {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:] + suffix
	if s[name] == nil {
		s[name] = object{} // ends a recursion
		properties, required := object{}, []string{}
		for _, field := range reflect.VisibleFields(t) {
			tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Anonymous || !field.IsExported() || tag == "-" {
				continue
			}
			properties[tag] = s.describe(field.Type, suffix)
			if !strings.HasPrefix(options, "omit") && suffix == "" {
				required = append(required, tag)
			}
		}
		s[name] = object{"type": "object", "properties": properties, "required": required}
	}
	return object{"$ref": "#/components/schemas/" + name}
}
