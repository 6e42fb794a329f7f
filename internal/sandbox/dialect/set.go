package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// maxNumber limits the switches that are numbers, so that no duration overflows.
const maxNumber = 1_000_000

// Set changes one switch of d.
func (d *Dialect) Set(name, value string) error {
	var names []string
	for _, g := range groups {
		for _, s := range g.switches {
			if s.name == name {
				return s.set(d, value)
			}
			names = append(names, s.name)
		}
	}
	return fmt.Errorf("unknown dialect switch %q; the switches are %s", name, strings.Join(names, ", "))
}

// Parse changes the switch of d that assignment, written name=value, names.
func (d *Dialect) Parse(assignment string) error {
	name, value, found := strings.Cut(assignment, "=")
	if !found {
		return fmt.Errorf("dialect %q: write it as name=value", assignment)
	}
	return d.Set(name, value)
}

func (s definition) set(d *Dialect, value string) error {
	switch field := s.field(d).(type) {
	case *string:
		if !slices.Contains(s.values, value) {
			return fmt.Errorf("dialect switch %s cannot be %q; use one of %s", s.name, value, strings.Join(s.values, ", "))
		}
		*field = value
		if value == s.values[0] {
			*field = ""
		}
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > maxNumber {
			return fmt.Errorf("dialect switch %s cannot be %q; use a number from 0 to %d", s.name, value, maxNumber)
		}
		*field = n
	}
	return nil
}

func (s definition) value(d *Dialect) string {
	switch field := s.field(d).(type) {
	case *string:
		if *field != "" {
			return *field
		}
		return s.values[0]
	case *int:
		return strconv.Itoa(*field)
	}
	return ""
}

// UnmarshalJSON sets the switches that an object names. The others keep their value. A number can be a string too.
func (d *Dialect) UnmarshalJSON(object []byte) error {
	var values map[string]any
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return errors.New("dialect: must be an object of switches")
	}
	return d.SetAll(values)
}

// SetAll sets the switches that values name, which are text or numbers.
func (d *Dialect) SetAll(values map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := d.Set(name, fmt.Sprint(values[name])); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the switches that do not have their default.
func (d Dialect) MarshalJSON() ([]byte, error) {
	values, usual := map[string]string{}, Dialect{}.Switches()
	for i, s := range d.Switches() {
		if s.Value != usual[i].Value {
			values[s.Name] = s.Value
		}
	}
	return json.Marshal(values)
}

// statuses are values that are status codes.
func statuses(codes ...int) []string {
	values := make([]string, len(codes))
	for i, code := range codes {
		values[i] = strconv.Itoa(code)
	}
	return values
}

func (s definition) choices() []string {
	if s.values == nil {
		return []string{"0", "1", "2", "..."}
	}
	return slices.Clone(s.values)
}

// Current is the dialect in use. It can change while requests are served: a
// request keeps the dialect that it started with.
type Current struct{ value atomic.Pointer[Dialect] }

// NewCurrent returns a Current that is set to d.
func NewCurrent(d Dialect) *Current {
	current := &Current{}
	current.Set(d)
	return current
}

// Get returns the dialect.
func (c *Current) Get() Dialect { return *c.value.Load() }

// Set replaces the dialect.
func (c *Current) Set(d Dialect) { c.value.Store(&d) }

// Change changes some switches, and keeps concurrent changes of others. It may run
// edit more than once. If edit returns an error, nothing changes.
func (c *Current) Change(edit func(*Dialect) error) error {
	for {
		before := c.value.Load()
		after := *before
		if err := edit(&after); err != nil {
			return err
		}
		if c.value.CompareAndSwap(before, &after) {
			return nil
		}
	}
}
