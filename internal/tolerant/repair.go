package tolerant

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Annotation names the fields of an object that were left out because Go cannot decode them, such as spec.createBefore.
// An object that has it must not be acted on. The API server never has it.
const Annotation = "idv.mandate.io/unreadable-fields"

// UnreadableFields of an object are those that were left out.
func UnreadableFields(object any) []string {
	if o, ok := object.(metav1.Object); ok && o.GetAnnotations()[Annotation] != "" {
		return strings.Split(o.GetAnnotations()[Annotation], ",")
	}
	return nil
}

// kind is one of those of the API.
type kind struct {
	name string
	typ  reflect.Type
}

// kinds are those of the API, by resource.
var kinds = func() map[string]kind {
	scheme, all := runtime.NewScheme(), map[string]kind{}
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	for name, typ := range scheme.KnownTypes(v1alpha1.SchemeGroupVersion) {
		all[strings.ToLower(name)+"s"] = kind{name, typ}
	}
	return all
}()

// decodes reports whether Go can decode an object, or a part of one.
func (k kind) decodes(data []byte) bool {
	return kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(k.typ).Interface()) == nil
}

// repair takes out of an object what cannot be decoded. It leaves what is no object of the kind, such as a Status.
func (k kind) repair(data []byte) []byte {
	if k.decodes(data) && !bytes.Contains(data, []byte(Annotation)) {
		return data
	}
	var sections map[string]json.RawMessage
	if json.Unmarshal(data, &sections) != nil || string(sections["kind"]) != `"`+k.name+`"` {
		return data
	}
	var unreadable []string
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		if k.decodes(encode(map[string]any{section: sections[section]})) {
			continue
		}
		readable, left := k.readableFields(section, sections[section])
		unreadable = append(unreadable, left...)
		if sections[section] = readable; readable == nil {
			delete(sections, section)
		}
	}
	sections["metadata"] = annotate(sections["metadata"], unreadable)
	return encode(sections)
}

// readableFields are those fields of a section that can be decoded, each by itself, and the names of the others.
func (k kind) readableFields(section string, data []byte) (readable []byte, unreadable []string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil, []string{section}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !k.decodes(encode(map[string]any{section: map[string]any{field: fields[field]}})) {
			delete(fields, field)
			unreadable = append(unreadable, section+"."+field)
		}
	}
	return encode(fields), unreadable
}

// annotate sets the annotation, or takes it off metadata that somebody has stored with it.
func annotate(data []byte, unreadable []string) []byte {
	var metadata map[string]json.RawMessage
	var annotations map[string]string
	_ = json.Unmarshal(data, &metadata) // what is no object was taken out
	_ = json.Unmarshal(metadata["annotations"], &annotations)
	metadata, annotations = orEmpty(metadata), orEmpty(annotations)
	delete(annotations, Annotation)
	if len(unreadable) > 0 {
		annotations[Annotation] = strings.Join(unreadable, ",")
	}
	metadata["annotations"] = encode(annotations)
	return encode(metadata)
}

func orEmpty[M ~map[string]V, V any](m M) M {
	if m == nil {
		return M{}
	}
	return m
}

// encode encodes what was decoded from JSON, which never fails.
func encode(value any) []byte {
	data, err := json.Marshal(value)
	utilruntime.Must(err)
	return data
}

// repairList repairs the items of a list.
func (k kind) repairList(data []byte) []byte {
	var list map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(data, &list) != nil || json.Unmarshal(list["items"], &items) != nil {
		return data
	}
	changed := false
	for i, item := range items {
		items[i] = k.repair(item)
		changed = changed || !bytes.Equal(items[i], item)
	}
	if !changed {
		return data
	}
	list["items"] = encode(items)
	return encode(list)
}

// repairEvent repairs the object of an event of a watch.
func (k kind) repairEvent(data []byte) []byte {
	var event struct {
		Type   watch.EventType `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if json.Unmarshal(data, &event) != nil || event.Type == watch.Error {
		return data
	}
	repaired := k.repair(event.Object)
	if bytes.Equal(repaired, event.Object) {
		return data
	}
	event.Object = repaired
	return encode(event)
}
