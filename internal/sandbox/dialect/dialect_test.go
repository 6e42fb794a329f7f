package dialect

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFieldHasOneSwitch(t *testing.T) {
	var d Dialect
	fields := map[any]string{}
	value := reflect.ValueOf(&d).Elem()
	for i := range value.NumField() {
		fields[value.Field(i).Addr().Interface()] = value.Type().Field(i).Name
	}
	seen := map[string]bool{}
	for _, s := range switches {
		field := s.field(&d)
		if fields[field] == "" || seen[s.name] || s.meaning == "" {
			t.Errorf("%s: its field has a switch already, its name is taken, or it has no meaning", s.name)
		}
		seen[s.name] = true
		delete(fields, field)
	}
	if len(fields) > 0 {
		t.Errorf("fields without a switch: %v", fields)
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		assignment string
		want       Dialect
		err        string
	}{
		"another value": {"completeMethod=POST", Dialect{CompleteMethod: MethodPost}, ""},
		"the default is the zero value, so that code asks for the others only": {"completeMethod=PATCH", Dialect{}, ""},
		"a number":             {"readLag=3", Dialect{ReadLag: 3}, ""},
		"no value":             {"completeMethod", Dialect{}, `dialect "completeMethod": write it as name=value`},
		"a value that is none": {"wrap=twice", Dialect{}, `dialect switch wrap cannot be "twice"; it is one of none, data`},
		"no number":            {"readLag=x", Dialect{}, `dialect switch readLag cannot be "x"; it is a number of 0 or more`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got Dialect
			err := got.Parse(c.assignment)
			if message := text(err); message != c.err {
				t.Errorf("error %q, want %q", message, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
