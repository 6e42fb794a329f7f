package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	kjson "sigs.k8s.io/json"
)

// Decoded is the part of each kind that says how completely it was decoded. The API server may have objects that Go
// cannot decode: they were stored before the CRD had a rule, or past it. One of them would break every list and watch
// of its kind. So the kinds decode themselves, and leave out what they cannot.
type Decoded struct {
	// Unreadable names the fields that were left out, such as spec.createBefore. An object that has any must not be acted
	// on. Nor can it be encoded, because an update would delete them.
	Unreadable []string `json:"-"`
}

// UnreadableFields is Unreadable.
func (d *Decoded) UnreadableFields() []string { return d.Unreadable }

// decode decodes an object, or as many of its fields as it can. It returns the names of the others.
func decode[T any](data []byte, object *T) (unreadable []string, err error) {
	if kjson.UnmarshalCaseSensitivePreserveInts(data, object) == nil {
		return nil, nil
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(data, &sections); err != nil {
		return nil, fmt.Errorf("decoding %T: not an object", object) // without the cause, which quotes values
	}
	var whole T
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		var fields map[string]json.RawMessage
		if decodeAlone(&whole, map[string]any{section: sections[section]}) {
			continue
		}
		if json.Unmarshal(sections[section], &fields) != nil {
			unreadable = append(unreadable, section)
		}
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			alone := map[string]any{section: map[string]any{field: fields[field]}}
			if !decodeAlone(&whole, alone) {
				unreadable = append(unreadable, section+"."+field)
			}
		}
	}
	*object = whole
	return unreadable, nil
}

// decodeAlone adds a part of an object, unless it cannot be decoded.
func decodeAlone[T any](object *T, part map[string]any) bool {
	data, err := json.Marshal(part)
	if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(data, new(T)) != nil {
		return false
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, object) == nil
}

func encode(object any, unreadable []string) ([]byte, error) {
	if len(unreadable) > 0 {
		return nil, fmt.Errorf("the object has fields that were not decoded, and an update would delete them: %q", unreadable)
	}
	return json.Marshal(object)
}

// UnmarshalJSON decodes a Mandate. It does not fail for fields that cannot be decoded: see Decoded.
func (m *Mandate) UnmarshalJSON(data []byte) (err error) {
	type plain Mandate // has no UnmarshalJSON
	m.Unreadable, err = decode(data, (*plain)(m))
	return err
}

// MarshalJSON fails if a field was not decoded.
func (m *Mandate) MarshalJSON() ([]byte, error) {
	type plain Mandate
	return encode((*plain)(m), m.Unreadable)
}

// UnmarshalJSON decodes a MandateAction. It does not fail for fields that cannot be decoded: see Decoded.
func (a *MandateAction) UnmarshalJSON(data []byte) (err error) {
	type plain MandateAction // has no UnmarshalJSON
	a.Unreadable, err = decode(data, (*plain)(a))
	return err
}

// MarshalJSON fails if a field was not decoded.
func (a *MandateAction) MarshalJSON() ([]byte, error) {
	type plain MandateAction
	return encode((*plain)(a), a.Unreadable)
}

// UnmarshalJSON decodes an ApplicationRecord. It does not fail for fields that cannot be decoded: see Decoded.
func (r *ApplicationRecord) UnmarshalJSON(data []byte) (err error) {
	type plain ApplicationRecord // has no UnmarshalJSON
	r.Unreadable, err = decode(data, (*plain)(r))
	return err
}

// MarshalJSON fails if a field was not decoded.
func (r *ApplicationRecord) MarshalJSON() ([]byte, error) {
	type plain ApplicationRecord
	return encode((*plain)(r), r.Unreadable)
}

// UnmarshalJSON decodes an IdentityService. It does not fail for fields that cannot be decoded: see Decoded.
func (s *IdentityService) UnmarshalJSON(data []byte) (err error) {
	type plain IdentityService // has no UnmarshalJSON
	s.Unreadable, err = decode(data, (*plain)(s))
	return err
}

// MarshalJSON fails if a field was not decoded.
func (s *IdentityService) MarshalJSON() ([]byte, error) {
	type plain IdentityService
	return encode((*plain)(s), s.Unreadable)
}

// UnmarshalJSON decodes a ClusterIdentityService. It does not fail for fields that cannot be decoded: see Decoded.
func (s *ClusterIdentityService) UnmarshalJSON(data []byte) (err error) {
	type plain ClusterIdentityService // has no UnmarshalJSON
	s.Unreadable, err = decode(data, (*plain)(s))
	return err
}

// MarshalJSON fails if a field was not decoded.
func (s *ClusterIdentityService) MarshalJSON() ([]byte, error) {
	type plain ClusterIdentityService
	return encode((*plain)(s), s.Unreadable)
}
