package dialect

import (
	"maps"
	"reflect"
	"strings"
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
	for _, g := range groups {
		for _, s := range g.switches {
			field := s.field(&d)
			if fields[field] == "" || seen[s.name] || s.meaning == "" || g.name == "" {
				t.Errorf("%s: the field or name is not unique, or the meaning or group is missing", s.name)
			}
			seen[s.name] = true
			delete(fields, field)
		}
	}
	if len(fields) > 0 {
		t.Errorf("fields without a switch: %v", fields)
	}
}

// Each reading has a switch, or says why it needs none. Each switch belongs to a reading.
func TestEveryReadingHasASwitchOrAReason(t *testing.T) {
	unused := map[string]bool{}
	for _, s := range (Dialect{}).Switches() {
		unused[s.Name] = true
	}
	known := maps.Clone(unused)
	points := 0
	for _, topic := range topics {
		for _, p := range topic.points {
			points++
			if p.open == "" || p.switches == "" && p.remark == "" {
				t.Errorf("%q has neither a switch nor a reason", p.open)
			}
			for name := range strings.FieldsSeq(p.switches) {
				if !known[name] {
					t.Errorf("%q: there is no switch %s", p.open, name)
				}
				delete(unused, name)
			}
		}
	}
	if len(unused) > 0 || points < 60 {
		t.Errorf("switches without a reading: %v; %d readings", unused, points)
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
		"a value that is none": {"wrap=twice", Dialect{}, `dialect switch wrap cannot be "twice"; use one of none, data`},
		"too large a number": {"readLag=1000001", Dialect{},
			`dialect switch readLag cannot be "1000001"; use a number from 0 to 1000000`},
		"no number": {"readLag=x", Dialect{},
			`dialect switch readLag cannot be "x"; use a number from 0 to 1000000`},
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

// Concurrent changes of different switches are all kept.
func TestConcurrentChanges(t *testing.T) {
	current := NewCurrent(Dialect{})
	attempts := 0
	err := current.Change(func(d *Dialect) error {
		attempts++
		if attempts == 1 {
			if err := current.Change(func(other *Dialect) error { return other.Set("ids", "string") }); err != nil {
				t.Error(err)
			}
		}
		return d.Set("wrap", "data")
	})
	if got := current.Get(); err != nil || got.IDs != IDsString || got.Wrap != WrapData {
		t.Errorf("%v, ids %q, wrap %q", err, got.IDs, got.Wrap)
	}
	err = current.Change(func(d *Dialect) error {
		d.IDs = ""
		return d.Set("wrap", "paper")
	})
	if err == nil || current.Get().IDs != IDsString {
		t.Errorf("%v, ids %q after a change that failed", err, current.Get().IDs)
	}
}
